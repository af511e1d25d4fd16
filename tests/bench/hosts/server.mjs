// Serves the project's files under /files/ to a page that is cross-origin isolated, so that threads work in it.
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

import { inProject } from '../../../scripts/build/fresh.mjs';

const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};
const HEADERS = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
};

function answer(request, response) {
  const name = normalize(new URL(request.url, 'http://server').pathname);
  const file = name.startsWith('/files/') ? inProject(name.slice('/files/'.length)) : undefined;
  const size = file && statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) return response.writeHead(404, HEADERS).end();
  const type = TYPES[extname(file)] ?? 'application/octet-stream';
  response.writeHead(200, { ...HEADERS, 'content-type': type, 'content-length': size });
  if (request.method === 'HEAD') return response.end();
  return createReadStream(file).pipe(response);
}

/** Resolves to { url, close }. */
export async function serveFiles() {
  const server = createServer(answer);
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}

export const pagePath = join('/files', 'tests/bench/hosts/page.html');
