// Start-up: from import to the first result of a tiny language model, in a page of a fresh context each time.
import { SHAPES } from '../models/shapes.mjs';

const BUNDLED = 'web/demo/public/models/stories260K';
const TINY = 'gpt2-tiny';

const own = (name, variant, source) => ({
  name: `clearformer ${variant} ${name}`,
  role: 'ours',
  dtype: 'fp32',
  variant,
  ...source,
  spec: { kind: 'startup', starts: 'clearformer', library: 'clearformer', variant },
});

const contenders = () => {
  const shape = SHAPES[TINY];
  const tiny = { make: { make: 'checkpoint', model: TINY } };
  return [
    own('stories260K', 'simd128', { path: BUNDLED }),
    own('stories260K', 'relaxed', { path: BUNDLED }),
    own(TINY, 'relaxed', tiny),
    {
      name: `onnxruntime-web ${TINY}`,
      role: 'peer',
      peer: 'onnxruntime-web',
      dtype: 'fp32',
      make: { make: 'model', model: TINY, precision: 'fp32' },
      spec: { kind: 'startup', starts: 'onnxruntime', library: 'onnxruntime', shape },
    },
    {
      name: `tfjs-wasm ${TINY}`,
      role: 'peer',
      peer: 'tfjs-wasm',
      dtype: 'fp32',
      spec: { kind: 'startup', starts: 'tensorflow', library: 'tensorflow', shape },
    },
  ];
};

export const startupItems = [
  {
    id: 'startup',
    part: 'startup',
    title: 'Import to first result, tiny model',
    engines: ['chromium'],
    fresh: true,
    contenders,
  },
];
