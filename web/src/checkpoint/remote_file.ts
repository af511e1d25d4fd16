// A file's metadata from its server: size, version, checksum, commit.

import { ClearformerError } from '../support/error.js';
import { isNode } from '../support/platform.js';
import { type Answer, ask, type Call, refused, type Token } from './transport.js';

/** A file as its server describes it. */
export interface RemoteFile {
  readonly name: string;
  readonly href: string;
  /** Bytes; null if the server does not give the size. */
  readonly size: number | null;
  /** Changes whenever the file changes; null if the server does not give one. */
  readonly version: string | null;
  /** The etag at the file's final address, for range requests; absent if only the Hub's is known. */
  readonly etag: string | undefined;
  /** SHA-256 given by the Hub (LFS files), lower case. */
  readonly sha256: string | undefined;
  /** SHA-1 of git's blob, the Hub's etag of files outside LFS. */
  readonly gitSha1: string | undefined;
  /** The other host that the request was redirected to, so that the Hub's headers are unknown. */
  readonly movedTo: string | undefined;
  /** The commit of the response. */
  readonly commit: string | undefined;
  /** Whether its content type is HTML. */
  readonly html: boolean;
  /** The response to a request of the whole file, for whoever reads it first. */
  readonly opened?: Opened;
}

/** A response whose body nobody has read yet. */
export class Opened {
  #answer: Answer | undefined;

  constructor(answer: Answer) {
    this.#answer = answer;
  }

  /** The response, once; undefined if its request was aborted meanwhile. */
  take(): Answer | undefined {
    const answer = this.#answer;
    this.#answer = undefined;
    return answer?.aborted ? undefined : answer;
  }
}

/** Where files are requested from. */
export interface Place {
  readonly token: Token | undefined;
  /** Id and revision of a Hub repository. */
  readonly hub: { id: string; revision: string } | undefined;
}

/** A server's response that a file does not exist, with the commit if known. */
export interface Absence {
  readonly absent: true;
  readonly commit: string | undefined;
}

/** How a file is looked up. */
export interface LookUpOptions {
  /** Instead of the configured number. */
  retries?: number | undefined;
  /**
   * One request for metadata and contents, where the browser follows redirects: the Hub tells checksums before it
   * redirects.
   */
  use?: 'read at once' | undefined;
}

/** Requests a file's metadata. Rejects with `network_error`, or `file_not_found` for a missing repository. */
export async function lookUp(
  name: string,
  href: string,
  place: Place,
  signal: AbortSignal | undefined,
  { retries, use }: LookUpOptions = {},
): Promise<RemoteFile | Absence> {
  const call: Call = { name, href, method: 'HEAD', token: place.token, signal };
  if (use === 'read at once' && !isNode()) {
    const answer = await ask({ ...call, method: 'GET' }, retries);
    if (!answer.ok) await answer.cancel();
    const found = fileIn(call, answer, place);
    return 'absent' in found ? found : { ...found, opened: new Opened(answer) };
  }
  let answer = await ask(call, retries);
  await answer.cancel();
  if ([400, 403, 405, 501].includes(answer.status)) {
    answer = await ask({ ...call, method: 'GET' }, retries); // a server without support for HEAD
    await answer.cancel();
  }
  return fileIn(call, answer, place);
}

/** What a response says of a file. */
function fileIn(call: Call, answer: Answer, place: Place): RemoteFile | Absence {
  const { headers, status } = answer;
  refuseRepository(call, answer, place);
  const [commit] = /^[\w-]{1,64}$/.exec(headers.get('x-repo-commit') ?? '') ?? []; // becomes part of paths
  if (status === 404 || status === 410) return { absent: true, commit };
  if (!answer.ok) throw refused(call, answer);
  const found = { name: call.name, href: call.href, commit, ...described(answer, place) };
  // Hosts compress texts: the length may be that of a compressed form, which has no checksum for an etag.
  const known = found.gitSha1 ?? found.sha256 ?? (place.hub && found.movedTo);
  const sure = !answer.guarded || known !== undefined || call.name.endsWith('.safetensors');
  return sure ? found : { ...found, size: null };
}

function described(answer: Answer, place: Place): Omit<RemoteFile, 'name' | 'href' | 'commit'> {
  const { headers } = answer;
  const linked = plain(headers.get('x-linked-etag'));
  const own = headers.get('etag');
  const digest = linked ?? (place.hub === undefined || answer.otherOrigin ? undefined : plain(own));
  return {
    size: sizeOf(headers),
    version: linked ?? versionOf(headers),
    etag: linked === undefined && own?.startsWith('"') ? own : undefined,
    sha256: digest !== undefined && /^[0-9a-f]{64}$/i.test(digest) ? digest.toLowerCase() : undefined,
    gitSha1: digest !== undefined && /^[0-9a-f]{40}$/i.test(digest) ? digest.toLowerCase() : undefined,
    movedTo: answer.otherOrigin,
    html: /^text\/html\b/.test(headers.get('content-type') ?? ''),
  };
}

/** An etag without its quotes; undefined for a weak one, which does not identify bytes. */
function plain(etag: string | null): string | undefined {
  return etag === null || etag.startsWith('W/') ? undefined : etag.replace(/^"|"$/g, '');
}

function versionOf(headers: Headers): string | null {
  const modified = headers.get('last-modified');
  const own = headers.get('etag');
  return plain(own) ?? own ?? (modified === null ? null : `${modified}, ${headers.get('content-length')} bytes`);
}

/**
 * The content length; null if the server does not give it, gives that of a compressed form, or gives 0, which may be
 * the length of the response to HEAD, which has no body.
 */
function sizeOf(headers: Headers): number | null {
  const length = headers.get('x-linked-size') ?? (headers.has('x-linked-etag') ? null : headers.get('content-length'));
  return headers.has('content-encoding') ? null : Number(length) || null;
}

/** Throws if a header of the Hub says that more than the file is missing. */
function refuseRepository(call: Call, { headers, status }: Answer, { hub, token }: Place): void {
  const code = headers.get('x-error-code');
  if (hub === undefined || code === null) return;
  const details = { where: call.href, status }; // without a repository no file is named: none is looked for
  const withToken = token === undefined ? ', or it is private and needs a token' : ' that this token may see';
  if (code === 'RepoNotFound')
    throw new ClearformerError(
      'file_not_found',
      `the Hub has no repository ${hub.id}${withToken} (${call.href})`,
      details,
    );
  if (code === 'RevisionNotFound')
    throw new ClearformerError('file_not_found', `${hub.id} has no revision ${hub.revision} (${call.href})`, details);
  if (code !== 'GatedRepo') return;
  const cure = `accept its conditions on its page${token === undefined ? ' and pass a token' : ''}`;
  const message = `${call.name}: ${hub.id} is gated and asks for permission: ${cure} (${call.href})`;
  throw new ClearformerError('network_error', message, { file: call.name, ...details });
}

/**
 * The same file with the Hub's checksum. Browsers follow redirects themselves and hide the Hub's headers on the way;
 * git's LFS pointer contains the checksum as well.
 */
export async function withChecksum(
  file: RemoteFile,
  place: Place,
  signal: AbortSignal | undefined,
): Promise<RemoteFile> {
  if (file.movedTo === undefined || place.hub === undefined || file.sha256 !== undefined) return file;
  const href = file.href.replace('/resolve/', '/raw/');
  const call: Call = { name: file.name, href, method: 'GET', token: place.token, signal };
  try {
    const answer = await ask(call, 0);
    let text = '';
    for await (const chunk of answer.chunks(() => text.length)) {
      text += new TextDecoder().decode(chunk);
      if (text.length > mostPointerBytes) break;
    }
    const [, sha256] = /^oid sha256:([0-9a-f]{64})$/m.exec(answer.ok ? text : '') ?? [];
    const [, size] = /^size (\d+)$/m.exec(text) ?? [];
    return sha256 === undefined || Number(size) !== file.size ? file : { ...file, sha256 };
  } catch (thrown) {
    if (signal?.aborted) throw thrown;
    return file; // not the Hub, but a mirror without pointers
  }
}

const mostPointerBytes = 1000; // git-lfs allows 1024
