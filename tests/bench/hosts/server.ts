// Serves the project's files under /files/ to a cross-origin isolated page, so that threads work in it.

import { createReadStream, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';

import { inProject } from '../../../scripts/build/fresh.js';

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};
const headers = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
};

function answer(request: IncomingMessage, response: ServerResponse): unknown {
  const name = normalize(new URL(request.url ?? '/', 'http://server').pathname);
  const file = name.startsWith('/files/') ? inProject(name.slice('/files/'.length)) : undefined;
  const size = file && statSync(file, { throwIfNoEntry: false })?.size;
  if (file === undefined || size === undefined) return response.writeHead(404, headers).end();
  const type = contentTypes[extname(file)] ?? 'application/octet-stream';
  response.writeHead(200, { ...headers, 'content-type': type, 'content-length': size });
  if (request.method === 'HEAD') return response.end();
  return createReadStream(file).pipe(response);
}

export interface FileServer {
  url: string;
  close(): void;
}

export async function serveFiles(): Promise<FileServer> {
  const server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close };
}

export const pagePath = join('/files', 'tests/bench/hosts/page.html');
