// Reference numbers from tests/fixtures, and how near to them a result must be.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Tensor } from 'clearformer';
import { expect } from 'vitest';

export const fixturePath = (name: string) => fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url));
export const storiesPath = fileURLToPath(new URL('../../../web/demo/public/models/stories260K', import.meta.url));

export interface Reference {
  dims: number[];
  data: Float32Array | BigInt64Array;
}

export interface Case {
  name: string;
  op: string;
  file: string;
  options: Record<string, unknown>;
  inputs: Record<string, string>;
  outputs: Record<string, string>;
  [more: string]: unknown;
}

/** The cases of a folder of fixtures. */
export function casesOf(folder: string): Case[] {
  return JSON.parse(readFileSync(fixturePath(`${folder}/cases.json`), 'utf8')).cases;
}

interface HeaderEntry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

/** All tensors of a safetensors file of F32 and I64. */
export function readReferences(path: string): Map<string, Reference> {
  const bytes = new Uint8Array(readFileSync(path));
  const headerBytes = Number(new DataView(bytes.buffer).getBigUint64(0, true));
  const header: Record<string, HeaderEntry> = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + headerBytes)));
  const tensors = new Map<string, Reference>();
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const [start, end] = entry.data_offsets.map((offset) => 8 + headerBytes + offset) as [number, number];
    const { buffer } = bytes.slice(start, end);
    if (entry.dtype !== 'F32' && entry.dtype !== 'I64') throw new Error(`${path}: ${name} is ${entry.dtype}`);
    tensors.set(name, {
      dims: entry.shape,
      data: entry.dtype === 'F32' ? new Float32Array(buffer) : new BigInt64Array(buffer),
    });
  }
  return tensors;
}

/** The tensors of a case by the names of its inputs and outputs. */
export function tensorsOf(folder: string, one: Case): (name: string) => Reference {
  const tensors = readReferences(fixturePath(`${folder}/${one.file}`));
  return (name) => {
    const tensor = tensors.get(one.inputs[name] ?? one.outputs[name] ?? '');
    if (tensor === undefined) throw new Error(`${folder}: case ${one.name} has no ${name}`);
    return tensor;
  };
}

/** Same dims, and every element within 2e-5 + 1e-5 · max |reference| + more; infinities are equal. Reports the worst one. */
export function expectClose(
  name: string,
  found: Tensor,
  wanted: Reference,
  only?: (index: number) => boolean,
  more = 0,
): void {
  expect([name, ...found.dims]).toEqual([name, ...wanted.dims]);
  const reference = wanted.data as Float32Array;
  const sizes = reference.filter(Number.isFinite).map(Math.abs);
  const bound = 2e-5 + 1e-5 * sizes.reduce((most, size) => Math.max(most, size), 0) + more;
  let worst = { index: -1, error: -1 };
  reference.forEach((value, index) => {
    if (only && !only(index)) return;
    const error = value === found.data[index] ? 0 : Math.abs(Number(found.data[index]) - value);
    if (!(error <= worst.error)) worst = { index, error };
  });
  const { index, error } = worst;
  const report = `${name}[${index}] is ${found.data[index]}, wanted ${reference[index]}, bound ${bound}`;
  expect(index, name).toBeGreaterThanOrEqual(0);
  expect(error <= bound, report).toBe(true);
}

/** Ids of a row-major [batch, length] reference as numbers. */
export function idRows({ dims, data }: Reference): number[][] {
  const [batch = 0, length = 0] = dims;
  return Array.from({ length: batch }, (_, row) => Array.from(data.slice(row * length, (row + 1) * length), Number));
}
