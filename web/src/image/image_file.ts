// Image files by name or contents, and their decoding in Node. Loaded on first use.

import { isBlob } from '../support/kinds.js';
import { type MediaFile, naming, readMedia } from '../support/media_file.js';
import type { Pixels } from './pixels.js';
import { decodeWithSharp } from './sharp_decoder.js';

/** What `decode` makes of the file of a URL, a path or bytes; errors name the file. */
export async function readFile(
  call: string,
  file: MediaFile,
  decode: (file: Blob) => Promise<Pixels>,
): Promise<Pixels> {
  const blob = isBlob(file) ? file : new Blob([(await readMedia(call, file)) as BlobPart]);
  return naming(file, decode(blob));
}

/** The pixels of a file, where no browser can decode it. */
export async function decodeFile(call: string, file: Blob): Promise<Pixels> {
  return decodeWithSharp(call, await readMedia(call, file));
}
