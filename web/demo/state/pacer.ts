// Spaces the steps of a story out in time, holds them while paused, and lets single ones through.

export class Pacer {
  /** Steps a second; 0: no waiting. */
  pace: number;
  #held = false;
  #allowed = 0;
  #last = Number.NEGATIVE_INFINITY;
  #wake: (() => void) | undefined;

  constructor(pace = 0) {
    this.pace = pace;
  }

  hold(): void {
    this.#held = true;
    this.#allowed = 0;
  }

  holdAfterOne(): void {
    this.#held = true;
    this.#allowed = 1;
  }

  release(): void {
    this.#held = false;
    this.#wake?.();
  }

  releaseOne(): void {
    this.#allowed++;
    this.#wake?.();
  }

  /** Resolves when the next step may begin, or at once when aborted; to the milliseconds it was held by a pause. */
  async wait(signal: AbortSignal): Promise<number> {
    if (this.pace > 0 && !this.#held) await this.#sleep(this.#last + 1000 / this.pace - performance.now(), signal);
    const begun = performance.now();
    while (this.#held && this.#allowed === 0 && !signal.aborted) await this.#woken(signal);
    if (this.#held && this.#allowed > 0) this.#allowed--;
    this.#last = performance.now();
    return this.#last - begun;
  }

  async #sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (!(milliseconds > 0)) return;
    const timer = setTimeout(() => this.#wake?.(), milliseconds);
    await this.#woken(signal);
    clearTimeout(timer);
  }

  #woken(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        this.#wake = undefined;
        resolve();
      };
      this.#wake = done;
      signal.addEventListener('abort', done);
    });
  }
}
