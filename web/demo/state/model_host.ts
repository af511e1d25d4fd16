// Which model a chapter runs, and the loading of another: the old one stays until the new one is there, so a
// failed load leaves the chapter as it was. Dispatches 'change'.

import type { LoadOptions as AllLoadOptions, PreTrainedModel, ProgressInfo, Source } from 'clearformer';

export type { Source };
export type LoadOptions = Pick<AllLoadOptions, 'signal' | 'progress_callback'>;

/** A model with whatever a chapter needs around it. */
export interface Loaded {
  readonly label: string;
  /** Its shape and what it runs on. */
  readonly model: Pick<PreTrainedModel, 'cfg' | 'info' | 'unexpected_tensors'>;
  /** Tokens a second it writes when nothing holds it up. */
  readonly speed?: number | undefined;
  dispose(): Promise<void>;
}

export interface Progress {
  /** File on its way, as far as known. */
  file: string;
  loaded: number;
  /** 0 while the total is unknown. */
  total: number;
}

export interface Failure {
  /** What was to be loaded. */
  label: string;
  error: unknown;
}

export type Loader<L extends Loaded> = (source: Source, label: string, options: LoadOptions) => Promise<L>;

export class ModelHost<L extends Loaded = Loaded> extends EventTarget {
  current: L | undefined;
  /** What is being loaded. */
  pending: string | undefined;
  progress: Progress | undefined;
  failure: Failure | undefined;
  /** Time the current model took to load. */
  milliseconds = 0;
  readonly #loader: Loader<L>;
  #controller: AbortController | undefined;

  constructor(loader: Loader<L>) {
    super();
    this.#loader = loader;
  }

  /** Loads a model and makes it the current one; false when it failed or was cancelled. */
  async load(source: Source, label: string): Promise<boolean> {
    this.#controller?.abort();
    const controller = new AbortController();
    this.#controller = controller;
    this.pending = label;
    this.progress = undefined;
    this.failure = undefined;
    this.#changed();
    try {
      await this.#replace(source, label, controller.signal);
      return true;
    } catch (error) {
      if (!controller.signal.aborted) this.failure = { label, error };
      return false;
    } finally {
      if (this.#controller === controller) {
        this.pending = undefined;
        this.#changed();
      }
    }
  }

  async #replace(source: Source, label: string, signal: AbortSignal): Promise<void> {
    const begun = performance.now();
    const loaded = await this.#loader(source, label, {
      signal,
      progress_callback: (event) => signal.aborted || this.#onProgress(event),
    });
    if (signal.aborted) {
      void loaded.dispose();
      throw signal.reason;
    }
    void this.current?.dispose();
    this.current = loaded;
    this.milliseconds = performance.now() - begun;
  }

  cancel(): void {
    this.#controller?.abort();
    this.pending = undefined;
    this.#changed();
  }

  dismiss(): void {
    this.failure = undefined;
    this.#changed();
  }

  #onProgress({ file = '', loaded, total }: ProgressInfo): void {
    this.progress = { file, loaded, total };
    this.#changed();
  }

  #changed(): void {
    this.dispatchEvent(new Event('change'));
  }
}
