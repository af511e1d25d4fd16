// Random weights of a model in a neutral form, from which the checkpoint and the peers' graphs are written:
// matrices (in, out) row-major, with q, k and v concatenated.

import type { Shape } from '../types.js';
import { RandomNumbers } from './random.js';

const deviation = 0.02; // transformers' initialisation

export interface Norm {
  gamma: Float32Array;
  beta: Float32Array;
}

export interface Dense {
  weight: Float32Array;
  bias: Float32Array;
}

export interface Layer {
  qkv: Dense;
  mix: Dense;
  norm1: Norm;
  up: Dense;
  down: Dense;
  norm2: Norm;
}

/** Those that a family does not have are empty. */
export interface Embeddings {
  tokens: Float32Array;
  positions: Float32Array;
  types: Float32Array;
  patch: Dense;
  cls: Float32Array;
  classifier: Dense;
}

export interface Weights {
  embeddings: Embeddings;
  layers: Layer[];
  norm: Norm;
  pooler: Dense;
}

function layer(numbers: RandomNumbers, { d, hidden }: Shape): Layer {
  const norm = (): Norm => ({ gamma: numbers.array(d, 0.05, 1), beta: numbers.array(d, deviation) });
  return {
    qkv: { weight: numbers.array(d * 3 * d, 2 * deviation), bias: numbers.array(3 * d, deviation) },
    mix: { weight: numbers.array(d * d, deviation), bias: numbers.array(d, deviation) },
    norm1: norm(),
    up: { weight: numbers.array(d * hidden, deviation), bias: numbers.array(hidden, deviation) },
    down: { weight: numbers.array(hidden * d, deviation), bias: numbers.array(d, deviation) },
    norm2: norm(),
  };
}

const empty = new Float32Array(0);
const noDense: Dense = { weight: empty, bias: empty };

/** The weights of `shape`; the same for the same shape. */
export function randomWeights(shape: Shape): Weights {
  const numbers = new RandomNumbers(5 + shape.layers * 131 + shape.d);
  const { d, family } = shape;
  const embeddings: Embeddings = {
    ...{ tokens: empty, positions: empty, types: empty, cls: empty },
    patch: noDense,
    classifier: noDense,
  };
  if (family === 'vit') {
    const grid = (shape.image / shape.patch) ** 2;
    embeddings.patch = {
      weight: numbers.array(d * 3 * shape.patch ** 2, deviation),
      bias: numbers.array(d, deviation),
    };
    embeddings.cls = numbers.array(d, deviation);
    embeddings.positions = numbers.array((grid + 1) * d, deviation);
    embeddings.classifier = {
      weight: numbers.array(d * shape.labels, deviation),
      bias: numbers.array(shape.labels, 1),
    };
  } else {
    embeddings.tokens = numbers.array(shape.vocabulary * d, deviation);
    embeddings.positions = numbers.array(shape.positions * d, deviation);
  }
  if (family === 'bert') embeddings.types = numbers.array(2 * d, deviation);
  const layers = Array.from({ length: shape.layers }, () => layer(numbers, shape));
  const norm = { gamma: numbers.array(d, 0.05, 1), beta: numbers.array(d, deviation) };
  const pooler = { weight: numbers.array(d * d, deviation), bias: numbers.array(d, deviation) };
  return { embeddings, layers, norm, pooler };
}
