// Starting the package's own scripts in workers, in browsers and in Node.

import { baseUrl, nodeModule } from '../support/platform.js';

/**
 * A browser's worker: as `start` does it, or, where the script at `url` is another host's, by way of a script of our own
 * that imports it, which the page may do.
 */
export function startBrowserWorker(start: () => Worker, url: () => string | URL): Worker {
  try {
    return start();
  } catch (cause) {
    if (!(cause instanceof DOMException && cause.name === 'SecurityError')) throw cause;
    const script = new Blob([`import ${JSON.stringify(new URL(url(), baseUrl()).href)};`], { type: 'text/javascript' });
    return new Worker(URL.createObjectURL(script), { type: 'module' });
  }
}

export type NodeWorker = import('node:worker_threads').Worker;

/** Node's worker. Flags of the process, such as --input-type, are not for it. */
export function startNodeWorker(url: string | URL): NodeWorker {
  const { Worker } = nodeModule('node:worker_threads');
  return new Worker(new URL(url), { execArgv: [] });
}
