// A process that runs a contender on the runner's requests.

import { messageOf } from '../../../scripts/message_of.js';
import { close, open, sample, time } from '../contenders/contender.js';

const methods = { open, sample, time, close };

/** A request from a host. */
export interface Call {
  call: number;
  method: keyof typeof methods;
  args: readonly unknown[];
}

process.on('message', async ({ call, method, args }: Call) => {
  try {
    const value = await (methods[method] as (...given: unknown[]) => unknown)(...args);
    process.send?.({ call, value: value ?? null });
  } catch (error) {
    process.send?.({ call, error: messageOf(error) });
  }
});
process.on('disconnect', () => process.exit());
