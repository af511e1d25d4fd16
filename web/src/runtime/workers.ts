// Workers with the package's script, in browsers and Node, monitored from the start: every death is reported.

import { configuration } from '../support/config.js';
import { ClearformerError, messageOf } from '../support/error.js';
import { isNode, urlOf } from '../support/platform.js';
import { assets } from './assets.js';
import { type Begun, type Events, type LiveWorker, terminated } from './live_worker.js';
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
  const begins = isNode() ? (await import('./node_worker.js')).beginInNode : beginInBrowser;
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
      if (sign === true) navigator.locks?.request(name, { signal }, gone).catch(() => {});
      else if (sign) void import('./blob_watch.js').then(({ watchBlob }) => watchBlob(sign, signal, gone));
    },
  };
}
