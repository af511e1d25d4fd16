// Serves the folders of built projects.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

export interface Served {
  url: string;
  /** Requested paths. */
  requests: string[];
  stop(): void;
}

/** Serves several folders; the first one with the file is used. */
export async function serveFolders(
  roots: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): Promise<Served> {
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    requests.push(pathname);
    const name = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
    for (const root of roots) {
      const body = await readFile(join(root, name)).catch(() => undefined);
      if (body === undefined) continue;
      response.writeHead(200, {
        ...headers,
        'content-type': types[extname(name)] ?? 'application/octet-stream',
        'content-length': body.byteLength,
      });
      return void response.end(request.method === 'HEAD' ? undefined : body);
    }
    response.writeHead(404, headers).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, requests, stop: () => void server.close() };
}
