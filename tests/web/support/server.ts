// A small file server, with misbehaviour on request.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

export interface ServerOptions {
  /** Respond to missing files with this page and status 200. */
  page?: string;
  /** Respond with 405 to HEAD. */
  noHead?: boolean;
  /** Omit content-length. */
  noLength?: boolean;
  /** Compress everything; or texts only, and hide it from pages of other origins, as hosts of static files do. */
  gzip?: boolean | 'texts';
  /** Support range requests. */
  ranges?: boolean;
  /** Send etags made from the contents. */
  etag?: boolean;
  /** Break the connection after that many bytes of a weights file. */
  breakAfter?: number;
  /** Send one chunk of weights, then nothing until this resolves. */
  stall?: Promise<void>;
  /** Statuses by file name. */
  status?: Record<string, number>;
}

/** A promise and its resolver. */
export function gate(): { passed: Promise<void>; open(): void } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}

/** The requested range, with its headers; all bytes if there is none, or if-range names another version. */
export function partOf(bytes: Uint8Array, { headers }: IncomingMessage, response: ServerResponse): Uint8Array {
  const [range, from = '', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? [];
  const condition = headers['if-range'];
  if (range === undefined || (condition !== undefined && condition !== response.getHeader('etag'))) return bytes;
  const part = bytes.subarray(Number(from), to === '' ? bytes.byteLength : Number(to) + 1);
  response.statusCode = 206;
  response.setHeader('content-range', `bytes ${from}-${Number(from) + part.byteLength - 1}/${bytes.byteLength}`);
  return part;
}

export class FileServer {
  readonly requests: string[] = [];
  /** Bytes of response bodies. */
  sent = 0;
  url = '';
  options: ServerOptions = {};
  files: Record<string, Uint8Array>;
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  private constructor(files: Record<string, Uint8Array>) {
    this.files = files;
  }

  static async start(files: Record<string, Uint8Array>, options: ServerOptions = {}): Promise<FileServer> {
    const server = new FileServer(files);
    server.options = options;
    await new Promise<void>((done) => server.#server.listen(0, '127.0.0.1', done));
    server.url = `http://127.0.0.1:${(server.#server.address() as AddressInfo).port}`;
    return server;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', this.url).pathname;
    const name = path.slice(path.lastIndexOf('/') + 1);
    const { page, noHead, status } = this.options;
    this.requests.push(`${request.method} ${request.url}`);
    if (noHead && request.method === 'HEAD') return void response.writeHead(405).end();
    if (status?.[name] !== undefined) return void response.writeHead(status[name]).end();
    const file = this.files[name];
    if (file !== undefined) return this.#send(request, response, name, file);
    if (page === undefined) return void response.writeHead(404).end('no such file');
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
  }

  async #send(request: IncomingMessage, response: ServerResponse, name: string, file: Uint8Array): Promise<void> {
    const { gzip, noLength, etag, breakAfter, stall } = this.options;
    const compresses = gzip === 'texts' ? !name.endsWith('.safetensors') : gzip === true;
    const body = compresses ? gzipSync(file) : file;
    if (compresses) response.setHeader('content-encoding', 'gzip');
    response.setHeader('access-control-allow-origin', '*');
    if (gzip !== 'texts') response.setHeader('access-control-expose-headers', '*');
    if (etag)
      response.setHeader('etag', `"${file.byteLength}-${file.reduce((sum, byte) => (sum * 31 + byte) | 0, 7)}"`);
    if (!noLength) response.setHeader('content-length', body.byteLength);
    if (request.method === 'HEAD') return void response.end();
    const part = this.options.ranges ? partOf(body, request, response) : body;
    this.sent += part.byteLength;
    if (response.statusCode === 206)
      return void response.writeHead(206, { 'content-length': part.byteLength }).end(part);
    const weights = name.endsWith('.safetensors');
    if (weights && breakAfter !== undefined) {
      response.write(body.subarray(0, breakAfter), () => setTimeout(() => response.destroy(), 20));
      return;
    }
    if (weights && stall !== undefined) {
      response.write(body.subarray(0, 65536));
      await stall;
      return void response.destroy();
    }
    if (noLength) {
      // Writing in two parts keeps Node from adding content-length.
      response.write(body.subarray(0, 10));
      return void response.end(body.subarray(10));
    }
    response.end(body);
  }
}
