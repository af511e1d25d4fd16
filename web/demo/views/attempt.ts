// Something a view asks of a model: one at a time, the last one counts; that it is under way, and what went wrong.

import { html, type LitElement, nothing, type ReactiveController, type TemplateResult } from 'lit';
import './error_note.js';

export class Attempt implements ReactiveController {
  busy = false;
  #error: unknown;
  #controller = new AbortController();

  /** `subject` is what is being done, for the note of what went wrong. */
  constructor(
    private readonly host: LitElement,
    private readonly subject: string,
  ) {
    host.addController(this);
  }

  hostDisconnected(): void {
    this.#controller.abort();
  }

  /** Ends an earlier run and begins this one. */
  async run(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#controller.abort();
    const controller = new AbortController();
    this.#controller = controller;
    this.#show(true, undefined);
    let error: unknown;
    await work(controller.signal).catch((thrown: unknown) => {
      error = thrown;
    });
    if (!controller.signal.aborted) this.#show(false, error);
  }

  /** Ends what is under way and forgets what went wrong. */
  reset(): void {
    this.#controller.abort();
    this.#show(false, undefined);
  }

  note(): TemplateResult | typeof nothing {
    if (this.#error === undefined) return nothing;
    return html`<error-note .error=${this.#error} .subject=${this.subject} @dismiss=${() => this.#show(this.busy, undefined)}></error-note>`;
  }

  #show(busy: boolean, error: unknown): void {
    this.busy = busy;
    this.#error = error;
    this.host.requestUpdate();
  }
}
