// The numbers exported by a figure's menu: each matrix once, named, bit for bit.

import type { Drawn } from 'clearformer/elements';
import { describe, expect, it } from 'vitest';
import { csvOf, type MenuFigure, matricesOf, npyOf, shapeText } from '../../../web/demo/shell/figure_menu/exported.js';

const figureOf = (drawn: readonly Drawn[]): MenuFigure =>
  ({ chapter: { id: 'head' }, drawn: () => drawn, code: () => ({ js: '', cpp: '' }) }) as unknown as MenuFigure;
const floats = (values: readonly number[], dims: readonly number[]) => ({ dims, data: Float32Array.from(values) });

describe('matricesOf', () => {
  it('lists what is drawn, the same matrix once, and leaves out what is not computed yet', () => {
    const numbers = floats([1, 2, 3, 4, 5, 6], [2, 3]);
    const source = 'blocks.2.attn.hook_q[0, :, 4]';
    const found = matricesOf(
      figureOf([
        { source, numbers },
        { source, numbers },
        { source: 'softmax(scores)', numbers: undefined },
      ]),
    );
    expect(found.map(({ source, file }) => [source, file])).toEqual([[source, 'head-blocks.2.attn.hook_q-0-all-4']]);
    expect(shapeText(numbers)).toBe('2×3');
  });

  it('lists what the columns are behind what is drawn', () => {
    const numbers = { dims: [2], data: Int32Array.of(7, 3) };
    const columns = () => [{ source: 'token_ids of the columns', numbers }];
    const figure = Object.assign(figureOf([{ source: 'logits[0, -1]', numbers: floats([2, 1], [1, 2]) }]), { columns });
    expect(matricesOf(figure).map(({ file }) => file)).toEqual(['head-logits-0-1', 'head-token_ids-of-the-columns']);
  });

  it('numbers files of different matrices that come from one source', () => {
    const twice = [1, 2].map((value) => ({ source: 'softmax(Q Kᵀ / √8)', numbers: floats([value], [1, 1]) }));
    expect(matricesOf(figureOf(twice)).map(({ file }) => file)).toEqual(['head-softmax-Q-K-8', 'head-softmax-Q-K-8-2']);
  });

  it('makes names without what file systems refuse', () => {
    const sources = ['../x: "a"|b?*', 'sdpa(q, { mask: causal() })[1:3]', 'ε', 'a'.repeat(300)];
    const files = matricesOf(figureOf(sources.map((source) => ({ source, numbers: floats([0], [1]) })))).map(
      ({ file }) => file,
    );
    for (const file of files) expect(file).toMatch(/^head-[\w.-]{1,102}$/);
    expect(new Set(files).size).toBe(files.length);
    expect(files[1]).toBe('head-sdpa-q-mask-causal-1to3');
  });
});

describe('files', () => {
  const hostile = [0.1, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, 1e-45];

  it('.npy holds the float32 numbers bit for bit, with dims and type', async () => {
    const numbers = floats(hostile, [2, 3]);
    const [matrix] = matricesOf(figureOf([{ source: 'x', numbers }]));
    if (!matrix) throw new Error('nothing was listed');
    const file = new Uint8Array(await npyOf(matrix).arrayBuffer());
    const header = new TextDecoder().decode(file.subarray(10, 128));
    expect(header).toContain("'descr': '<f4'");
    expect(header).toContain("'shape': (2, 3)");
    const bytes = new Uint8Array(numbers.data.buffer);
    expect(file.subarray(file.length - bytes.length)).toEqual(bytes);
  });

  it('CSV reads back as the same float32 numbers', async () => {
    const [matrix] = matricesOf(figureOf([{ source: 'x', numbers: floats(hostile, [2, 3]) }]));
    if (!matrix) throw new Error('nothing was listed');
    const values = (await csvOf(matrix).text())
      .trim()
      .split(/[\n,]/)
      .map((text) => Math.fround(Number(text.replace('inf', 'Infinity'))));
    expect(values).toEqual([...Float32Array.from(hostile)]);
  });
});
