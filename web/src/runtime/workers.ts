// Workers with the package's script, in browsers and Node, monitored from the start: every death is reported.

import { configuration } from '../support/config.js';
import { ClearformerError, messageOf } from '../support/error.js';
import { isNode, nodeModule, urlOf } from '../support/platform.js';
import { assets } from './assets.js';
import { withRemedy } from './remedy.js';
import type { Sign } from './worker_protocol.js';

interface TypesPolicy {
  createScriptURL(url: string): string;
}
interface TypesPolicies {
  createPolicy(name: string, rules: TypesPolicy): TypesPolicy;
}

let policy: TypesPolicy | undefined;

/** For pages that require Trusted Types with named policies. The policy is not accessible from outside. */
function trusted(script: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TypesPolicies };
  try {
    policy ??= trustedTypes?.createPolicy('clearformer', { createScriptURL: (url) => url });
  } catch {} // the page does not allow this policy, and may not require Trusted Types
  return policy?.createScriptURL(script) ?? script;
}

/**
 * A browser's worker. A script of another host is imported by a script of our own, which pages may start. Where the
 * origin is opaque (sandboxed frames, file: pages) that is no module, since Chromium refuses those there.
 */
function startBrowserWorker(url: string | URL, name = ''): Worker {
  const script = String(url);
  const options: WorkerOptions = { type: origin === 'null' ? 'classic' : 'module', name };
  try {
    // WebKit reports another origin only later, as a script that cannot be loaded.
    if (new URL(script).origin === origin) return new Worker(trusted(script), options);
  } catch (cause) {
    if ((cause as Error).name !== 'SecurityError') throw cause;
  }
  const own = new Blob([`import(${JSON.stringify(script)}).catch(reportError)`], { type: 'text/javascript' });
  return new Worker(trusted(URL.createObjectURL(own)), options);
}

/** A worker, with the same interface in browsers and Node. */
export interface LiveWorker {
  send(message: unknown, transfer: Transferable[]): void;
  /** Whether replies are awaited: only then must it keep Node's process alive, as it does initially. */
  busy(yes: boolean): void;
  /** Terminates it without notifying anyone. */
  end(): Promise<void>;
}

/** The events of a worker, before and after its script reports that it runs. */
interface Events {
  heard(message: unknown): void;
  /** The script does not run, or threw an uncaught error. */
  failed(why: string, cause?: unknown): void;
  /** It has died. */
  ended(why: string): void;
}

interface Begun extends LiveWorker {
  /** Watches for deaths without an event, once the script runs. */
  watch(sign: Sign): void;
}

/**
 * Browsers do not report that a worker was terminated before its script ran: then others are started, after these
 * delays.
 */
const again = [700, 1700]; // milliseconds; usually a tenth suffices, and a caller is waiting

/** Receives a worker's messages and the reason of its death, of which the first counts. */
export interface WorkerListener {
  heard(message: unknown): void;
  died(why: string): void;
}

/**
 * Starts a worker. Rejects with `worker_failed`, and leaves none behind, if it dies or fails before its script runs,
 * and if it sends nothing within the timeout (`configure({ timeout })`; at least three seconds).
 */
export async function startWorker(listener: WorkerListener): Promise<LiveWorker> {
  // A script bundled for old browsers has no URL relative to which files could be found.
  const own = async () => assets.workerUrl();
  const script = urlOf('workerUrl', configuration.workerUrl ?? (await own().catch(() => './worker.js')));
  const begun: Begun[] = [];
  const timers: ReturnType<typeof setTimeout>[] = [];
  let chosen: Begun | undefined;
  try {
    return await new Promise<LiveWorker>((resolve, reject) => {
      const refuse = (why: string, cause?: unknown) => reject(new ClearformerError('worker_failed', why, {}, cause));
      let failing = false; // Node's workers fail and then exit: the first reason gets a remedy, which takes a moment to find
      const end = (why: string) => (chosen ? listener.died(why) : failing || refuse(why));
      const ways = { inOneFile: assets.inOneFile, start: isNode() ? undefined : startBrowserWorker };
      const fail = async (why: string, cause?: unknown) => {
        failing = true;
        if (chosen) listener.died(why);
        else refuse(await withRemedy(why, ({ workerCure }) => workerCure(why, script, ways)), cause);
      };
      const begin = () => {
        const heard = (message: unknown) => {
          if (worker === chosen) return listener.heard(message);
          if (chosen) return;
          chosen = worker;
          worker.watch(message as Sign);
          resolve(worker);
        };
        const begins = isNode() ? beginInNode : beginInBrowser;
        let worker: Begun;
        try {
          worker = begins(script, { heard, failed: fail, ended: end });
          begun.push(worker);
        } catch (cause) {
          void fail(`the worker could not be started (${messageOf(cause)})`, cause);
        }
      };
      const silence = Math.max(configuration.timeout ?? 30_000, 3000);
      timers.push(setTimeout(() => void fail(`the worker's script said nothing for ${silence} ms`), silence));
      if (!isNode()) timers.push(...again.map((delay) => setTimeout(begin, delay)));
      begin();
    });
  } finally {
    timers.forEach(clearTimeout);
    for (const worker of begun) if (worker !== chosen) void worker.end();
  }
}

const terminated = 'the worker was ended by terminate()';
const silent = 'the worker ended without a word (most often: out of memory)';

function beginInBrowser(script: URL, { heard, failed, ended }: Events): Begun {
  const name = `clearformer-${Date.now()}-${Math.random()}`;
  const over = new AbortController();
  const { signal } = over;
  const worker = startBrowserWorker(script, name);
  worker.onmessage = (event) => heard(event.data);
  worker.onmessageerror = () => failed('the worker sent what cannot be read');
  worker.onerror = (event) => {
    event.preventDefault?.();
    failed(`the worker failed (${event.message || 'its script could not be loaded'})`);
  };
  const { terminate } = worker;
  const end = async () => {
    over.abort();
    worker.onmessage = worker.onmessageerror = worker.onerror = null;
    terminate.call(worker);
  };
  // Terminations by others are not reported before the script runs, and late while it computes.
  worker.terminate = () => {
    if (signal.aborted) return;
    void end();
    ended(terminated);
  };
  const gone = () => signal.aborted || ended(silent);
  return {
    send: (message, transfer) => worker.postMessage(message, transfer),
    busy: () => {},
    end,
    watch: (sign) => {
      if (sign === true) navigator.locks.request(name, { signal }, gone).catch(() => {});
      else if (sign) void import('./blob_watch.js').then(({ watchBlob }) => watchBlob(sign, signal, gone));
    },
  };
}

/** The process's flags, such as --input-type, do not apply to it. */
function beginInNode(script: URL, { heard, failed, ended }: Events): Begun {
  const { Worker } = nodeModule('node:worker_threads');
  const worker = new Worker(script, { execArgv: [] });
  worker.on('message', heard);
  worker.on('messageerror', (cause) => failed('the worker sent what cannot be read', cause));
  worker.on('error', (cause) => failed(`the worker failed (${messageOf(cause)})`, cause));
  const exited = (code: number) => ended(`the worker ended with code ${code}`);
  worker.on('exit', exited);
  const { terminate } = worker;
  const end = async () => {
    for (const event of ['message', 'messageerror', 'error']) worker.removeAllListeners(event);
    worker.off('exit', exited).on('error', () => {}); // others may wait for its exit
    await terminate.call(worker);
  };
  worker.terminate = () => {
    ended(terminated);
    return terminate.call(worker);
  };
  return {
    send: (message, transfer) => worker.postMessage(message, transfer as import('node:worker_threads').Transferable[]),
    busy: (yes) => (yes ? worker.ref() : worker.unref()),
    end,
    watch: () => {},
  };
}
