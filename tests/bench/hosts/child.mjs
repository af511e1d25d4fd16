// A process that holds a contender and does what the runner asks.
import { close, open, sample, time } from '../contenders/contender.mjs';

const methods = { open, sample, time, close };

process.on('message', async ({ call, method, args }) => {
  try {
    process.send({ call, value: (await methods[method](...args)) ?? null });
  } catch (error) {
    process.send({ call, error: String(error?.message ?? error) });
  }
});
process.on('disconnect', () => process.exit());
