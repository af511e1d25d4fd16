// A single HTTP request: it is answered or rejected within the timeout, an abort ends it at once, the token is sent to
// its own host only, and every failure says whether a retry may help.

import { noteOwn, roomForChunk } from '../support/chunk_memory.js';
import { configuration, send } from '../support/config.js';
import { ClearformerError, messageOf } from '../support/error.js';
import { abortable, onAbort } from '../support/options.js';
import { isNode } from '../support/platform.js';

/** A Hub token and its origin. */
export interface Token {
  readonly value: string;
  readonly origin: string;
}

/** A request for a file. */
export interface Call {
  readonly name: string;
  readonly href: string;
  readonly method: 'GET' | 'HEAD';
  readonly headers?: Readonly<Record<string, string>>;
  readonly token: Token | undefined;
  readonly signal: AbortSignal | undefined;
}

/** A failure that a retry may resolve: the error to throw in the end, and when to retry. */
export class Passing {
  constructor(
    readonly error: ClearformerError,
    /** The server's Retry-After, in milliseconds. */
    readonly wait?: number,
    /** Maximum number of retries. */
    readonly most = Number.POSITIVE_INFINITY,
  ) {}
}

const longestWait = 60_000; // ms: longer waits are reported instead
const longestPause = 10_000; // ms

/**
 * Waits before a retry, or throws the failure if there should be none. `failures` is the number of earlier failures.
 */
export async function beforeRetry(failure: unknown, failures: number, signal: AbortSignal | undefined): Promise<void> {
  if (!(failure instanceof Passing)) throw failure;
  const { retries = 4, retryDelay = 500 } = configuration;
  const { error, wait, most } = failure;
  if (failures >= Math.min(retries, most) || (wait ?? 0) > longestWait) throw error;
  // Jitter: clients that failed together do not retry together.
  await pause(wait ?? Math.min(retryDelay * 2 ** failures, longestPause) * (0.5 + Math.random() / 2), signal);
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      forget();
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      forget();
      resolve();
    }, ms);
    const forget = onAbort(signal, stop);
    if (signal?.aborted) stop();
  });
}

/** Requests until there is a final response; `retries` may be lower than configured. */
export async function ask(call: Call, retries = Number.POSITIVE_INFINITY): Promise<Answer> {
  for (let failures = 0; ; failures++) {
    try {
      return await askOnce(call);
    } catch (thrown) {
      if (thrown instanceof Passing && failures >= retries) throw thrown.error;
      await beforeRetry(thrown, failures, call.signal);
    }
  }
}

/** One attempt. Throws a `Passing` if there is no response, or one for which a retry may help. */
export async function askOnce(call: Call): Promise<Answer> {
  call.signal?.throwIfAborted();
  const watch = new Watch(call);
  const response = await watch.over(follow(call, watch.signal), 'did not answer').catch((cause: unknown) => {
    watch.end();
    if (cause instanceof ClearformerError && cause.code === 'invalid_argument') throw cause;
    // Browsers hide the cause, which may be a policy of their own that no retry changes.
    throw failed(call, 'could not be fetched', cause, isLasting(cause) ? 0 : isNode() ? undefined : 2);
  });
  const answer = new Answer(response, call, watch);
  if (!passing(answer.status)) return answer;
  await answer.cancel();
  throw new Passing(refused(call, answer), retryAfter(answer.headers));
}

const linked = 'x-linked-etag';
const mostRedirects = 10;

/**
 * The response after all redirects. If they can be followed by hand (not in browsers), the Hub's headers about a file
 * on another host are used instead of that host's. Browsers themselves keep tokens from other hosts.
 */
async function follow(call: Call, signal: AbortSignal): Promise<Response> {
  const byHand = isNode();
  let { href } = call;
  for (let redirects = 0; ; redirects++) {
    const headers: Record<string, string> = { ...call.headers };
    if (byHand) headers['accept-encoding'] = 'identity'; // otherwise sizes and ranges refer to the compressed form
    if (call.token?.origin === new URL(href).origin) headers.authorization = `Bearer ${call.token.value}`;
    // `no-cache`: the browser's HTTP cache is used only after revalidation.
    const init = { method: call.method, cache: 'no-cache', redirect: byHand ? 'manual' : 'follow' } as const;
    const response = await send(href, { ...init, headers, signal });
    const location = byHand && response.status > 300 && response.status < 309 ? response.headers.get('location') : null;
    if (location === null || (call.method === 'HEAD' && response.headers.has(linked))) return response;
    await response.body?.cancel();
    href = new URL(location, href).href;
    if (redirects === mostRedirects) throw new Error(`more than ${mostRedirects} redirects`);
  }
}

/** The timeout and the caller's abort signal, for all parts of one request. */
class Watch {
  readonly #controller = new AbortController();
  readonly #forget: () => void;

  constructor({ signal }: Call) {
    this.#forget = onAbort(signal, () => this.#controller.abort(signal?.reason));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The result of `work`, unless an abort or the timeout comes first. */
  async over<T>(work: Promise<T>, what: string): Promise<T> {
    const { timeout = 30_000 } = configuration;
    const silence = () => this.#controller.abort(new Error(`${what} for ${timeout / 1000} s`));
    const timer = setTimeout(silence, timeout);
    try {
      return await abortable(work, this.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the request, if it has not ended. */
  end(): void {
    this.#forget();
    this.#controller.abort();
  }
}

/** A server's response. The body is read once, or cancelled. */
export class Answer {
  readonly #response: Response;
  readonly #call: Call;
  readonly #watch: Watch;

  constructor(response: Response, call: Call, watch: Watch) {
    this.#response = response;
    this.#call = call;
    this.#watch = watch;
    if (response.body === null) watch.end();
  }

  get status(): number {
    return this.#response.status;
  }

  /** Whether the file exists, here or where the Hub redirects to. */
  get ok(): boolean {
    return this.#response.ok || this.headers.has(linked);
  }

  /** Whether a browser hides headers of it that its host does not list, such as content-encoding, beside content-length. */
  get guarded(): boolean {
    return this.#response.type === 'cors';
  }

  /** Whether its request was aborted. */
  get aborted(): boolean {
    return this.#call.signal?.aborted === true;
  }

  get headers(): Headers {
    return this.#response.headers;
  }

  /** The other host that the response comes from, if it does not come from the request's. */
  get otherOrigin(): string | undefined {
    const { href } = this.#call;
    const { origin } = new URL(this.#response.url || href); // empty if a caller's own `fetch` made the response
    return origin === new URL(href).origin ? undefined : origin;
  }

  /** The body. Throws a `Passing` if it is interrupted; `position` is for the message. */
  async *chunks(position: () => number): AsyncIterable<Uint8Array> {
    const large = Number(this.headers.get('content-length')) >= largeBytes;
    const reader = this.#response.body && readerOf(this.#response.body, large);
    try {
      for (;;) {
        const part = await this.#watch.over(reader?.read() ?? noBody, 'sent nothing').catch((cause: unknown) => {
          throw failed(this.#call, `stopped after ${position()} bytes`, cause);
        });
        if (part.done || part.value === undefined) return;
        yield part.value;
      }
    } finally {
      this.#watch.end();
      reader?.cancel().catch(() => {}); // without effect after the end
    }
  }

  async cancel(): Promise<void> {
    await this.#response.body?.cancel().catch(() => {});
    this.#watch.end();
  }
}

/** From here on chunks arrive in memory that is used again. */
const largeBytes = 4 << 20;

interface Reader {
  read(): Promise<{ done?: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

const noBody: ReturnType<Reader['read']> = Promise.resolve({ done: true });

/** Reads a body: a large one into memory of our own, in a browser that does that. */
function readerOf(body: ReadableStream<Uint8Array<ArrayBuffer>>, large: boolean): Reader {
  let reader: ReadableStreamBYOBReader;
  if (!large || isNode()) return body.getReader();
  try {
    reader = body.getReader({ mode: 'byob' });
  } catch {
    return body.getReader(); // Safari's bodies are not streams of bytes
  }
  const read = async () => {
    const part = await reader.read(roomForChunk());
    if (part.value) noteOwn(part.value);
    return part;
  };
  return { read, cancel: () => reader.cancel() };
}

/** Causes that an immediate retry does not resolve. */
function isLasting(thrown: unknown): boolean {
  if (typeof navigator === 'object' && navigator.onLine === false) return true;
  if (!(thrown instanceof Error)) return false;
  const { code, cause } = thrown as NodeJS.ErrnoException;
  if (/^(ECONNREFUSED|ConnectionRefused|ENOTFOUND|ERR_|CERT_|DEPTH_|SELF_|UNABLE_)/.test(code ?? '')) return true;
  const inner = thrown instanceof AggregateError ? thrown.errors : [cause];
  return inner.some(isLasting);
}

/** The error for a failed request: the abort signal's reason if the caller aborted it. */
function failed(call: Call, what: string, cause: unknown, most?: number): unknown {
  if (call.signal?.aborted) return call.signal.reason;
  const message = `${call.name}: ${call.href} ${what} (${messageOf(cause)})`;
  return new Passing(
    new ClearformerError('network_error', message, { file: call.name, where: call.href }, cause),
    undefined,
    most,
  );
}

function passing(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || (status >= 500 && status !== 501 && status !== 505);
}

/** Milliseconds, from seconds or a date. */
function retryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** The error for a refused request, with the server's explanation. */
export function refused({ name, href, token }: Call, { headers, otherOrigin, status }: Answer): ClearformerError {
  const told = headers.get('x-error-message');
  const again = headers.get('retry-after');
  let why = 'refused';
  if (status === 401 || status === 403) {
    const cure = token === undefined ? 'pass a token' : 'the token that was sent does not have it';
    why = `asks for permission${otherOrigin ? '' : ` (the Hub does so for models it does not have, too): ${cure}`}`;
  }
  if (status === 429) why = 'is asked too often';
  if (again !== null) why += `, it asks to wait (Retry-After: ${again})`;
  const message = `${name}: ${otherOrigin ?? 'the server'} ${why} (HTTP ${status} for ${href}${told === null ? '' : `: ${told}`})`;
  return new ClearformerError('network_error', message, { file: name, where: href, status });
}
