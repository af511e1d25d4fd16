// Deep links of chapter 11.

import { type ActivationCache, attentionRollout, softmax, type Tensor } from 'clearformer';
import sharp from 'sharp';
import type { Library, Subject } from './subject.js';

const side = 28;
const sample = 5;
/** The order of the step: a letter for the patch at each position. */
const order = 'QebpGVoHBuEkLsSmXajgKqWRCUIcOlhdvMZiwJrADnFYTPNtf';
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

async function greys(): Promise<Uint8Array> {
  const file = './web/demo/public/models/vit-mnist/samples.png';
  const { data, info } = await sharp(file).raw().toBuffer({ resolveWithObject: true });
  return Uint8Array.from({ length: side * side }, (_, i) => {
    const [x, y] = [(i % side) + sample * side, Math.floor(i / side)];
    return data[(y * info.width + x) * info.channels] ?? 0;
  });
}

/** The index of pixel k of the patch at a position. */
const pixel = (place: number, k: number): number =>
  (Math.floor(place / 7) * 4 + Math.floor(k / 4)) * side + (place % 7) * 4 + (k % 4);

async function pixels(library: Library, change: (picture: Uint8Array) => Uint8Array = (same) => same): Promise<Tensor> {
  const processor = await library.processor();
  const picture = change(await greys());
  return (await processor({ data: picture, width: side, height: side, channels: 1 })).pixel_values;
}

async function seen(library: Library, names: string, change?: (picture: Uint8Array) => Uint8Array) {
  const model = await library.digits();
  return model.run_with_cache({ pixel_values: await pixels(library, change) }, { names_filter: names as 'hook_embed' });
}

const hook = (cache: ActivationCache, name: string): Tensor => (cache as Record<string, Tensor>)[name] as Tensor;
const numbers = (tensor: Tensor, at: readonly number[]): number[] => at.map((i) => Number(tensor.data[i]));

function without(...places: number[]) {
  return (picture: Uint8Array): Uint8Array => {
    const result = picture.slice();
    for (const place of places) for (let k = 0; k < 16; k++) result[pixel(place, k)] = 0;
    return result;
  };
}

function shuffled(picture: Uint8Array): Uint8Array {
  const result = new Uint8Array(side * side);
  Array.from(order).forEach((letter, place) => {
    for (let k = 0; k < 16; k++) result[pixel(place, k)] = picture[pixel(letters.indexOf(letter), k)] ?? 0;
  });
  return result;
}

export const subjects: readonly Subject[] = [
  {
    subject: 'Vision transformer: class scores',
    address: 'seeing?d=s5',
    source: 'softmax(logits)',
    at: [[5], [6], [0]],
    expected: async (library) => numbers(await softmax((await seen(library, 'hook_embed'))[0]), [5, 6, 0]),
  },
  {
    subject: 'Vision transformer: patches',
    address: 'seeing?step=1&p=11',
    source: 'pixel_values[0, 0, 4:8, 16:20]',
    at: [
      [0, 0],
      [1, 2],
      [3, 3],
    ],
    expected: async (library) => numbers(await pixels(library), [4 * 28 + 16, 5 * 28 + 18, 7 * 28 + 19]),
  },
  {
    subject: 'Vision transformer: patch projection',
    address: 'seeing?step=2&p=11&k=11',
    source: 'hook_embed[0, 1:, 11]',
    at: [
      [1, 4],
      [2, 3],
      [6, 6],
    ],
    expected: async (library) => {
      const [, cache] = await seen(library, 'hook_embed');
      return [11, 17, 48].map((place) => Number(hook(cache, 'hook_embed').slice(0, place + 1).data[11]));
    },
  },
  {
    subject: 'Vision transformer: class token and learned positions',
    address: 'seeing?step=3',
    source: 'hook_full_embed[0]',
    at: [
      [0, 0],
      [18, 5],
      [49, 95],
    ],
    expected: async (library) => {
      const [, cache] = await seen(library, 'hook_full_embed');
      return numbers(hook(cache, 'hook_full_embed'), [0, 18 * 96 + 5, 49 * 96 + 95]);
    },
  },
  {
    subject: 'Learned positions: likeness of places',
    address: 'seeing?step=4&p=24',
    source: 'matmul(p, pᵀ)[24]',
    at: [
      [3, 3],
      [3, 2],
      [0, 0],
    ],
    async expected(library) {
      const [, cache] = await seen(library, 'hook_pos_embed');
      const rows = [24, 23, 0].map((place) =>
        Array.from(hook(cache, 'hook_pos_embed').slice(0, place + 1).data, Number),
      );
      const dot = (one: number[], other: number[]): number => one.reduce((sum, x, i) => sum + x * (other[i] ?? 0), 0);
      const [own = []] = rows;
      return rows.map((row) => dot(own, row) / Math.sqrt(dot(own, own) * dot(row, row)));
    },
    tolerance: 2e-6, // 96 products in single precision on the page, in double here
  },
  {
    subject: 'What a head of the class token reads',
    address: 'seeing?step=5&l=3&h=1',
    source: 'blocks.3.attn.hook_pattern[0, 1, 0, 1:]',
    at: [
      [3, 2],
      [0, 0],
      [1, 5],
    ],
    expected: async (library) => {
      const [, cache] = await seen(library, 'blocks.*.attn.hook_pattern');
      return numbers(hook(cache, 'blocks.3.attn.hook_pattern').slice(0, 1, 0), [24, 1, 13]);
    },
  },
  {
    subject: 'Attention rollout',
    address: 'seeing?step=6',
    source: 'attentionRollout(cache)[3, 0, 0, 1:]',
    at: [
      [1, 5],
      [3, 2],
      [6, 6],
    ],
    expected: async (library) => {
      const [, cache] = await seen(library, 'blocks.*.attn.hook_pattern');
      return numbers(attentionRollout(cache).slice(3, 0, 0), [13, 24, 49]);
    },
  },
  {
    subject: 'Hidden patches',
    address: 'seeing?step=7&hide=11.12',
    source: 'softmax(logits)',
    at: [[5], [6], [0]],
    expected: async (library) =>
      numbers(await softmax((await seen(library, 'hook_embed', without(11, 12)))[0]), [5, 6, 0]),
  },
  {
    subject: 'Shuffled patches',
    address: `seeing?step=8&order=${order}&pos=stay`,
    source: 'softmax(logits)',
    at: [[5], [7], [0]],
    expected: async (library) => numbers(await softmax((await seen(library, 'hook_embed', shuffled))[0]), [5, 7, 0]),
  },
  {
    subject: 'The set property: shuffled patches with their positions',
    address: `seeing?step=9&order=${order}&pos=along`,
    source: 'softmax(logits)',
    at: [[5], [7], [0]],
    expected: async (library) => numbers(await softmax((await seen(library, 'hook_embed'))[0]), [5, 7, 0]),
    tolerance: 1e-6, // sums over the tokens in another order
  },
  {
    subject: 'A head of a picture silenced',
    address: 'seeing?step=5&edit=blocks.1.attn.hook_z@h5:zero',
    source: 'softmax(logits)',
    at: [[5], [6], [0]],
    async expected(library) {
      const model = await library.digits();
      const edits = [{ hook: 'blocks.1.attn.hook_z', head: 5, op: 'zero' } as const];
      const logits = await model.run_with_hooks({ pixel_values: await pixels(library) }, { edits });
      return numbers(await softmax(logits), [5, 6, 0]);
    },
  },
];
