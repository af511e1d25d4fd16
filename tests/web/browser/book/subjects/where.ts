// Deep links of chapter 3.

import { matmul, rotary, shift_matrix, sinusoidal_encoding, Tensor } from 'clearformer';
import { fixturePath, readReferences } from '../../../support/references.js';
import type { Library, Subject } from './subject.js';

/** Numbers of a committed reference of PyTorch. */
function reference(file: string, name: string): (...at: number[]) => number {
  const found = readReferences(fixturePath(file)).get(name);
  if (!(found?.data instanceof Float32Array)) throw new Error(`no reference ${name} in ${file}`);
  const { data, dims } = found;
  return (...at) => data[at.reduce((flat, index, axis) => flat * (dims[axis] ?? 0) + index, 0)] ?? Number.NaN;
}

const positions = 'positions/positions.safetensors';
const internals = 'stories260K/prompt_internals.safetensors';

/** The pair of the shift matrix for `delta`, and its product with row i. */
async function stepped(i: number, delta: number): Promise<number[]> {
  const [step, row] = [await shift_matrix(delta, 16), await sinusoidal_encoding([i], 16)];
  const block = [step.slice(2, [2, 4]), step.slice(3, [2, 4])].map(({ data }) => Array.from(data));
  const moved = await matmul(block, [[Number(row.slice(0, 2).item())], [Number(row.slice(0, 3).item())]]);
  return [...block.flat(), ...moved.data];
}

async function turnedKey(library: Library, place: number): Promise<Tensor> {
  const inputs = (await library.tokenizer())('Lily went to the park.');
  const name = 'blocks.1.attn.hook_k';
  const [, cache] = await (await library.stories()).run_with_cache(inputs, { names_filter: name });
  const key = (cache as Record<string, Tensor<'float32'>>)[name]?.slice(0, 8, 1);
  return rotary(new Tensor('float32', key?.data ?? new Float32Array(), [1, 1, 1, 8]), [place]);
}

export const subjects: readonly Subject[] = [
  {
    subject: 'Sinusoids',
    address: 'where',
    source: 'sinusoidal_encoding(48, 16)',
    at: [
      [1, 0],
      [1, 1],
      [3, 2],
      [3, 15],
    ],
    async expected() {
      const table = reference(positions, 'sinusoidal_interleaved_d16.table');
      return [table(1, 0), table(1, 1), table(3, 2), table(3, 15)];
    },
    reference: true,
    tolerance: 1.2e-7, // twice the reference's own float32_error
  },
  {
    subject: 'Sinusoids in halves',
    address: 'where?step=6',
    source: "sinusoidal_encoding(48, 16, { layout: 'halves' })",
    at: [
      [1, 0],
      [1, 8],
      [3, 9],
      [3, 15],
    ],
    async expected() {
      const table = reference(positions, 'sinusoidal_halves_d16.table');
      return [table(1, 0), table(1, 8), table(3, 9), table(3, 15)];
    },
    reference: true,
    tolerance: 1.2e-7,
  },
  {
    subject: 'Uniqueness of sinusoids: one column',
    address: 'where?step=4&d=1',
    source: 'sinusoidal_encoding(48, 1)',
    at: [
      [1, 0],
      [2, 0],
      [3, 0],
    ],
    async expected() {
      const table = reference(positions, 'sinusoidal_interleaved_d1.table');
      return [table(1, 0), table(2, 0), table(3, 0)];
    },
    reference: true,
    tolerance: 1.2e-7,
  },
  {
    subject: 'A shift is a rotation: its matrix',
    address: 'where?step=2&i=3&delta=5',
    source: 'shift_matrix(5, 16)[2:4, 2:4]',
    at: [
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ],
    expected: async () => (await stepped(3, 5)).slice(0, 4),
  },
  {
    subject: 'A shift is a rotation: where it leads',
    address: 'where?step=2&i=3&delta=5',
    source: 'matmul(shift_matrix(5, 16)[2:4, 2:4], sinusoidal_encoding(48, 16)[3][2:4])',
    at: [
      [0, 0],
      [1, 0],
      [1, 0],
    ],
    async expected() {
      const [, , , , sine = 0, cosine = 0] = await stepped(3, 5);
      return [sine, cosine, cosine];
    },
    tolerance: 1e-7, // a product of two terms may be fused in one build only
  },
  {
    subject: 'Learned positions',
    address: 'where?step=7&table=gpt-nano-sort',
    source: 'hook_pos_embed[0]',
    at: [
      [0, 0],
      [3, 17],
      [10, 47],
    ],
    async expected(library) {
      const model = await library.writer('gpt-nano-sort');
      const input_ids = [Array.from({ length: 11 }, () => 0)];
      const [, cache] = await model.run_with_cache({ input_ids }, { names_filter: 'hook_pos_embed' });
      const table = cache.hook_pos_embed;
      return [table.slice(0, 0, 0), table.slice(0, 3, 17), table.slice(0, 10, 47)].map((one) => Number(one.item()));
    },
  },
  {
    subject: 'Rotary positions: queries as PyTorch turns them',
    address: 'where?step=8&t=Once+upon+a+time&l=1&h=3&q=4&ko=3',
    source: 'rotary(blocks.1.attn.hook_q[0, 4, 3], [4])',
    at: [
      [0, 0],
      [0, 3],
      [0, 4],
      [0, 7],
    ],
    async expected() {
      const turned = reference(internals, 'blocks.1.attn.hook_rot_q');
      return [0, 3, 4, 7].map((index) => turned(0, 4, 3, index));
    },
    reference: true,
    tolerance: 1e-4, // of numbers of size 10, after a block of the model
  },
  {
    subject: 'Rotary positions: a key anywhere',
    address: 'where?step=8&ka=30',
    source: 'rotary(blocks.1.attn.hook_k[0, 8, 1], [30])',
    at: [
      [0, 0],
      [0, 3],
      [0, 7],
    ],
    async expected(library) {
      const { data } = await turnedKey(library, 30);
      return [0, 3, 7].map((index) => Number(data[index]));
    },
    tolerance: 1e-5, // the page's model runs with another SIMD build
  },
  {
    subject: 'Relative positions: ALiBi',
    address: 'where?step=9&bh=2',
    source: 'alibi_bias(8, { queries: 10, keys: 10 })[0, 2]',
    at: [
      [1, 0],
      [4, 1],
      [3, 3],
    ],
    async expected() {
      const bias = reference(positions, 'alibi_8.bias_square');
      return [bias(2, 1, 0), bias(2, 4, 1), bias(2, 3, 3)];
    },
    reference: true,
  },
];
