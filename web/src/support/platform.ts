// Detects the platform. Nothing else is evaluated when modules load, so that importing is safe everywhere.

import { ClearformerError, messageOf, unreadable } from './error.js';

interface NodeProcess {
  env?: Readonly<Record<string, string | undefined>>;
  versions?: { node?: string };
  getBuiltinModule?(name: string): unknown;
}

/** The modules of Node that are used in Node. */
interface NodeModules {
  'node:crypto': typeof import('node:crypto');
  'node:fs': typeof import('node:fs');
  'node:fs/promises': typeof import('node:fs/promises');
  'node:module': typeof import('node:module');
  'node:os': typeof import('node:os');
  'node:path': typeof import('node:path');
  'node:process': typeof import('node:process');
  'node:url': typeof import('node:url');
  'node:worker_threads': typeof import('node:worker_threads');
}

function nodeProcess(): NodeProcess | undefined {
  const { process } = globalThis as { process?: NodeProcess };
  return process?.versions?.node === undefined ? undefined : process;
}

/** Whether Node's modules are available (Node, Bun, Deno). */
export function isNode(): boolean {
  return nodeProcess() !== undefined;
}

/** What is asked of the system. Throws `unsupported` if it is refused, as by Deno's permissions. */
export function allowed<T>(what: string, ask: () => T): T {
  try {
    return ask();
  } catch (cause) {
    throw unreadable(what, {}, cause, 'unsupported');
  }
}

/** An environment variable of Node that is set and not empty. */
export function environment(name: string): string | undefined {
  return allowed(name, () => nodeProcess()?.env?.[name] || undefined);
}

/** Whether an environment variable's value is yes, by the rules of Python's huggingface_hub. */
export function isOn(value: string | undefined): boolean {
  return /^(1|on|yes|true)$/i.test(value ?? '');
}

/** Whether there is a page, so that long work belongs in a worker. */
export function isPage(): boolean {
  return typeof document !== 'undefined' && typeof Worker === 'function' && !isNode();
}

/** The base where the working directory was deleted, or there is none: relative URLs are none, absolute ones need no base. */
const nowhere = 'data:,';

/** The base of relative URLs: the page, the worker's script (of a blob URL its origin), or Node's working directory. */
export function baseUrl(): string {
  if (typeof document !== 'undefined') return document.baseURI;
  // Isolates of servers (Cloudflare Workers) have no location.
  if (!isNode()) return globalThis.location?.href.replace(/^blob:(?!null)/, '') ?? nowhere;
  try {
    return nodeModule('node:url').pathToFileURL('./').href;
  } catch {
    return nowhere;
  }
}

/** An absolute URL. Throws `invalid_argument` for what is none; a data URL, as of a worker, is no base of others. */
export function urlOf(what: string, url: string | URL): URL {
  const base = baseUrl();
  try {
    return new URL(url, base);
  } catch (cause) {
    const gone = base === nowhere && isNode() ? ': the working directory does not exist any more' : '';
    throw new ClearformerError('invalid_argument', `${what}: '${url}' is no URL${gone}`, {}, cause);
  }
}

/** A module of Node. No import statement names it, so that bundlers for browsers have nothing to resolve. */
export function nodeModule<N extends keyof NodeModules>(name: N): NodeModules[N] {
  const load = nodeProcess()?.getBuiltinModule;
  if (load === undefined) {
    throw new ClearformerError(
      'unsupported',
      `${name} is not here: outside browsers Node 20.16, 22.3 or newer is needed`,
    );
  }
  return load(name) as NodeModules[N];
}

/** Converts a file: URL to a path (Node). Throws `invalid_argument` for one that is no path on this system. */
export function pathOf(url: URL): string {
  if (!isNode())
    throw new ClearformerError('unsupported', `${url.href}: pages cannot read files by address: pass them`);
  try {
    return nodeModule('node:url').fileURLToPath(url);
  } catch (cause) {
    throw new ClearformerError('invalid_argument', `${url.href}: ${messageOf(cause)}`, {}, cause);
  }
}

/** Loads a separate module. Service workers may not do that. */
export function loadPart<T>(load: () => Promise<T>): Promise<T> {
  return load().catch((cause: unknown) => {
    if (!('ServiceWorkerGlobalScope' in globalThis)) throw cause;
    const why = 'service workers load no scripts later: import from clearformer/inline, or bundle them into one file';
    throw new ClearformerError('unsupported', why, {}, cause);
  });
}

/** That of the start: tests replace it by one that waits for them. */
const { setImmediate } = globalThis as { setImmediate?: (done: () => void) => void };

/** Resolves in a later task of the event loop: timers, messages and aborts run first. */
export function nextTurn(): Promise<void> {
  if (setImmediate !== undefined) return new Promise(setImmediate);
  return new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      done();
    };
    port2.postMessage(null);
  });
}
