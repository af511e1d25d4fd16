// Shared by the two programs: the queue's name, and the address of Redis.

import { createConnection } from 'node:net';

export const name = 'embed';

export function connectionOf(url) {
  const { hostname, port, password } = new URL(url);
  return { host: hostname, port: Number(port || 6379), ...(password && { password }), maxRetriesPerRequest: null };
}

/** Resolves when the port accepts connections. */
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
