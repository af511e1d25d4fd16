// Loading: 100 MB of weights from a local server or the disk to the first token, against reading and copying the same
// bytes.

import type { Contender, DType, Item, Source } from '../types.js';

const make: Source = { make: 'checkpoint', model: 'gpt2-100mb' };

const contender = (starts: 'clearformer' | 'bytes', name: string, dtype: DType): Contender => ({
  name,
  role: starts === 'bytes' ? 'limit' : 'ours',
  dtype,
  ...(starts === 'clearformer' && { variant: 'simd128' }),
  make,
  spec: { kind: 'loading', starts, library: 'clearformer', threads: 1, dtype, variant: 'simd128', input: {} },
});

export const loadingItems: readonly Item[] = [
  {
    id: 'loading-100mb',
    part: 'loading',
    title: 'Loading 100 MB of float32 to the first token',
    engines: ['chromium', 'node'],
    fresh: true,
    contenders: () => [
      ...(['fp32', 'fp16', 'q8'] as const).map((dtype) =>
        contender('clearformer', `clearformer simd128 ${dtype}`, dtype),
      ),
      contender('bytes', 'limit: the bytes read and copied once', 'fp32'),
    ],
  },
];
