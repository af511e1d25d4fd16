// Start-up: from import to the first result of a tiny language model, in a page of a new context each time.

import { shapes } from '../models/shapes.js';
import type { Contender, Item, Source } from '../types.js';

const bundledModel = 'web/demo/public/models/stories260K';
const tinyModel = 'gpt2-tiny';

const own = (name: string, variant: string, source: Pick<Contender, 'make' | 'path'>): Contender => ({
  name: `clearformer ${variant} ${name}`,
  role: 'ours',
  dtype: 'fp32',
  variant,
  ...source,
  spec: { kind: 'startup', starts: 'clearformer', library: 'clearformer', threads: 1, variant, input: {} },
});

const contenders = (): Contender[] => {
  const shape = shapes[tinyModel];
  const tiny: { make: Source } = { make: { make: 'checkpoint', model: tinyModel } };
  return [
    own('stories260K', 'simd128', { path: bundledModel }),
    own('stories260K', 'relaxed', { path: bundledModel }),
    own(tinyModel, 'relaxed', tiny),
    {
      name: `onnxruntime-web ${tinyModel}`,
      role: 'peer',
      peer: 'onnxruntime-web',
      dtype: 'fp32',
      make: { make: 'model', model: tinyModel, precision: 'fp32' },
      spec: { kind: 'startup', starts: 'onnxruntime', library: 'onnxruntime', threads: 1, shape, input: {} },
    },
    {
      name: `tfjs-wasm ${tinyModel}`,
      role: 'peer',
      peer: 'tfjs-wasm',
      dtype: 'fp32',
      spec: { kind: 'startup', starts: 'tensorflow', library: 'tensorflow', threads: 1, shape, input: {} },
    },
  ];
};

export const startupItems: readonly Item[] = [
  {
    id: 'startup',
    part: 'startup',
    title: 'Import to first result, tiny model',
    engines: ['chromium'],
    fresh: true,
    contenders,
  },
];
