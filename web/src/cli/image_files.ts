// Images as arguments: paths, URLs, and - for standard input.

import { isAbsolute, resolve } from 'node:path';
import type { ImageInput } from '../index.js';
import { checkInputs, standardInput } from './inputs.js';

export async function imagesOf(words: readonly string[]): Promise<ImageInput[]> {
  checkInputs(words);
  return Promise.all(words.map((word) => (word === '-' ? standardInput() : fileOf(word))));
}

/** An absolute path, so that no name is taken for something else; a URL is unchanged. */
export function fileOf(word: string): string {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(word) || isAbsolute(word) ? word : resolve(word);
}
