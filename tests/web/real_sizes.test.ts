// The published configurations that npm run real-sizes measures: their parameters, and that the core finds every tensor
// in the files as they are written, without writing them.

import { readFileSync } from 'node:fs';
import { inspect } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { outlinesOf, type Published, published, publishedNames } from '../bench/sizes/configurations.js';
import { mergedSizes, type SizesResult, sizesTables } from '../bench/sizes/table.js';

const page = readFileSync('web/examples/models.md', 'utf8');
const elements = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

describe.each(publishedNames)('%s', (name) => {
  const model: Published = published[name];
  const config = new Blob([JSON.stringify(model.config)]);

  it('has the published number of parameters', async () => {
    const { parameters, pipeline, valid } = await inspect({ 'config.json': config });
    expect([parameters, pipeline, valid]).toEqual([model.parameters, 'text-generation', false]); // there are no weights
  });

  it('has every tensor in its files, and no other', async () => {
    const outlines = outlinesOf(model);
    let end = 0;
    const header = outlines.map(({ name: tensor, shape }) => {
      const begin = end;
      end += 2 * elements(shape);
      return [tensor, { dtype: 'BF16', shape, data_offsets: [begin, end] }];
    });
    const text = new TextEncoder().encode(JSON.stringify(Object.fromEntries(header)));
    const start = new Uint8Array(8 + text.length);
    new DataView(start.buffer).setBigUint64(0, BigInt(text.length), true);
    start.set(text, 8);
    // A file of several gigabytes that is not there: only its header is read.
    const weights = new Blob([start]);
    Object.defineProperty(weights, 'size', { value: start.length + end });
    const found = await inspect({ 'config.json': config, 'model.safetensors': weights });
    expect([found.missing_tensors, found.unexpected_tensors]).toEqual([[], []]);
    const stored = outlines.reduce((sum, { shape }) => sum + elements(shape), 0);
    const twice = model.storedTwice ? elements(outlines[0]?.shape ?? []) : 0;
    expect([found.parameters, stored - twice]).toEqual([stored, model.parameters]);
    const large = model.parameters > 1e9;
    expect(found.fits).toBe(model.parameters > 2e9 ? 'q8' : large ? 'fp16' : 'fp32');
    const row = page
      .split('\n')
      .find((line) => line.startsWith(`| ${model.repository.replace(/.*\//, '')} | `) && / M \|/.test(line));
    const [, , ...told] = (row ?? '')
      .replaceAll(',', '')
      .split(' | ')
      .map((cell, i) => (i === 0 ? 0 : Number.parseInt(cell, 10)));
    const peaks = Object.values(found.peak ?? {}).map((peak) => peak / 1e6);
    expect(row).toContain(`\`${found.fits}\``);
    for (const [i, peak] of peaks.entries()) expect(Math.abs((told[i] ?? 0) / peak - 1)).toBeLessThan(0.02);
  });
});

const told = { model: 'smollm2-135m', cpu: 'A, 2 cores', date: '2026-11-22', expected: 165e6 } as const;
const measured = {
  ...{ load: 1.25, prefill: 200, decode: 40.04, loadedBytes: 150e6, heapBytes: 200e6, weights: 138e6, peak: 190e6 },
  ...{ simd: 'relaxed', engine: 'Node 20', machineLoad: 3, processBytes: 300e6 },
};
const inNode: SizesResult = { ...told, dtype: 'q8', where: 'node', measured };

it('the table pairs engines, and says what does not fit', () => {
  const results: SizesResult[] = [
    inNode,
    { ...inNode, where: 'chromium', measured: { ...measured, engine: 'Chromium 1', machineLoad: 7 } },
    { ...told, dtype: 'fp32', where: 'node', refused: 'no', date: '2026-11-23' },
  ];
  const lines = sizesTables(results).split('\n');
  expect(lines.slice(2, 4)).toEqual([
    '| SmolLM2-135M | fp32 | 165 | does not fit |  |  |  |  | 2026-11-23 |',
    '| SmolLM2-135M | q8 | 165 | 200 / 200 | 300 / 300 | 1.3 / 1.3 | 200 / 200 | 40.0 / 40.0 | 2026-11-22 |',
  ]);
  expect(lines.at(-1)).toContain("one thread of A, 2 cores, in Node by processor time; the machine's load was 3 to 7");
});

it('a new result replaces that of the same processor, model, dtype and engine, and no other', () => {
  const others: SizesResult[] = [
    { ...inNode, where: 'chromium' },
    { ...inNode, cpu: 'B' },
    { ...inNode, dtype: 'q4' },
    { ...inNode, model: 'qwen3-0.6b' },
  ];
  const again: SizesResult = { ...inNode, date: '2026-12-01', expected: 1 };
  const kept = [again, inNode, ...others].reduce(mergedSizes, []);
  const fresh = [inNode, ...others].reduce(mergedSizes, []);
  expect(kept).toEqual(fresh);
  expect(mergedSizes(fresh, again)).toEqual(fresh.map((each) => (each === inNode ? again : each)));
  expect(fresh.map(({ model, dtype }) => `${model} ${dtype}`)).toEqual([
    ...Array(3).fill('smollm2-135m q8'),
    'smollm2-135m q4',
    'qwen3-0.6b q8',
  ]);
  expect(sizesTables(fresh).match(/\| dtype \|/g)).toHaveLength(2); // a table for each processor
});
