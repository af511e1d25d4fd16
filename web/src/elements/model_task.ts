// The work of an element with a model, while the element is in a page: loading and computing, with a status message.

import { html, nothing, type TemplateResult } from 'lit';
import type { ReactiveHost } from './base.js';
import { words } from './words.js';

type Running = typeof import('./running.js');
type State = 'idle' | 'loading' | 'computing' | 'failed';

interface Tools {
  readonly running: Running;
  readonly model: string;
  /** Called by the loader for every file. */
  readonly tell: (event: { readonly loaded: number; readonly total: number; readonly status: string }) => void;
  readonly signal: AbortSignal;
}

export interface Work<Result> {
  readonly run: (tools: Tools) => Promise<Result>;
  /** The host's properties that show the result. */
  readonly shown: (result: Result) => Readonly<Record<string, unknown>>;
  readonly failed: () => void;
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;

export class ModelTask {
  readonly #host: ReactiveHost & Record<string, unknown>;
  #key: string | undefined;
  #abort: AbortController | undefined;
  #state: State = 'idle';
  #said = '';
  #shown: Readonly<Record<string, unknown>> = {};

  constructor(host: ReactiveHost) {
    this.#host = host as ReactiveHost & Record<string, unknown>;
    host.addController(this);
  }

  /** Lit's: the host is in a page, possibly again. */
  hostConnected(): void {
    this.#host.requestUpdate();
  }

  /** Lit's: the host was removed. */
  hostDisconnected(): void {
    this.stop();
  }

  /**
   * Starts the work unless that of this key is running or done; the result of an older one is dropped. Without a model,
   * or outside of a page, there is none, and without a model nothing is left of its results.
   */
  start<Result>(key: readonly [model: string | undefined, ...inputs: unknown[]], work: Work<Result>): void {
    const [model] = key;
    const text = JSON.stringify(key);
    if (text === this.#key) return;
    this.stop();
    if (!model) this.#clear();
    if (!model || !this.#host.isConnected) return;
    this.#key = text;
    const abort = new AbortController();
    this.#abort = abort;
    void this.#run(model, work, abort.signal);
  }

  /** Drops the running work; the next start begins from scratch. */
  stop(): void {
    this.#abort?.abort();
    this.#abort = undefined;
    this.#key = undefined;
    this.#set('idle', '');
  }

  /** A status message while work is running; the bytes beside it are not announced with each change. */
  status(): TemplateResult | typeof nothing {
    if (this.#state === 'failed') return html`<p class="fault" role="alert">${this.#said}</p>`;
    if (this.#state === 'idle') return nothing;
    const { loading, computing } = words();
    const begun = this.#state === 'loading' ? loading : computing;
    return html`<p class="status"><span role="status">${begun} …</span>${this.#said}</p>`;
  }

  async #run<Result>(model: string, work: Work<Result>, signal: AbortSignal): Promise<void> {
    this.#set('loading', '');
    const tell: Tools['tell'] = ({ loaded, total, status }) => {
      if (signal.aborted) return;
      if (status === 'ready') this.#set('computing', '');
      else this.#set('loading', total > 0 ? ` (${megabytes(loaded)} / ${megabytes(total)})` : '');
    };
    try {
      const result = await work.run({ running: await import('./running.js'), model, tell, signal });
      if (signal.aborted) return;
      this.#set('idle', '');
      this.#shown = work.shown(result);
      Object.assign(this.#host, this.#shown);
    } catch (error) {
      if (signal.aborted) return;
      this.#abort?.abort(); // else a model that still loads would tell its progress in the error's place
      this.#set('failed', error instanceof Error ? error.message : String(error));
      work.failed();
    }
  }

  /** What the page has set meanwhile stays, and `source`, which may be that of the page's own numbers. */
  #clear(): void {
    for (const [name, value] of Object.entries(this.#shown)) {
      if (typeof value !== 'string' && this.#host[name] === value) this.#host[name] = undefined;
    }
    this.#shown = {};
  }

  #set(state: State, said: string): void {
    if (state === this.#state && said === this.#said) return;
    this.#state = state;
    this.#said = said;
    this.#host.requestUpdate();
  }
}
