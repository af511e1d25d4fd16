// Serves the built page as a static site under a subpath.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';

const built = fileURLToPath(new URL('../../../build/page/', import.meta.url));
/** The page must work under any path, so it is never served at the root. */
const base = '/some/where/';
/** Headers that `npm start` sends as well: they allow the page to use threads. */
export const isolation = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};
/** A content security policy without inline scripts and styles. */
export const strictPolicy = {
  'content-security-policy': [
    "default-src 'self'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "worker-src 'self'",
    "connect-src 'self' https://huggingface.co https://*.hf.co",
    "object-src 'none'",
    "base-uri 'none'",
  ].join('; '),
};
const contentTypes: Record<string, string> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
};

type Contents = Map<string, string | Buffer>;

async function answer(
  path: string,
  folder: string,
  replaced: Contents,
): Promise<{ status: number; type: string; body: Buffer | string }> {
  const missing = { status: 404, type: 'text/plain', body: 'not here' };
  if (!path.startsWith(base)) return missing;
  const name = normalize(path.slice(base.length) || 'index.html');
  if (name.startsWith('..')) return missing;
  try {
    const type = contentTypes[extname(name)] ?? 'application/octet-stream';
    return { status: 200, type, body: replaced.get(name) ?? (await readFile(join(folder, name))) };
  } catch {
    return missing;
  }
}

export interface PageServer {
  readonly url: string;
  /** Requested paths of the page. */
  readonly requests: string[];
  /** Replaced contents of the page's files, and additional files, by path. */
  readonly replaced: Contents;
  /** Bytes of response bodies, by path. */
  readonly sent: Map<string, number>;
  close(): void;
}

export interface PageServerOptions {
  /** The folder with the built page. */
  readonly folder?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bodies are compressed, as by a web host; fonts are already. */
  readonly encoding?: 'br' | undefined;
}

export async function servePage({
  folder = built,
  headers = isolation,
  encoding,
}: PageServerOptions = {}): Promise<PageServer> {
  const requests: string[] = [];
  const sent = new Map<string, number>();
  const replaced: Contents = new Map();
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://site').pathname;
    const { status, type, body } = await answer(path, folder, replaced);
    const name = path.slice(base.length);
    requests.push(name);
    const packed = encoding === 'br' && type !== 'font/woff2';
    const bytes = packed ? brotliCompressSync(body) : Buffer.from(body);
    sent.set(name, bytes.length);
    const coding = packed ? { 'content-encoding': encoding } : {};
    response.writeHead(status, { ...headers, 'content-type': type, ...coding }).end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}${base}`, requests, replaced, sent, close: () => void server.close() };
}
