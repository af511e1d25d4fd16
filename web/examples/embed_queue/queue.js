// What the two programs agree on: the queue's name, and where Redis is.

import { createConnection } from 'node:net';

export const name = 'embed';

export function connectionOf(url) {
  const { hostname, port, password } = new URL(url);
  return { host: hostname, port: Number(port || 6379), ...(password && { password }), maxRetriesPerRequest: null };
}

/** Resolves when something listens there. */
export async function listening({ host, port }) {
  for (let tries = 0; tries < 100; ++tries) {
    const is = await new Promise((resolve) => {
      const socket = createConnection({ host, port });
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('close', () => resolve(false));
      setTimeout(() => socket.destroy(), 100);
    });
    if (is) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`nothing listens at ${host}:${port}`);
}
