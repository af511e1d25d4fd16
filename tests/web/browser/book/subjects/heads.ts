// Deep links of chapter 6.

import { ablateHeads, detectHeads, logitDifference, softmax } from 'clearformer';
import { fixturePath, readReferences } from '../../../support/references.js';
import type { Library, Subject } from './subject.js';

const internals = (name: string): Float32Array => {
  const found = readReferences(fixturePath('stories260K/prompt_internals.safetensors')).get(name);
  if (!(found?.data instanceof Float32Array)) throw new Error(`no reference ${name}`);
  return found.data;
};
const lily = 'Lily went to the park.';
const inputs = async (library: Library) => (await library.tokenizer())(lily);

/**
 * For "Once upon a time", five tokens: [head, query, key] of a layer of PyTorch's weights, and [pos, head, d_head] of
 * the heads' outputs.
 */
const pattern = (layer: number, head: number, row: number, key: number): number =>
  internals(`blocks.${layer}.attn.hook_pattern`)[(head * positions() + row) * positions() + key] ?? Number.NaN;
const positions = (): number => internals('blocks.0.hook_resid_pre').length / 64;
const last = (): number => positions() - 1;

export const subjects: readonly Subject[] = [
  {
    subject: 'Multi-head attention: the maps of all heads',
    address: 'heads?t=Once+upon+a+time&l=2',
    source: `blocks.2.attn.hook_pattern[0, 3, 0:${positions()}, 0:${positions()}]`,
    at: [
      [1, 0],
      [2, 1],
      [last(), 2],
      [last(), last()],
    ],
    async expected() {
      return [pattern(2, 3, 1, 0), pattern(2, 3, 2, 1), pattern(2, 3, last(), 2), pattern(2, 3, last(), last())];
    },
    reference: true,
    tolerance: 1e-5, // ten times float32_error of the reference's attentions
  },
  {
    subject: 'Multi-head attention: heads side by side',
    address: 'heads?t=Once+upon+a+time&l=2&view=join',
    source: `blocks.2.attn.hook_z[0, 0:${positions()}]`,
    at: [
      [0, 0],
      [1, 17],
      [last(), 63],
    ],
    async expected() {
      const z = internals('blocks.2.attn.hook_z');
      return [z[0] ?? 0, z[64 + 17] ?? 0, z[last() * 64 + 63] ?? 0];
    },
    reference: true,
    tolerance: 1e-5,
  },
  {
    subject: 'Output projection W_O',
    address: 'heads?t=Once+upon+a+time&l=2&view=join',
    source: `blocks.2.hook_attn_out[0, 0:${positions()}]`,
    at: [
      [0, 0],
      [1, 17],
      [last(), 63],
    ],
    async expected() {
      const out = internals('blocks.2.hook_attn_out');
      return [out[0] ?? 0, out[64 + 17] ?? 0, out[last() * 64 + 63] ?? 0];
    },
    reference: true,
    tolerance: 1e-5,
  },
  {
    subject: 'Per-head against combined projection',
    address: 'heads?t=Once+upon+a+time&l=2&view=split',
    source: 'matmul(x, model.layers.2.self_attn.q_proj.weightᵀ)',
    at: [
      [0, 0],
      [1, 17],
      [last(), 63],
    ],
    async expected() {
      const q = internals('blocks.2.attn.hook_q');
      return [q[0] ?? 0, q[64 + 17] ?? 0, q[last() * 64 + 63] ?? 0];
    },
    reference: true,
    tolerance: 1e-4, // sums of 64 products of size 5
  },
  {
    subject: 'Per-head against combined projection: eight narrow ones',
    address: 'heads?t=Once+upon+a+time&l=2&view=split',
    source: 'matmul(x, model.layers.2.self_attn.q_proj.weightᵀ[:, h])',
    at: [
      [0, 0],
      [1, 17],
      [last(), 63],
    ],
    async expected() {
      const q = internals('blocks.2.attn.hook_q');
      return [q[0] ?? 0, q[64 + 17] ?? 0, q[last() * 64 + 63] ?? 0];
    },
    reference: true,
    tolerance: 1e-4,
  },
  {
    subject: 'Edits: a head is switched off',
    address: 'heads?step=4',
    source: 'softmax(logits[0, -1])',
    at: [[0], [1], [2]],
    async expected(library) {
      const model = await library.stories();
      const edits = [{ hook: 'blocks.4.attn.hook_z', head: 2, op: 'zero' }] as const;
      const odds = await softmax(
        (await model.run_with_hooks(await inputs(library), { edits: [...edits] })).slice(0, -1),
      );
      return [...odds.data].sort((a, b) => b - a).slice(0, 3);
    },
    tolerance: 1e-6, // the page's model runs with another SIMD build
  },
  {
    subject: 'The maps of all heads of all blocks',
    address: 'heads?t=Once+upon+a+time&view=all',
    source: `blocks.*.attn.hook_pattern[0, :, 0:${positions()}, 0:${positions()}]`,
    at: [
      [0, 0, 1, 0],
      [2, 3, last(), 2],
      [4, 7, last(), last()],
    ],
    async expected() {
      return [pattern(0, 0, 1, 0), pattern(2, 3, last(), 2), pattern(4, 7, last(), last())];
    },
    reference: true,
    tolerance: 1e-5,
  },
  {
    subject: 'Head detectors',
    address: 'heads?view=find',
    source: 'detectHeads(model).scores.previous_token',
    at: [
      [3, 6],
      [1, 3],
      [0, 0],
    ],
    async expected(library) {
      const { scores } = await detectHeads(await library.stories());
      return [
        [3, 6],
        [1, 3],
        [0, 0],
      ].map(([l = 0, h = 0]) => scores.previous_token.data[l * 8 + h] ?? Number.NaN);
    },
    tolerance: 1e-5,
  },
  {
    subject: 'Ablation of every head',
    address: 'heads?view=need',
    source: "ablateHeads(model, inputs, { metric: logitDifference(338, 359), op: 'zero' }).changes",
    at: [
      [4, 2],
      [2, 4],
      [0, 0],
    ],
    async expected(library) {
      const metric = logitDifference(338, 359);
      const { changes } = await ablateHeads(await library.stories(), await inputs(library), { metric, op: 'zero' });
      return [
        [4, 2],
        [2, 4],
        [0, 0],
      ].map(([l = 0, h = 0]) => changes.data[l * 8 + h] ?? Number.NaN);
    },
    tolerance: 1e-4,
  },
];
