// Which model the page runs, and the loading of another: the old one stays until the new one is there, so a
// failed load leaves the page as it was. Dispatches 'change'.
import { measureSpeed } from './speed.js';
import { LoadedModel, type LoadOptions, type Source } from './text-model.js';

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

export type Loader = (source: Source, label: string, options: LoadOptions) => Promise<LoadedModel>;

export class ModelHost extends EventTarget {
  current: LoadedModel | undefined;
  /** What is being loaded. */
  pending: string | undefined;
  progress: Progress | undefined;
  failure: Failure | undefined;
  /** Time the current model took to load. */
  milliseconds = 0;
  /** Tokens a second it writes without a pace. */
  speed: number | undefined;
  private readonly loader: Loader;
  private controller: AbortController | undefined;

  constructor(loader: Loader = LoadedModel.load) {
    super();
    this.loader = loader;
  }

  /** Loads a model and makes it the current one; false when it failed or was cancelled. */
  async load(source: Source, label: string): Promise<boolean> {
    this.controller?.abort();
    const controller = new AbortController();
    this.controller = controller;
    this.pending = label;
    this.progress = undefined;
    this.failure = undefined;
    this.changed();
    try {
      await this.replace(source, label, controller.signal);
      return true;
    } catch (error) {
      if (!controller.signal.aborted) this.failure = { label, error };
      return false;
    } finally {
      if (this.controller === controller) {
        this.pending = undefined;
        this.changed();
      }
    }
  }

  private async replace(source: Source, label: string, signal: AbortSignal): Promise<void> {
    const begun = performance.now();
    const loaded = await this.loader(source, label, this.options(signal));
    try {
      const milliseconds = performance.now() - begun;
      const speed = await measureSpeed(loaded.model, loaded.encode('a')[0] ?? 0, signal);
      signal.throwIfAborted();
      void this.current?.dispose();
      Object.assign(this, { current: loaded, milliseconds, speed });
    } catch (error) {
      void loaded.dispose();
      throw error;
    }
  }

  cancel(): void {
    this.controller?.abort();
    this.pending = undefined;
    this.changed();
  }

  dismiss(): void {
    this.failure = undefined;
    this.changed();
  }

  private options(signal: AbortSignal): LoadOptions {
    return {
      signal,
      progress_callback: (event) => {
        if (signal.aborted) return;
        const { file = '', loaded, total } = event as { file?: string; loaded?: number; total?: number };
        if (loaded === undefined) return;
        this.progress = { file, loaded, total: total ?? 0 };
        this.changed();
      },
    };
  }

  private changed(): void {
    this.dispatchEvent(new Event('change'));
  }
}
