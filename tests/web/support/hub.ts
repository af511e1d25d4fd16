// A stand-in for the Hub: repositories with commits, checksums as etags, large files on another host, and faults on
// request.

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { partOf } from './server.js';

/** A fault of one request. */
export interface Fault {
  /** Only requests of this method; GET by default. */
  method?: 'HEAD' | 'GET';
  /** Respond with this status, and with these headers. */
  status?: number;
  headers?: Record<string, string>;
  /** Break the connection before the response. */
  reset?: true;
  /** Do not respond at all. */
  silent?: true;
  /** Break the connection after that many bytes of the body. */
  cutAfter?: number;
  /** Stop sending after that many bytes of the body. */
  stallAfter?: number;
  /** Send that many bytes fewer than the header says (negative: more), and end normally. */
  missing?: number;
  /** Flip a byte at this offset. */
  flipAt?: number;
  /** Respond to a range request with the whole file. */
  noRanges?: true;
  /** Send spaces for ever, without a length. */
  endless?: true;
}

/** A received request. */
export interface Seen {
  host: 'hub' | 'cdn';
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
}

interface Hosted {
  server: Server;
  url: string;
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const gitSha1 = (bytes: Uint8Array) =>
  createHash('sha1').update(`blob ${bytes.byteLength}\0`).update(bytes).digest('hex');

/** The etag of a file on the Hub: SHA-256 for LFS files, git's SHA-1 for others. */
export const etagOf = (name: string, bytes: Uint8Array): string => (isLarge(name) ? sha256(bytes) : gitSha1(bytes));
const isLarge = (name: string) => /\.(safetensors|bin)$/.test(name);

/**
 * A repository at `/org/name/resolve/<main or the commit>/<file>`. As on the Hub, small files are redirected to another
 * path of the same host, and large ones to another host.
 */
export class Hub {
  readonly id: string;
  commit = '0123456789abcdef0123456789abcdef01234567';
  readonly seen: Seen[] = [];
  /** Faults by file: each is used up by one request, except the last if it is `'always'`. */
  readonly faults = new Map<string, (Fault | 'always')[]>();
  /** The required token; undefined for a public repository. */
  token: string | undefined;
  files: Record<string, Uint8Array>;
  /** Bytes of response bodies. */
  sent = 0;
  url = '';
  cdn = '';
  readonly #hosts: Hosted[] = [];

  private constructor(files: Record<string, Uint8Array>, id: string) {
    this.files = files;
    this.id = id;
  }

  static async start(files: Record<string, Uint8Array>, id = 'someone/model'): Promise<Hub> {
    const hub = new Hub(files, id);
    hub.url = await hub.#listen('hub');
    hub.cdn = await hub.#listen('cdn');
    return hub;
  }

  async #listen(host: Seen['host']): Promise<string> {
    const server = createServer((request, response) => this.#answer(host, request, response));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.#hosts.push({ server, url });
    return url;
  }

  async stop(): Promise<void> {
    for (const { server } of this.#hosts) {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    }
  }

  /** Requests for bodies, as `name range`, without redirected ones. */
  get downloads(): string[] {
    const gets = this.seen.filter(({ method, path }) => method === 'GET' && !/\/(resolve|raw)\//.test(path));
    return gets.map(({ path, headers }) => [path.split('/').at(-1), headers.range ?? ''].join(' ').trim());
  }

  #faultFor(name: string, method: string | undefined): Fault {
    const faults = this.faults.get(name) ?? [];
    const [first, second] = faults;
    if (first === undefined || first === 'always' || (first.method ?? 'GET') !== method) return {};
    if (second !== 'always') faults.shift();
    return first;
  }

  #answer(host: Seen['host'], request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url: path = '', headers } = request;
    this.seen.push({ host, method, path, headers });
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-allow-headers', 'authorization, range, if-range');
    response.setHeader('access-control-max-age', 600);
    response.setHeader(
      'access-control-expose-headers',
      'ETag, X-Repo-Commit, X-Linked-Size, X-Linked-ETag, X-Error-Code, Content-Range',
    );
    if (method === 'OPTIONS') return void response.end();
    const name = path.slice(1);
    if (host === 'hub') this.#resolve(request, response);
    else if (this.files[name] === undefined) response.writeHead(404).end();
    else this.#send(name, this.files[name], request, response);
  }

  #resolve(request: IncomingMessage, response: ServerResponse): void {
    const [, owner, model, kind, revision, ...rest] = new URL(request.url ?? '/', this.url).pathname.split('/');
    const name = rest.join('/');
    const refuse = (status: number, code: string) => response.writeHead(status, { 'x-error-code': code }).end();
    if (`${owner}/${model}` !== this.id || !['resolve', 'raw', 'cached'].includes(kind ?? ''))
      return void refuse(404, 'RepoNotFound');
    if (revision !== 'main' && revision !== this.commit) return void refuse(404, 'RevisionNotFound');
    if (this.token !== undefined && request.headers.authorization !== `Bearer ${this.token}`)
      return void refuse(401, 'GatedRepo');
    response.setHeader('x-repo-commit', this.commit);
    const bytes = this.files[name];
    if (bytes === undefined) return void refuse(404, 'EntryNotFound');
    if (kind === 'cached') return void this.#send(name, bytes, request, response);
    if (!isLarge(name))
      return void response.writeHead(307, { location: `/${this.id}/cached/${revision}/${name}` }).end();
    if (kind === 'raw') {
      const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${etagOf(name, bytes)}\nsize ${bytes.byteLength}\n`;
      return void response.end(pointer);
    }
    response.writeHead(302, {
      location: `${this.cdn}/${name}`,
      'x-linked-etag': `"${etagOf(name, bytes)}"`,
      'x-linked-size': bytes.byteLength,
    });
    response.end(request.method === 'HEAD' ? undefined : 'moved');
  }

  #send(name: string, whole: Uint8Array, request: IncomingMessage, response: ServerResponse): void {
    const fault = this.#faultFor(name, request.method);
    if (fault.silent) return;
    if (fault.reset) return void request.socket.resetAndDestroy();
    if (fault.status !== undefined) return void response.writeHead(fault.status, fault.headers).end();
    if (fault.endless) return void endless(response);
    const bytes = Uint8Array.from(whole);
    if (fault.flipAt !== undefined) bytes[fault.flipAt] = 255 - (bytes[fault.flipAt] ?? 0);
    response.setHeader('etag', isLarge(name) ? `"stored-${whole.byteLength}"` : `"${etagOf(name, whole)}"`);
    response.setHeader('accept-ranges', 'bytes');
    const part = fault.noRanges ? bytes : partOf(bytes, request, response);
    response.setHeader('content-length', part.byteLength);
    if (request.method === 'HEAD') return void response.end();
    this.#write(part, fault, request, response);
  }

  #write(part: Uint8Array, fault: Fault, { socket }: IncomingMessage, response: ServerResponse): void {
    const { cutAfter, stallAfter, missing } = fault;
    const length = cutAfter ?? stallAfter ?? part.byteLength - Math.max(0, missing ?? 0);
    const sending = part.subarray(0, length);
    this.sent += sending.byteLength;
    if (cutAfter === undefined && stallAfter === undefined && missing === undefined) return void response.end(sending);
    response.flushHeaders();
    socket.write(sending, () => {
      if (stallAfter !== undefined) return;
      if (missing !== undefined && missing < 0) socket.write(new Uint8Array(-missing));
      setTimeout(() => (missing === undefined ? socket.destroy() : socket.end()), 20);
    });
  }
}

function endless(response: ServerResponse): void {
  const blanks = Buffer.alloc(1 << 20, ' ');
  response.writeHead(200, { 'content-type': 'application/json' });
  const more = () => {
    while (!response.destroyed && response.write(blanks));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}
