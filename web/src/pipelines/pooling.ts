// Pooling: from a vector for every token to one for a text. As sentence-transformers defines it, with w = 1 for tokens of the
// text and 0 for padding:
//   cls = x_0,  max = max_t x_t,  mean = Σ w_t x_t / Σ w_t,  mean_sqrt_len_tokens = Σ w_t x_t / sqrt(Σ w_t),
//   weightedmean = Σ t w_t x_t / Σ t w_t (t from 1),  last_token = the last x_t with w_t = 1

import { ClearformerError, textOf } from '../support/error.js';
import { Tensor } from '../tensor/tensor.js';

const kinds = ['cls', 'max', 'mean', 'mean_sqrt_len_tokens', 'weightedmean', 'last_token'] as const;

/** A way to make one vector of several. */
export type PoolingMode = (typeof kinds)[number];
/** What a call takes: upstream's names, other spellings that transformers.js knows, or several to be joined. */
export type Pooling = PoolingMode | 'none' | 'first_token' | 'eos';

const spellings: Readonly<Record<string, PoolingMode>> = {
  first_token: 'cls',
  cls_token: 'cls',
  mean_tokens: 'mean',
  max_tokens: 'max',
  weightedmean_tokens: 'weightedmean',
  eos: 'last_token',
  lasttoken: 'last_token',
};

/** The modes of any spelling, in the order in which their vectors are joined; empty: none. Throws `invalid_argument`. */
export function poolingModes(given: unknown): PoolingMode[] {
  const names = Array.isArray(given) ? given : given === 'none' ? [] : [given];
  const modes = names.map((name: unknown) => {
    const mode = spellings[String(name)] ?? kinds.find((kind) => kind === name);
    if (mode !== undefined) return mode;
    const expected = ['none', ...kinds];
    throw new ClearformerError(
      'invalid_argument',
      `pooling must be one of ${expected.join(', ')}, or several of them, not ${textOf(name)}`,
      { option: 'pooling', expected },
    );
  });
  return kinds.filter((kind) => modes.includes(kind));
}

/** [batch, position, d_model] and its mask [batch, position] -> [batch, modes · d_model]. */
export function pool(
  hidden: Tensor<'float32'>,
  mask: Tensor<'int64'>,
  modes: readonly PoolingMode[],
): Tensor<'float32'> {
  const [batch = 0, length = 0, width = 0] = hidden.dims;
  const out = new Float32Array(batch * modes.length * width);
  for (let row = 0; row < batch; row++) {
    const tokens = Array.from({ length }, (_, t) => t).filter((t) => mask.data[row * length + t] !== 0n);
    modes.forEach((mode, m) => {
      const start = (row * modes.length + m) * width;
      for (let d = 0; d < width; d++) {
        out[start + d] = pooled(mode, tokens, (t) => hidden.data[(row * length + t) * width + d] as number);
      }
    });
  }
  return new Tensor('float32', out, [batch, modes.length * width]);
}

/** One element of the result; `tokens` are the positions that count. */
function pooled(mode: PoolingMode, tokens: readonly number[], at: (token: number) => number): number {
  if (mode === 'cls') return at(0);
  if (mode === 'last_token') return at(tokens.at(-1) ?? 0);
  if (mode === 'max') return tokens.reduce((most, t) => Math.max(most, at(t)), -1e9);
  const weight = (t: number) => (mode === 'weightedmean' ? t + 1 : 1);
  const sum = tokens.reduce((total, t) => total + weight(t) * at(t), 0);
  const count = tokens.reduce((total, t) => total + weight(t), 0);
  return sum / Math.max(mode === 'mean_sqrt_len_tokens' ? Math.sqrt(count) : count, 1e-9);
}

/** The same with every vector of the last axis of length 1; vectors of zeros stay. */
export function normalized(tensor: Tensor<'float32'>): Tensor<'float32'> {
  const width = tensor.dims.at(-1) ?? 1;
  const out = tensor.data.slice();
  for (let start = 0; start < out.length; start += width) {
    const vector = out.subarray(start, start + width);
    const norm = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
    vector.forEach((value, i) => {
      vector[i] = value / Math.max(norm, 1e-12);
    });
  }
  return new Tensor('float32', out, tensor.dims);
}
