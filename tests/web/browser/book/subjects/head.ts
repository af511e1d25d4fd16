// Deep links of chapter 4. "Once upon a time" is the prompt of PyTorch's references of stories260K.

import { attention_pooling, bmm, rms_norm, scaled_dot_product_attention, type Tensor } from 'clearformer';
import { normal } from '../../../../../web/demo/book/random.js';
import { fixturePath, readReferences } from '../../../support/references.js';
import type { Library, Subject } from './subject.js';

type Floats = Tensor<'float32'>;
const [layer, head, kvHead] = [2, 4, 2];
const prompt = 'head?t=Once+upon+a+time&q=4';
const attn = `blocks.${layer}.attn.`;

interface Found {
  readonly dims: readonly number[];
  readonly data: Float32Array;
}

function reference(file: string, name: string): Found {
  const found = readReferences(fixturePath(file)).get(name);
  if (!(found?.data instanceof Float32Array)) throw new Error(`no reference ${name}`);
  return { dims: found.dims, data: found.data };
}

function valueAt({ dims, data }: Found, place: readonly number[]): number {
  const inner = dims.slice(dims.length - place.length);
  return data[place.reduce((flat, index, axis) => flat * (inner[axis] ?? 0) + index, 0)] ?? Number.NaN;
}

const internals = (hook: string): Found => reference('stories260K/prompt_internals.safetensors', hook);

/** The numbers of one head from [.., position, head, d] or [.., head, query, key]. */
const ofHead = (hook: string, h: number, at: readonly (readonly [number, number])[]): number[] => {
  const scores = /attn_scores|pattern/.test(hook);
  return at.map(([row, column]) => valueAt(internals(hook), scores ? [h, row, column] : [row, h, column]));
};

const places = [
  [0, 0],
  [2, 1],
  [4, 3],
] as const;

function pytorch(subject: string, step: number, hook: string, source: string, tolerance: number, h = head): Subject {
  return {
    subject,
    address: `${prompt}&step=${step}`,
    source,
    at: places,
    expected: async () => ofHead(hook, h, places),
    reference: true,
    tolerance, // ten times float32_error of the reference
  };
}

async function activations(library: Library, hook: string): Promise<Floats> {
  const inputs = (await library.tokenizer())('Lily went to the park.');
  const [, cache] = await (await library.stories()).run_with_cache(inputs, { names_filter: `${attn}${hook}` as never });
  return (cache as Record<string, Floats>)[`${attn}${hook}`] as Floats;
}

const numbersAt = ({ dims, data }: Floats, at: readonly (readonly number[])[]): number[] =>
  at.map((place) => valueAt({ dims, data }, place));

async function scored(library: Library, norm: boolean): Promise<number[]> {
  const q = (await activations(library, 'hook_rot_q')).slice(0, null, head);
  const k = (await activations(library, 'hook_rot_k')).slice(0, null, kvHead);
  const keys = norm ? await rms_norm(k, 8, { eps: 0 }) : k;
  const [, weights] = await attention_pooling(q, keys, k, {
    score: 'distance',
    sigma: 8 ** 0.25,
    is_causal: true,
    need_weights: true,
  });
  return numbersAt(weights, [
    [7, 6],
    [3, 2],
    [9, 9],
  ]);
}

const [q7, k5] = ['n7_m5_d5_dv3.query', 'n7_m5_d5_dv3.key'];
const small = (name: string): Found => reference('scaled_dot_product_attention/small.safetensors', name);

/** The first matrix of a reference in the address's form. */
function ownText(name: string): string {
  const { dims, data } = small(name);
  const [rows = 0, columns = 0] = dims.slice(-2);
  return Array.from({ length: rows }, (_, r) =>
    Array.from(data.slice(r * columns, (r + 1) * columns), String).join('+'),
  ).join(';');
}

const own = `head?qkv=${[q7, k5, 'n7_m5_d5_dv3.value'].map(ownText).join('|')}&causal=0&at=A`;
const firstOf = (name: string, at: readonly (readonly [number, number])[]): number[] =>
  at.map((place) => valueAt(firstMatrix(small(name)), place));
const firstMatrix = ({ dims, data }: Found): Found => {
  const inner = dims.slice(-2);
  return { dims: inner, data: data.slice(0, (inner[0] ?? 0) * (inner[1] ?? 0)) };
};

export const subjects: readonly Subject[] = [
  pytorch(
    'Queries of one head, turned for their place',
    0,
    `${attn}hook_rot_q`,
    `${attn}hook_rot_q[0, :, ${head}]`,
    2.1e-5,
  ),
  pytorch('Keys of one head', 0, `${attn}hook_rot_k`, `${attn}hook_rot_k[0, :, ${kvHead}]`, 3.4e-5, kvHead),
  pytorch('Values of one head', 0, `${attn}hook_v`, `${attn}hook_v[0, :, ${kvHead}]`, 4.5e-6, kvHead),
  pytorch('Scaled dot products', 2, `${attn}hook_attn_scores_raw`, `${attn}hook_attn_scores_raw[0, ${head}]`, 1.5e-4),
  pytorch('Masked scores', 5, `${attn}hook_attn_scores`, `${attn}hook_attn_scores[0, ${head}]`, 1.5e-4),
  pytorch('Attention weights of one head', 5, `${attn}hook_pattern`, `${attn}hook_pattern[0, ${head}]`, 1.2e-5),
  pytorch('What a head writes', 6, `${attn}hook_z`, `${attn}hook_z[0, :, ${head}]`, 8.7e-6),
  {
    subject: 'Scaled dot-product attention of own Q, K and V',
    address: own,
    source: 'scaled_dot_product_attention(Q, K, V, { need_weights: true })[1]',
    at: [
      [0, 0],
      [3, 4],
      [6, 2],
    ],
    expected: async () =>
      firstOf('n7_m5_d5_dv3.weights', [
        [0, 0],
        [3, 4],
        [6, 2],
      ]),
    reference: true,
    tolerance: 1e-6, // weights of five keys in float32
  },
  {
    subject: 'The output of own Q, K and V',
    address: own,
    source: 'scaled_dot_product_attention(Q, K, V)',
    at: [
      [0, 0],
      [3, 1],
      [6, 2],
    ],
    expected: async () =>
      firstOf('n7_m5_d5_dv3.output', [
        [0, 0],
        [3, 1],
        [6, 2],
      ]),
    reference: true,
    tolerance: 4e-6, // values of size 3, five terms
  },
  {
    subject: 'Why √d: softmax of random products saturates',
    address: 'head?step=3&d=256',
    source: "attention_pooling(q, k, v, { score: 'dot', need_weights: true })[1], q, k ~ N(0, 1), d = 256",
    at: [
      [0, 0],
      [3, 7],
      [7, 11],
    ],
    async expected() {
      const [q, k] = [normal(64, 256, 256).slice([0, 8]), normal(64, 256, 257).slice([0, 12])];
      const [, weights] = await attention_pooling(q, k, k, { score: 'dot', need_weights: true });
      return numbersAt(weights, [
        [0, 0],
        [3, 7],
        [7, 11],
      ]);
    },
    tolerance: 1e-6, // relaxed SIMD may round differently from Node's build
  },
  {
    subject: 'Why √d: divided, it does not',
    address: 'head?step=3&d=256',
    source: 'scaled_dot_product_attention(q, k, v, { need_weights: true })[1], q, k ~ N(0, 1), d = 256',
    at: [
      [0, 0],
      [3, 7],
      [7, 11],
    ],
    async expected() {
      const [q, k] = [normal(64, 256, 256).slice([0, 8]), normal(64, 256, 257).slice([0, 12])];
      const [, weights] = await scaled_dot_product_attention(q, k, k, { need_weights: true });
      return numbersAt(weights, [
        [0, 0],
        [3, 7],
        [7, 11],
      ]);
    },
    tolerance: 1e-6,
  },
  {
    subject: 'Distance scores',
    address: 'head?step=8',
    source: `attention_pooling(${attn}hook_rot_q[0, :, ${head}], ${attn}hook_rot_k[0, :, ${kvHead}], v, { score: 'distance', sigma: ⁴√8 })[0:10, 0:10]`,
    at: [
      [7, 6],
      [3, 2],
      [9, 9],
    ],
    expected: (library) => scored(library, false),
    tolerance: 1e-5, // scores of size 40
  },
  {
    subject: 'Distance is the product where keys have one length',
    address: 'head?step=8&norm=1',
    source: `attention_pooling(${attn}hook_rot_q[0, :, ${head}], rms_norm(${attn}hook_rot_k[0, :, ${kvHead}], 8), v, { score: 'dot', scale: 1 / √8 })[0:10, 0:10]`,
    at: [
      [7, 6],
      [3, 2],
      [9, 9],
    ],
    expected: (library) => scored(library, true),
    tolerance: 1e-5,
  },
  {
    subject: 'Batch matrix product (bmm)',
    address: 'head?step=9&b=5',
    source: 'bmm(Q, Kᵀ)[5] of 10 rows',
    at: [
      [0, 0],
      [7, 6],
      [9, 9],
    ],
    async expected(library) {
      const q = (await activations(library, 'hook_rot_q')).slice(0, null, 5);
      const k = (await activations(library, 'hook_rot_k')).slice(0, null, 2);
      const rows = k.tolist() as number[][];
      const turned = [Array.from({ length: 8 }, (_, d) => rows.map((row) => row[d] ?? 0))];
      return numbersAt(await bmm([q.tolist() as number[][]], turned), [
        [0, 0, 0],
        [0, 7, 6],
        [0, 9, 9],
      ]);
    },
    tolerance: 1e-5, // products of size 40
  },
  {
    subject: 'Editing a number of K by a link',
    address: `head?step=7&edit=${attn}hook_rot_k@h${kvHead}@p1@i7:set=-6`,
    source: `${attn}hook_pattern[0, ${head}]`,
    at: [
      [7, 1],
      [7, 6],
      [9, 0],
    ],
    async expected(library) {
      const row = Array.from((await activations(library, 'hook_rot_k')).slice(0, 1, kvHead).data);
      row[7] = -6;
      const inputs = (await library.tokenizer())('Lily went to the park.');
      const edits = [{ hook: `${attn}hook_rot_k` as never, head: kvHead, pos: 1, op: 'replace', value: row }] as const;
      const [, cache] = await (await library.stories()).run_with_cache(inputs, {
        names_filter: `${attn}hook_pattern` as never,
        edits,
      });
      const pattern = ((cache as Record<string, Floats>)[`${attn}hook_pattern`] as Floats).slice(0, head);
      return numbersAt(pattern, [
        [7, 1],
        [7, 6],
        [9, 0],
      ]);
    },
    tolerance: 1e-5,
  },
];
