// Workers of Node. Loaded when one is started there.

import { messageOf } from '../support/error.js';
import { nodeModule } from '../support/platform.js';
import { type Begun, type Events, terminated } from './live_worker.js';

/** The process's flags, such as --input-type, do not apply to it. */
export function beginInNode(script: URL, { heard, failed, ended }: Events): Begun {
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
