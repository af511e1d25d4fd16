// Reference values from tests/fixtures, and the required closeness of results.

import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

export const fixturePath = (name: string) => fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url));
export const storiesPath = fileURLToPath(new URL('../../../web/demo/public/models/stories260K', import.meta.url));

export interface Reference {
  dims: number[];
  data: Float32Array | BigInt64Array;
}

/** A tensor, or what has its dims and values. */
export interface Values {
  readonly dims: readonly number[];
  readonly data: ArrayLike<number | bigint>;
}

/** A case of a group whose files have the format that tests/references/README.md states. */
export interface Case<Options extends object = Record<string, unknown>> {
  name: string;
  op: string;
  file: string;
  options: Options;
  inputs: Record<string, string>;
  outputs: Record<string, string>;
  [more: string]: unknown;
}

/** A group of random cases, or with this environment variable the folder of others, as seen from the fixtures. */
export function randomGroup(name: string, variable: string): string {
  const others = process.env[variable];
  return others === undefined ? name : relative(fixturePath(''), others);
}

/** The cases of a folder of fixtures; `C` is their form in that group. */
export function casesOf<C = Case>(folder: string): C[] {
  return JSON.parse(readFileSync(fixturePath(`${folder}/cases.json`), 'utf8')).cases;
}

/** The case of that name. */
export function caseOf<C extends { name: string } = Case>(folder: string, name: string): C {
  const one = casesOf<C>(folder).find((other) => other.name === name);
  if (one === undefined) throw new Error(`${folder} has no case ${name}`);
  return one;
}

interface HeaderEntry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

/** A safetensors file of F32 and I64, whose tensors are read separately, a new copy each time. */
class ReferenceFile {
  readonly #path: string;
  readonly #bytes: Uint8Array;
  readonly #start: number;
  readonly #header: Readonly<Record<string, HeaderEntry>>;

  constructor(path: string) {
    this.#path = path;
    this.#bytes = new Uint8Array(readFileSync(path));
    const { buffer, byteOffset } = this.#bytes;
    this.#start = 8 + Number(new DataView(buffer, byteOffset).getBigUint64(0, true));
    const { __metadata__: _, ...header } = JSON.parse(
      new TextDecoder().decode(this.#bytes.subarray(8, this.#start)),
    ) as Record<string, HeaderEntry>;
    this.#header = header;
  }

  get names(): string[] {
    return Object.keys(this.#header);
  }

  read(name: string): Reference | undefined {
    const entry = this.#header[name];
    if (entry === undefined) return undefined;
    const [from, to] = entry.data_offsets;
    const { buffer } = this.#bytes.slice(this.#start + from, this.#start + to);
    if (entry.dtype !== 'F32' && entry.dtype !== 'I64') throw new Error(`${this.#path}: ${name} is ${entry.dtype}`);
    return { dims: entry.shape, data: entry.dtype === 'F32' ? new Float32Array(buffer) : new BigInt64Array(buffer) };
  }
}

/** All tensors of a safetensors file of F32 and I64. */
export function readReferences(path: string): Map<string, Reference> {
  const file = new ReferenceFile(path);
  return new Map(file.names.map((name) => [name, file.read(name) as Reference]));
}

const files = new Map<string, ReferenceFile>();

/** The tensors of a case by the names of its inputs and outputs. */
export function tensorsOf(folder: string, one: Case<object>): (name: string) => Reference {
  const path = fixturePath(`${folder}/${one.file}`);
  const file = files.get(path) ?? new ReferenceFile(path);
  files.set(path, file);
  return (name) => {
    const tensor = file.read(one.inputs[name] ?? one.outputs[name] ?? '');
    if (tensor === undefined) throw new Error(`${folder}: case ${one.name} has no ${name}`);
    return tensor;
  };
}

/** The inputs of a case of that folder, by its name. */
export function inputsOf(folder: string, name: unknown): Record<string, Reference> {
  const one = caseOf(folder, String(name));
  const tensor = tensorsOf(folder, one);
  return Object.fromEntries(Object.keys(one.inputs).map((input) => [input, tensor(input)]));
}

/** |found - wanted|: 0 for equal infinities and for two NaN, infinite for one. */
export function distance(found: number, wanted: number): number {
  if (Object.is(found, wanted)) return 0;
  const apart = Math.abs(found - wanted);
  return Number.isNaN(apart) ? Number.POSITIVE_INFINITY : apart;
}

/**
 * Checks dims, and that every element is within 2e-5 + 1e-5 · max |reference| + more; infinities are equal. Reports the
 * worst.
 */
export function expectClose(
  name: string,
  found: Values | undefined,
  wanted: Reference,
  only?: (index: number) => boolean,
  more = 0,
): void {
  if (found === undefined) throw new Error(`${name} is missing`);
  expect([name, ...found.dims]).toEqual([name, ...wanted.dims]);
  const reference = wanted.data as Float32Array;
  const sizes = reference.filter(Number.isFinite).map(Math.abs);
  const bound = 2e-5 + 1e-5 * sizes.reduce((most, size) => Math.max(most, size), 0) + more;
  let worst = { index: -1, error: -1 };
  reference.forEach((value, index) => {
    if (only && !only(index)) return;
    const error = distance(Number(found.data[index]), value);
    if (error > worst.error) worst = { index, error };
  });
  const { index, error } = worst;
  const report = `${name}[${index}] is ${found.data[index]}, wanted ${reference[index]}, bound ${bound}`;
  expect(index, name).toBeGreaterThanOrEqual(0);
  expect(error <= bound, report).toBe(true);
}

/** Ids of a row-major [batch, length] reference as numbers. */
export function idRows(given: Values | undefined): number[][] {
  if (given === undefined) throw new Error('the ids are missing');
  const [batch = 0, length = 0] = given.dims;
  const ids = Array.from(given.data, Number);
  return Array.from({ length: batch }, (_, row) => ids.slice(row * length, (row + 1) * length));
}
