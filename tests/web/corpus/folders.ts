// The elements of the corpus of invalid and unusual folders: cases, the base folders, and wrong values of each type,
// of which a seed selects some.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorCode } from 'clearformer';
import type { Files } from '../support/checkpoints.js';
import { fixturePath, storiesPath } from '../support/references.js';

/** How a folder is read: as which kind of model, or which file besides it. */
export type Reader =
  | 'causal'
  | 'masked'
  | 'seq2seq'
  | 'speech'
  | 'image'
  | 'tokenizer'
  | 'embedding'
  | 'picture'
  | 'sound'
  | 'validate';

/** A folder with a single error. */
export interface BadFolder {
  title: string;
  files: Files;
  reader: Reader;
  /** What the error must name: the file, the key and the value. */
  words: readonly string[];
  codes?: readonly ErrorCode[];
}

const bases = new Map<string, Files>();

/** The files of a fixture's folder, or of a bundled model. */
export function baseOf(name: string): Files {
  let files = bases.get(name);
  if (files === undefined) {
    const folder = name.includes('/') ? fixturePath(name) : join(storiesPath, '..', name);
    const names = readdirSync(folder).filter((file) => /\.(json|txt|safetensors)$/.test(file));
    const inner = existsSync(join(folder, '1_Pooling')) ? ['1_Pooling/config.json'] : [];
    files = Object.fromEntries(
      [...names, ...inner].map((file) => [file, new Uint8Array(readFileSync(join(folder, file)))]),
    );
    bases.set(name, files);
  }
  return files;
}

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
export const jsonOf = (files: Files, name: string): Record<string, unknown> =>
  JSON.parse(new TextDecoder().decode(files[name]));

/** The folder with a changed JSON file: undefined removes a key. */
export function changed(base: Files, name: string, change: Record<string, unknown>): Files {
  const held = base[name] === undefined ? {} : jsonOf(base, name);
  return { ...base, [name]: bytesOf(JSON.stringify({ ...held, ...change })) };
}

/** A value as formatted in messages, as far as C++ and TypeScript agree. */
export function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null) return '';
  if (typeof value === 'number' && Math.abs(value) > 1e15) return '';
  return JSON.stringify(value) ?? '';
}

/** Random choices, the same for the same seed. */
export class Draw {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }

  /** `count` distinct values. */
  some<T>(values: readonly T[], count: number): T[] {
    const left = [...values];
    return Array.from({ length: Math.min(count, left.length) }, () => left.splice(this.below(left.length), 1)[0] as T);
  }
}

const notNumbers = ['7', '', [], [[1]], {}, true];

/** Invalid values for a key of this type. */
export const wrong = {
  size: [-1, 0, 1.5, 2 ** 31, 1e300, -(2 ** 40), ...notNumbers],
  count: [-1, 0.5, 2 ** 31, 1e300, ...notNumbers],
  epsilon: [-1, -1e-5, 1.5, 1e300, null, ...notNumbers],
  above: [0, -1, ...notNumbers],
  fraction: [0, -0.5, 1.5, ...notNumbers],
  share: [-0.5, 1.5, ...notNumbers],
  number: notNumbers,
  flag: [0, 1, 'true', 'no', [], {}],
  text: [0, 1.5, true, [], {}],
  texts: ['Model', 3, true, {}, [3], [['a']]],
  token: [-1, 1.5, 2 ** 31, '5', true, {}, [[]]],
  padding: [-1.5, 1.5, 2 ** 31, '5', true, {}, [[]]], // negative: none
  tokens: [-1, 1.5, '5', true, {}, [-1], [1, '2'], [0.5]],
  object: [3, 'a', true, []],
} as const;
export type Kind = keyof typeof wrong;
