// Image and audio files: Blobs and URLs everywhere, paths in Node.

import { send } from './config.js';
import { copied } from './copied.js';
import { ClearformerError, messageOf, unreadable } from './error.js';
import { isA, isBlob } from './kinds.js';
import { isNode, nodeModule, pathOf, urlOf } from './platform.js';

/** A file by its contents, URL or path. */
export type MediaFile = string | URL | Blob | ArrayBuffer | Uint8Array;

/**
 * The bytes, in memory of their own, of a file given as such, of a Blob, at a URL (http, https, data, blob, and with
 * Node file) or, with Node, a path. Elsewhere a string without a scheme is a URL relative to the page. Rejects with
 * `file_not_found`, `network_error`, or `invalid_argument`.
 */
export async function readMedia(call: string, file: MediaFile): Promise<Uint8Array> {
  if (isA(file, 'ArrayBuffer', 'Uint8Array')) return fromMemory(call, file);
  return isBlob(file) ? fromBlob(call, file) : readNamed(call, file);
}

/** Memory that is shared or resizable is not taken by Blobs, memory that was transferred is none. */
function fromMemory(call: string, contents: ArrayBuffer | Uint8Array): Uint8Array {
  try {
    return copied(isA(contents, 'ArrayBuffer') ? new Uint8Array(contents) : contents);
  } catch (cause) {
    throw unreadable(`${call}: the file`, {}, cause);
  }
}

/** What `read` makes of a file's contents; its errors name the file. */
export async function naming<T>(file: object | string, read: Promise<T>): Promise<T> {
  const isNamed = typeof file === 'string' || isA(file, 'URL');
  const name = isNamed ? String(file) : (file as Partial<File>).name;
  return read.catch((cause: unknown) => {
    if (!name || !(cause instanceof ClearformerError) || cause.message.includes(name)) throw cause;
    const where = shortened(name);
    throw new ClearformerError(cause.code, `${cause.message}: ${where}`, { ...cause.details, where }, cause.cause);
  });
}

/** A data URL contains the file itself. */
function shortened(name: string): string {
  return name.length > 200 ? `${name.slice(0, 100)}…` : name;
}

/** A file that has changed since it was picked is not read. */
async function fromBlob(call: string, blob: Blob): Promise<Uint8Array> {
  const { name } = blob as Partial<File>;
  try {
    return new Uint8Array(await blob.arrayBuffer());
  } catch (cause) {
    throw unreadable(`${call}: ${name || 'the Blob'}`, name ? { file: name } : {}, cause);
  }
}

async function readNamed(call: string, name: string | URL): Promise<Uint8Array> {
  const hasScheme = isA(name, 'URL') || /^[a-z][a-z0-9+.-]+:/i.test(name);
  if (isNode() && !(hasScheme && !/^[a-z]:[\\/]/i.test(String(name)))) return fromDisk(call, String(name));
  const url = urlOf(call, name);
  if (url.protocol === 'file:' && isNode()) return fromDisk(call, pathOf(url));
  return fromWeb(call, url.href);
}

async function fromDisk(call: string, path: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await nodeModule('node:fs/promises').readFile(path));
  } catch (cause) {
    throw unreadable(`${call}: ${path}`, { file: path, where: path }, cause);
  }
}

async function fromWeb(call: string, href: string): Promise<Uint8Array> {
  const where = shortened(href);
  try {
    const answer = await send(href);
    if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
    const code = answer.status === 404 || answer.status === 410 ? 'file_not_found' : 'network_error';
    throw new ClearformerError(code, `${call}: ${where} answers HTTP ${answer.status}`, {
      where,
      status: answer.status,
    });
  } catch (cause) {
    if (cause instanceof ClearformerError) throw cause;
    throw new ClearformerError(
      'network_error',
      `${call}: ${where} could not be fetched (${messageOf(cause)})`,
      { where },
      cause,
    );
  }
}
