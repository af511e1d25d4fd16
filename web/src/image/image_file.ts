// Image files by name or contents, and their decoding in Node. Loaded on first use.

import { isA } from '../support/kinds.js';
import { readMedia } from '../support/media_file.js';
import type { Pixels } from './pixels.js';
import { decodeWithSharp } from './sharp_decoder.js';

/** The file of a URL, a path or bytes. */
export async function blobOf(call: string, file: string | URL | ArrayBuffer | Uint8Array): Promise<Blob> {
  const isNamed = typeof file === 'string' || isA(file, 'URL');
  return new Blob([(isNamed ? await readMedia(call, file) : file) as BlobPart]);
}

/** The pixels of a file, where no browser can decode it. */
export async function decodeFile(call: string, file: Blob): Promise<Pixels> {
  return decodeWithSharp(call, await readMedia(call, file));
}
