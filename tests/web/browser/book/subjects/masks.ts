// Deep links of chapter 5.

import { attention_pooling, Mask, masked_softmax, scaled_dot_product_attention, Tensor } from 'clearformer';
import { fixturePath, readReferences } from '../../../support/references.js';
import type { Library, Subject } from './subject.js';

type Floats = Tensor<'float32'>;
const attn = 'blocks.2.attn.';
const places = [
  [7, 6],
  [3, 2],
  [9, 0],
] as const;

async function head(library: Library): Promise<Record<'q' | 'k' | 'v', Floats>> {
  const inputs = (await library.tokenizer())('Lily went to the park.');
  const [, cache] = await (await library.stories()).run_with_cache(inputs, { names_filter: `${attn}*` });
  const all = cache as Record<string, Floats>;
  const of = (name: string, at: number): Floats => (all[`${attn}${name}`] as Floats).slice(0, null, at);
  return { q: of('hook_rot_q', 4), k: of('hook_rot_k', 2), v: of('hook_v', 2) };
}

const numbersAt = ({ dims, data }: Floats, at: readonly (readonly number[])[]): number[] =>
  at.map((place) => data[place.reduce((flat, index, axis) => flat * (dims[axis] ?? 0) + index, 0)] ?? Number.NaN);

function weightsUnder(subject: string, address: string, call: string, mask: Mask): Subject {
  return {
    subject,
    address,
    source: `scaled_dot_product_attention(q, k, v, { mask: ${call}, need_weights: true })[1]`,
    at: places,
    async expected(library) {
      const { q, k, v } = await head(library);
      return numbersAt((await scaled_dot_product_attention(q, k, v, { mask, need_weights: true }))[1], places);
    },
    tolerance: 1e-5, // scores of size 16; relaxed SIMD may round differently from Node's build
  };
}

const causalRow = (empty: number): Tensor<'uint8'> =>
  new Tensor(
    'uint8',
    Uint8Array.from({ length: 100 }, (_, i) => (i % 10 <= Math.floor(i / 10) && Math.floor(i / 10) !== empty ? 1 : 0)),
    [10, 10],
  );

export const subjects: readonly Subject[] = [
  {
    subject: 'Causal mask',
    address: 'masks?t=Once+upon+a+time&q=4',
    source: 'scaled_dot_product_attention(q, k, v, { mask: Mask.causal(), need_weights: true })[1]',
    at: [
      [1, 0],
      [2, 1],
      [4, 3],
      [0, 4],
    ],
    async expected() {
      const found = readReferences(fixturePath('stories260K/prompt_internals.safetensors')).get(`${attn}hook_pattern`);
      const n = found?.dims.at(-1) ?? 0;
      return [
        [1, 0],
        [2, 1],
        [4, 3],
        [0, 4],
      ].map(([row = 0, key = 0]) => Number(found?.data[(4 * n + row) * n + key]));
    },
    reference: true,
    tolerance: 1.2e-5, // ten times float32_error of the reference
  },
  weightsUnder('Padding mask by valid_lens', 'masks?step=2', 'Mask.valid_lens([7])', Mask.valid_lens([7])),
  weightsUnder(
    'Padding and causal mask',
    'masks?step=3',
    'Mask.causal().and(Mask.valid_lens([7]))',
    Mask.causal().and(Mask.valid_lens([7])),
  ),
  {
    subject: 'The mask as numbers that are added',
    address: 'masks?step=3',
    source:
      "scaled_dot_product_attention(0, 0, 0, { mask: Mask.causal().and(Mask.valid_lens([7])), need_scores: 'masked' })[1]",
    at: [
      [0, 0],
      [0, 1],
      [9, 6],
      [9, 7],
    ],
    expected: async () => [0, Number.NEGATIVE_INFINITY, 0, Number.NEGATIVE_INFINITY],
  },
  {
    subject: 'A row that sees nothing: zeros',
    address: 'masks?step=5',
    source: 'scaled_dot_product_attention(q, k, v, { mask: Mask.allow(rows) }), weights[7]',
    at: [
      [0, 0],
      [0, 5],
      [0, 9],
    ],
    async expected(library) {
      const { q, k, v } = await head(library);
      const [, weights] = await scaled_dot_product_attention(q, k, v, {
        mask: Mask.allow(causalRow(7)),
        need_weights: true,
      });
      return numbersAt(weights, [
        [7, 0],
        [7, 5],
        [7, 9],
      ]);
    },
  },
  {
    subject: 'A row that sees nothing: equal weights',
    address: 'masks?step=5',
    source: "attention_pooling(q, k, v, { mask: Mask.allow(rows), empty_row: 'uniform' }), output[7]",
    at: [
      [0, 0],
      [0, 3],
      [0, 7],
    ],
    async expected(library) {
      const { q, k, v } = await head(library);
      const output = await attention_pooling(q, k, v, { mask: Mask.allow(causalRow(7)), empty_row: 'uniform' });
      return numbersAt(output, [
        [7, 0],
        [7, 3],
        [7, 7],
      ]);
    },
    tolerance: 1e-6,
  },
  {
    subject: 'A row that sees nothing: NaN',
    address: 'masks?step=5',
    source: 'softmax(s − max s), weights[7]',
    at: [
      [0, 0],
      [0, 5],
      [0, 9],
    ],
    expected: async () => [Number.NaN, Number.NaN, Number.NaN],
  },
  {
    subject: 'The mistake of multiplying by the mask',
    address: 'masks?step=6',
    source: 'softmax(M ⊙ S)',
    at: [
      [1, 0],
      [7, 6],
      [9, 0],
    ],
    async expected(library) {
      const { q, k, v } = await head(library);
      const [, weights] = await scaled_dot_product_attention(q, k, v, { is_causal: true, need_weights: true });
      return [Number.NaN, Number.NaN, ...numbersAt(weights, [[9, 0]])]; // the last row masks nothing
    },
    tolerance: 1e-5,
  },
  {
    subject: 'Added as it should be',
    address: 'masks?step=6',
    source: 'masked_softmax(S, Mask.causal())',
    at: places,
    async expected(library) {
      const { q, k, v } = await head(library);
      const [, scores] = await scaled_dot_product_attention(q, k, v, { need_scores: 'raw' });
      const weights = await masked_softmax([scores.tolist() as number[][]], Mask.causal());
      return numbersAt(
        weights,
        places.map((place) => [0, ...place]),
      );
    },
    tolerance: 1e-5,
  },
  {
    subject: 'Polarity: what PyTorch’s MultiheadAttention wants',
    address: 'masks?step=7',
    source: '(attn_mask) of Mask.ignore(attn_mask)',
    at: [
      [0, 0],
      [3, 6],
      [9, 7],
    ],
    expected: async () => [0, 0, 1],
  },
];
