// Writes a checkpoint of a published configuration with random weights in bfloat16: config.json and the safetensors files,
// outside git. A tensor's values are slices of one pool of random numbers, since only their distribution matters.

import { closeSync, existsSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf, inProject, unlessFresh } from '../../../scripts/build/fresh.js';
import { step } from '../../../scripts/toolchain/progress.js';
import { RandomNumbers } from '../models/random.js';
import { type Outline, outlinesOf, type Published, type PublishedName, published } from './configurations.js';

const pooled = 1 << 23; // values
const deviation = 0.02;

/** Where a model's files are. */
export const folderOf = (name: PublishedName): string => inProject('build/bench/sizes', name);

/** The names of a model's safetensors files. */
function fileNames({ files }: Published): string[] {
  if (files === 1) return ['model.safetensors'];
  const part = (number: number): string => String(number).padStart(5, '0');
  return Array.from({ length: files }, (_, i) => `model-${part(i + 1)}-of-${part(files)}.safetensors`);
}

/** Writes the checkpoint unless it exists as made by the current files of this folder. */
export async function writePublished(name: PublishedName): Promise<void> {
  const model: Published = published[name];
  const folder = folderOf(name);
  const recipe = {
    stamp: `${folder}.stamp`,
    digest: digestOf([inProject('tests/bench/sizes/write.ts')], JSON.stringify(model)),
    outputs: [...fileNames(model), 'config.json'].map((file) => join(folder, file)),
  };
  await unlessFresh(recipe, () => step(`Writing ${model.repository} with random weights`, () => write(folder, model)));
}

function write(folder: string, model: Published): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), `${JSON.stringify(model.config, null, 2)}\n`);
  const matrices = poolOf(0, deviation);
  const zeroNorm = model.config.model_type === 'gemma3_text'; // its norms multiply by 1 + weight
  const norms = poolOf(zeroNorm ? 0 : 1, 0.05);
  const shards = divided(outlinesOf(model), model);
  shards.forEach((outlines, i) => {
    writeFile(join(folder, fileNames(model)[i] as string), outlines, ({ shape }) =>
      shape.length === 1 ? norms : matrices,
    );
  });
  if (model.files > 1) writeIndex(folder, model, shards);
}

const bytesOf = ({ shape }: Outline): number => 2 * shape.reduce((product, size) => product * size, 1);

/** Tensors in order, a file being full at 5 GB, as save_pretrained divided the published ones, or earlier. */
function divided(outlines: readonly Outline[], { files, fullBytes = 5e9 }: Published): Outline[][] {
  const shards: Outline[][] = [[]];
  let bytes = 0;
  for (const outline of outlines) {
    bytes += bytesOf(outline);
    if (bytes > fullBytes) {
      shards.push([]);
      bytes = bytesOf(outline);
    }
    shards.at(-1)?.push(outline);
  }
  if (shards.length !== files) throw new Error(`${shards.length} files instead of ${files}`);
  return shards;
}

function poolOf(centre: number, spread: number): Buffer {
  const values = new RandomNumbers(17).array(pooled, spread, centre);
  const bits = new Uint32Array(values.buffer);
  const high = Uint16Array.from(bits, (word) => word >>> 16);
  return Buffer.from(high.buffer);
}

function writeFile(path: string, outlines: readonly Outline[], poolFor: (outline: Outline) => Buffer): void {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  let end = 0;
  for (const outline of outlines) {
    header[outline.name] = { dtype: 'BF16', shape: outline.shape, data_offsets: [end, end + bytesOf(outline)] };
    end += bytesOf(outline);
  }
  const text = Buffer.from(JSON.stringify(header));
  const padded = Buffer.alloc(Math.ceil(text.byteLength / 8) * 8, ' ');
  text.copy(padded);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.byteLength));
  const output = openSync(path, 'w');
  try {
    for (const bytes of [length, padded]) writeAll(output, bytes);
    outlines.forEach((outline, i) => {
      // The same tensor has the same bytes wherever it is stored.
      const table = outline.shape[0] === outlines[0]?.shape[0];
      writeValues(output, poolFor(outline), bytesOf(outline), table ? 0 : 2 * 7919 * (i + 1));
    });
  } finally {
    closeSync(output);
  }
}

/** `bytes` of the pool from `first` on, again from its start where it ends. */
function writeValues(output: number, pool: Buffer, bytes: number, first: number): void {
  for (let left = bytes, at = first % pool.byteLength; left > 0; at = 0) {
    const part = pool.subarray(at, Math.min(pool.byteLength, at + left));
    writeAll(output, part);
    left -= part.byteLength;
  }
}

function writeAll(output: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.byteLength; ) written += writeSync(output, bytes, written);
}

function writeIndex(folder: string, model: Published, shards: readonly Outline[][]): void {
  const names = fileNames(model);
  const weight_map = Object.fromEntries(shards.flatMap((shard, i) => shard.map(({ name }) => [name, names[i]])));
  const total_size = shards.flat().reduce((sum, outline) => sum + bytesOf(outline), 0);
  const index = { metadata: { total_size }, weight_map };
  writeFileSync(join(folder, 'model.safetensors.index.json'), `${JSON.stringify(index, null, 2)}\n`);
}

/** The files of a model's folder that exist, for a page's file input. */
export function filesOf(name: PublishedName): string[] {
  const all = ['config.json', 'model.safetensors.index.json', ...fileNames(published[name])];
  return all.map((file) => join(folderOf(name), file)).filter((path) => existsSync(path));
}
