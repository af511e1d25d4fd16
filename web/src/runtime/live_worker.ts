// A running worker, with the same interface in browsers (workers.ts) and Node (node_worker.ts).

import type { Sign } from './worker_protocol.js';

export interface LiveWorker {
  send(message: unknown, transfer: Transferable[]): void;
  /** Whether replies are awaited: only then must it keep Node's process alive, as it does initially. */
  busy(yes: boolean): void;
  /** Terminates it without notifying anyone. */
  end(): Promise<void>;
}

/** The events of a worker, before and after its script reports that it runs. */
export interface Events {
  heard(message: unknown): void;
  /** The script does not run, or threw an uncaught error. */
  failed(why: string, cause?: unknown): void;
  /** It has died. */
  ended(why: string): void;
}

export interface Begun extends LiveWorker {
  /** Watches for deaths without an event, once the script runs. */
  watch(sign: Sign): void;
}

/** Why a worker died that others have ended. */
export const terminated = 'the worker was ended by terminate()';
