// Downloads a file in order, each byte once: after a broken connection or a timeout the rest is requested.

import { ClearformerError } from '../support/error.js';
import { isNode } from '../support/platform.js';
import type { Place, RemoteFile } from './remote_file.js';
import { type Answer, askOnce, beforeRetry, type Call, Passing, refused } from './transport.js';

/** A range of a file: from `from` to before `to`, or to the end. */
export interface Span {
  readonly from: number;
  readonly to?: number | undefined;
}

/**
 * The bytes of a range. Rejects with `network_error` if the server sends another version of the file, or fewer or more
 * bytes than it announced, and if connections break repeatedly; bytes received in between reset the count.
 */
export async function* bytesOf(
  file: RemoteFile,
  { from, to }: Span,
  place: Place,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  if (from > 0) await file.opened?.take()?.cancel(); // its start was cached
  const end = file.size === null ? to : Math.min(to ?? file.size, file.size);
  if (end !== undefined && from >= end) return;
  let at = from;
  let failures = 0;
  for (;;) {
    const begun = at;
    try {
      for await (const chunk of arriving(file, { from: at, to }, place, signal, () => at)) {
        at += chunk.byteLength;
        yield chunk;
      }
      if (file.size === null || end === undefined || at >= end) return;
      throw new Passing(broken(file, `stopped after ${at} bytes of ${file.size}`));
    } catch (thrown) {
      failures = at > begun ? 0 : failures + 1;
      if (at > from && file.size === null && file.version === null && thrown instanceof Passing) throw thrown.error;
      await beforeRetry(thrown, Math.max(0, failures - 1), signal);
    }
  }
}

async function* arriving(
  file: RemoteFile,
  { from, to }: Span,
  place: Place,
  signal: AbortSignal | undefined,
  position: () => number,
): AsyncIterable<Uint8Array> {
  const { name, href } = file;
  const call: Call = { name, href, method: 'GET', headers: rangeOf(file, { from, to }), token: place.token, signal };
  const opened = from === 0 && to === undefined ? file.opened?.take() : undefined;
  const answer = opened ?? (await askOnce(call));
  if (answer.status === 416 && from === 0) return await answer.cancel(); // an empty file
  const begin = await startOf(file, from, call, answer);
  const limit = to ?? file.size ?? Number.POSITIVE_INFINITY;
  let at = begin;
  for await (const chunk of answer.chunks(position)) {
    const part = chunk.subarray(Math.max(0, from - at), Math.max(0, limit - at));
    at += chunk.byteLength;
    if (part.byteLength > 0) yield part;
    if (to !== undefined && at >= limit) return;
    if (at > limit) throw broken(file, `sends more than the ${file.size} bytes that it told`);
  }
}

function rangeOf({ etag, href, size }: RemoteFile, { from, to }: Span): Record<string, string> {
  // A file without a size may be compressed, and browsers cannot decode a part of it.
  if (from === 0 && (to === undefined || size === null)) return {};
  const range = { range: `bytes=${from}-${to === undefined ? '' : to - 1}` };
  // Any other header would make browsers send a preflight request to other hosts, which may refuse it.
  const near = isNode() || new URL(href).origin === (globalThis as { location?: Location }).location?.origin;
  return etag !== undefined && from > 0 && near ? { ...range, 'if-range': etag } : range;
}

/** The offset of the body in the file. Throws if it is not the file that was looked up. */
async function startOf(file: RemoteFile, from: number, call: Call, answer: Answer): Promise<number> {
  const fault = faultOf(file, from, call, answer);
  if (fault === undefined) return answer.status === 206 ? from : 0;
  await answer.cancel();
  throw fault;
}

function faultOf(file: RemoteFile, from: number, call: Call, answer: Answer): ClearformerError | undefined {
  const { headers, status } = answer;
  if (!answer.ok) return refused(call, answer);
  const found = headers.get('etag');
  const comparable = answer.otherOrigin === file.movedTo && !headers.has('content-encoding') && found?.startsWith('"');
  if (comparable && file.etag !== undefined && found !== file.etag) return changed(file);
  const range = headers.get('content-range');
  if (status !== 206 || range === null) return undefined; // a host may hide the header
  const [, begin, whole] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(range) ?? [];
  if (Number(begin) !== from) return broken(file, `answers bytes=${from}- with '${range}'`);
  return file.size !== null && whole !== '*' && Number(whole) !== file.size ? changed(file) : undefined;
}

const changed = (file: RemoteFile) => broken(file, 'changed on the server while it was read: load it again');

function broken({ name, href }: RemoteFile, what: string): ClearformerError {
  return new ClearformerError('network_error', `${name}: ${href} ${what}`, { file: name, where: href });
}
