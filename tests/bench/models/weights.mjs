// Random weights of a model in one neutral form, from which the checkpoint and the peers' graphs are written:
// matrices (in, out) in rows, q, k and v side by side.
import { RandomNumbers } from './random.mjs';

const DEVIATION = 0.02; // as transformers initialises

function layer(numbers, { d, hidden }) {
  const norm = () => ({ gamma: numbers.array(d, 0.05, 1), beta: numbers.array(d, DEVIATION) });
  return {
    qkv: { weight: numbers.array(d * 3 * d, 2 * DEVIATION), bias: numbers.array(3 * d, DEVIATION) },
    mix: { weight: numbers.array(d * d, DEVIATION), bias: numbers.array(d, DEVIATION) },
    norm1: norm(),
    up: { weight: numbers.array(d * hidden, DEVIATION), bias: numbers.array(hidden, DEVIATION) },
    down: { weight: numbers.array(hidden * d, DEVIATION), bias: numbers.array(d, DEVIATION) },
    norm2: norm(),
  };
}

/** { embeddings, layers, norm } of `shape`; the same for the same shape. */
export function randomWeights(shape) {
  const numbers = new RandomNumbers(5 + shape.layers * 131 + shape.d);
  const { d, family } = shape;
  const embeddings = {};
  if (family === 'vit') {
    const grid = (shape.image / shape.patch) ** 2;
    embeddings.patch = {
      weight: numbers.array(d * 3 * shape.patch ** 2, DEVIATION),
      bias: numbers.array(d, DEVIATION),
    };
    embeddings.cls = numbers.array(d, DEVIATION);
    embeddings.positions = numbers.array((grid + 1) * d, DEVIATION);
    embeddings.classifier = {
      weight: numbers.array(d * shape.labels, DEVIATION),
      bias: numbers.array(shape.labels, 1),
    };
  } else {
    embeddings.tokens = numbers.array(shape.vocabulary * d, DEVIATION);
    embeddings.positions = numbers.array(shape.positions * d, DEVIATION);
  }
  if (family === 'bert') embeddings.types = numbers.array(2 * d, DEVIATION);
  const layers = Array.from({ length: shape.layers }, () => layer(numbers, shape));
  const norm = { gamma: numbers.array(d, 0.05, 1), beta: numbers.array(d, DEVIATION) };
  const pooler = { weight: numbers.array(d * d, DEVIATION), bias: numbers.array(d, DEVIATION) };
  return { embeddings, layers, norm, pooler };
}
