// The performance targets: a ratio each, of two contenders in a run. `of` and `against` select
// contenders; if several match, the fastest is used. `least` is the smallest ratio (time against / time of) that
// passes; `leastWithoutVnni` that on machines without AVX-VNNI, whose relaxed SIMD has no product of bytes in one
// instruction.

import type { DType, Engine, Identity, Setting } from '../types.js';
/** A selection of contenders. */
export interface Pick {
  role: Identity['role'];
  dtype: readonly DType[];
  variant?: string;
  peer?: string;
  captured?: string;
  threads?: number;
}

/** One side of a target. */
export interface Side extends Setting {
  item: string;
  pick: Pick;
}

export interface Bar {
  work: string;
  of: Side;
  against: Side;
  least: number;
  leastWithoutVnni?: number;
}

/** A target for all machines, or for those with and without AVX-VNNI. */
type Least = number | { vnni: number; without: number };

const at = (item: string, pick: Pick, engine: Engine = 'chromium', threads = 1): Side => ({
  item,
  engine,
  threads,
  pick,
});
const ours = (variant: string, dtype: DType): Pick => ({ role: 'ours', variant, dtype: [dtype] });
const limit = (variant: string, dtype: DType): Pick => ({ role: 'limit', variant, dtype: [dtype] });
const peer = (name: string, ...dtype: DType[]): Pick => ({ role: 'peer', peer: name, dtype });
const web = 'onnxruntime-web';

/** The label, and the item. */
type Pair = readonly [string, string];

const pairs = (...all: readonly Pair[]): readonly Pair[] => all;

/** One target per build. */
const eachBuild = (least: Readonly<Record<string, Least>>, make: (variant: string) => Omit<Bar, 'least'>): Bar[] =>
  Object.entries(least).map(([variant, value]) => ({
    ...make(variant),
    ...(typeof value === 'number' ? { least: value } : { least: value.vnni, leastWithoutVnni: value.without }),
  }));

const largeSizes = ['128x384x1536', '128x768x3072', '512x768x768', '1024x1024x1024'];
const both = (value: Least) => ({ simd128: value, relaxed: value });

/** `item` of one dtype against a contender of the same run. */
const within = (
  work: string,
  item: string,
  dtype: DType,
  least: Readonly<Record<string, Least>>,
  against: Pick | ((variant: string) => Pick),
): Bar[] =>
  eachBuild(least, (variant) => ({
    work,
    of: at(item, ours(variant, dtype)),
    against: at(item, typeof against === 'function' ? against(variant) : against),
  }));

const products = largeSizes.flatMap((size) => {
  const fp32 = `matmul-${size}-fp32`;
  const q8 = `matmul-${size}-q8`;
  return [
    ...within(`MatMul ${size} fp32`, fp32, 'fp32', { simd128: 0.9, relaxed: 0.95 }, (v) => limit(v, 'fp32')),
    ...within(`MatMul ${size} fp32`, fp32, 'fp32', both(1.6), peer(web, 'fp32')),
    ...within(`MatMul ${size} fp32`, fp32, 'fp32', both(1.25), peer('tfjs-wasm', 'fp32')),
    ...within(`MatMul ${size} q8`, q8, 'q8', { simd128: 0.9, relaxed: 0.85 }, (v) => limit(v, 'q8')),
  ];
});

const attention = [
  ...within('Attention n = 2048', 'attention-2048', 'fp32', { simd128: 1.45, relaxed: 1.6 }, peer(web, 'fp32')),
  ...within('Attention n = 2048, causal', 'attention-2048-causal', 'fp32', both(2.8), peer(web, 'fp32')),
];

const encoders = pairs(['MiniLM, 128 tokens', 'minilm-1x128'], ['MiniLM, batch 8 of 128', 'minilm-8x128']).flatMap(
  ([work, item]) => [
    ...within(`${work}, fp32`, `${item}-fp32`, 'fp32', { simd128: 1.5, relaxed: 1.6 }, peer(web, 'fp32')),
    ...within(
      `${work}, q8`,
      `${item}-q8`,
      'q8',
      { simd128: 1.25, relaxed: { vnni: 2.2, without: 1.2 } },
      peer(web, 'q8'),
    ),
  ],
);

const decode = 'gpt2-decode-128';
const decoders = [
  ...within('GPT-2, a token at 128, fp32', `${decode}-fp32`, 'fp32', both(1.1), peer(web, 'fp32')),
  ...within(
    'GPT-2, a token at 128, q8',
    `${decode}-q8`,
    'q8',
    both({ vnni: 4, without: 3 }),
    peer(web, 'fp32', 'q8', 'q4'),
  ),
  ...eachBuild(both(1), (variant) => ({
    work: 'GPT-2, a token at 128, q4 against our q8',
    of: at(`${decode}-q4`, ours(variant, 'q4')),
    against: at(`${decode}-q4`, ours(variant, 'q8')),
  })),
  ...eachBuild(both(1), (variant) => ({
    work: 'GPT-2, a token at 128, q8, against native',
    of: at(`${decode}-q8`, ours(variant, 'q8')),
    against: at(`${decode}-q8`, peer('onnxruntime-node', 'q8'), 'native'),
  })),
  ...within('GPT-2, prefill of 128, fp32', 'gpt2-prefill-128-fp32', 'fp32', both(1.5), peer(web, 'fp32')),
  ...within(
    'GPT-2, prefill of 128, q8',
    'gpt2-prefill-128-q8',
    'q8',
    { simd128: 1.2, relaxed: { vnni: 2.2, without: 1.2 } },
    peer(web, 'q8'),
  ),
];

const vision = within('ViT-B/16, fp32', 'vit-b16-fp32', 'fp32', both(1.55), peer(web, 'fp32'));

const threads = pairs(
  ['MiniLM, 128 tokens', 'minilm-1x128-fp32'],
  ['MiniLM, batch 8 of 128', 'minilm-8x128-fp32'],
  ['GPT-2, prefill of 128', 'gpt2-prefill-128-fp32'],
  ['ViT-B/16', 'vit-b16-fp32'],
).flatMap(([work, item]) => {
  const two = (variant: string): Side => at(item, ours(variant, 'fp32'), 'chromium', 2);
  return [
    ...eachBuild(both(1.8), (variant) => ({
      work: `${work}, two threads against one`,
      of: two(variant),
      against: { ...two(variant), pick: { ...ours(variant, 'fp32'), threads: 1 } },
    })),
    ...eachBuild(both(1), (variant) => ({
      work: `${work}, two threads`,
      of: two(variant),
      against: at(item, peer(web, 'fp32'), 'chromium', 2),
    })),
  ];
});

const native: Bar[] = ['avx512', 'avx2'].flatMap((target) =>
  pairs(
    ...largeSizes.map((size): Pair => [`MatMul ${size}`, `matmul-${size}`]),
    ['MiniLM, 128 tokens', 'minilm-1x128'],
    ['MiniLM, batch 8 of 128', 'minilm-8x128'],
    ['GPT-2, prefill of 128', 'gpt2-prefill-128'],
    ['GPT-2, a token at 128', decode],
  ).flatMap(([work, item]) =>
    (['fp32', 'q8'] as const).map((dtype) => ({
      work: `${work}, ${dtype}, native`,
      of: at(`${item}-${dtype}`, ours(target, dtype), 'native'),
      against: at(`${item}-${dtype}`, peer('onnxruntime-node', dtype), 'native'),
      least: 1,
    })),
  ),
);

const startup = Object.entries({ [web]: 6, 'tfjs-wasm': 1 }).map(([name, least]) => ({
  work: 'Import to first result, tiny model',
  of: at('startup', { role: 'ours', dtype: ['fp32'], variant: 'relaxed' }),
  against: at('startup', peer(name, 'fp32')),
  least,
}));

/** Captures cost at most 15 %: only patterns have a target, for which attention takes another path. */
const seeThrough = (['chromium', 'node'] as const).flatMap((engine) =>
  eachBuild(both(0.87), (variant) => ({
    work: `GPT-2, 128 tokens, all patterns captured, ${engine}`,
    of: at('see-through', { ...ours(variant, 'fp32'), captured: 'patterns' }, engine),
    against: at('see-through', ours(variant, 'fp32'), engine),
  })),
);

export const bars: readonly Bar[] = [
  ...products,
  ...attention,
  ...encoders,
  ...decoders,
  ...vision,
  ...threads,
  ...native,
  ...seeThrough,
  ...startup,
];
