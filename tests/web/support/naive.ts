// Naive twins (reference implementations) of the functions, in double and plain loops. They throw Invalid for invalid
// arguments.

export interface Numbers {
  dims: readonly number[];
  data: readonly number[];
}

/** The terms of a mask, as recorded by the misuse test. */
export type NaiveMask =
  | { kind: 'causal'; past: number }
  | { kind: 'allow' | 'ignore' | 'additive' | 'valid_lens'; values: Numbers };

export class Invalid extends Error {}

export function need(condition: boolean, rule: string): void {
  if (!condition) throw new Invalid(rule);
}

const product = (dims: readonly number[]) => dims.reduce((all, extent) => all * extent, 1);
const back = ({ dims }: Numbers, axis: number) => dims[dims.length - 1 - axis] ?? 1;

function softmaxRow(row: number[], empty: 'zeros' | 'uniform'): number[] {
  const top = Math.max(...row);
  if (top === Number.NEGATIVE_INFINITY) return row.map(() => (empty === 'uniform' ? 1 / row.length : 0));
  const powers = row.map((score) => Math.exp(score - top));
  const sum = powers.reduce((all, power) => all + power, 0);
  return powers.map((power) => power / sum);
}

export function softmax({ dims, data }: Numbers, dim: number): Numbers {
  const axis = dim < 0 ? dim + dims.length : dim;
  need(Number.isInteger(dim) && axis >= 0 && axis < dims.length, 'an axis of the input');
  const [length, inner] = [dims[axis] as number, product(dims.slice(axis + 1))];
  const result = [...data];
  for (let i = 0; i < data.length; i++) {
    if (Math.floor(i / inner) % length !== 0) continue;
    const row = Array.from({ length }, (_, j) => data[i + j * inner] as number);
    softmaxRow(row, 'zeros').forEach((weight, j) => {
      result[i + j * inner] = weight;
    });
  }
  return { dims, data: result };
}

export function matmul(x: Numbers, y: Numbers): Numbers {
  need(x.dims.length >= 1 && y.dims.length === 2 && back(x, 0) === y.dims[0], 'inner sizes are equal');
  const [k, m] = y.dims as [number, number];
  const rows = product(x.dims.slice(0, -1));
  const data = Array.from({ length: rows * m }, (_, i) => {
    let sum = 0;
    for (let j = 0; j < k; j++)
      sum += (x.data[Math.floor(i / m) * k + j] as number) * (y.data[j * m + (i % m)] as number);
    return sum;
  });
  return { dims: [...x.dims.slice(0, -1), m], data };
}

export function bmm(x: Numbers, y: Numbers): Numbers {
  need(
    x.dims.length === 3 && y.dims.length === 3 && x.dims[0] === y.dims[0] && x.dims[2] === y.dims[1],
    '[b, n, k] and [b, k, m]',
  );
  const [batch, n, k] = x.dims as [number, number, number];
  const m = y.dims[2] as number;
  const one = (b: number) =>
    matmul(
      { dims: [n, k], data: x.data.slice(b * n * k, (b + 1) * n * k) },
      { dims: [k, m], data: y.data.slice(b * k * m, (b + 1) * k * m) },
    ).data;
  return { dims: [batch, n, m], data: Array.from({ length: batch }, (_, b) => one(b)).flat() };
}

/** x Wᵀ + b, weight [out, in]. */
export function linear(x: Numbers, weight: Numbers, bias: Numbers | undefined): Numbers {
  const [outputs, inputs] = weight.dims as [number, number];
  const transposed = Array.from(
    { length: inputs * outputs },
    (_, i) => weight.data[(i % outputs) * inputs + Math.floor(i / outputs)] as number,
  );
  const { dims, data } = matmul(x, { dims: [inputs, outputs], data: transposed });
  return { dims, data: data.map((value, i) => value + (bias?.data[i % outputs] ?? 0)) };
}

export interface NormSettings {
  kind: 'layer' | 'rms';
  eps: number;
  weight?: Numbers | undefined;
  bias?: Numbers | undefined;
}

export function norm(x: Numbers, shape: readonly number[], { kind, eps, weight, bias }: NormSettings): Numbers {
  const same = (dims: readonly number[]) => String(dims) === String(shape);
  need(shape.length > 0 && same(x.dims.slice(-shape.length)), 'the last axes are normalized_shape');
  need((!weight || same(weight.dims)) && (!bias || same(bias.dims)), 'weight and bias have normalized_shape');
  need(eps >= 0 && eps < 3e38, 'eps is a number from 0');
  const width = product(shape);
  const data: number[] = [];
  for (let at = 0; at < x.data.length; at += width) {
    const row = x.data.slice(at, at + width);
    const mean = kind === 'layer' ? row.reduce((sum, value) => sum + value, 0) / width : 0;
    const scale = Math.sqrt(row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / width + Math.fround(eps));
    row.forEach((value, i) => {
      const normalized = value === mean ? 0 : (value - mean) / scale;
      data.push(normalized * (weight?.data[i] ?? 1) + (bias?.data[i] ?? 0));
    });
  }
  return { dims: x.dims, data };
}

export interface AttentionSettings {
  /** Of two vectors; without scale and softcap. */
  score: (q: readonly number[], k: readonly number[]) => number;
  scale: number;
  softcap?: number | undefined;
  masks: readonly NaiveMask[];
  grouped: boolean;
  empty: 'zeros' | 'uniform';
}

/** Operands as [outer…, head, rows, width]; with fewer than four axes there is one head. */
function lifted({ dims, data }: Numbers, rank: number): Numbers {
  const inner = rank > 3 ? dims : [...dims.slice(0, -2), 1, ...dims.slice(-2)];
  const missing = Math.max(rank, rank > 3 ? 0 : rank + 1) - inner.length;
  return { dims: [...Array.from({ length: missing }, () => 1), ...inner], data };
}

function broadcast(...shapes: (readonly number[])[]): number[] {
  return (shapes[0] as readonly number[]).map((_, axis) => {
    const extents = shapes.map((shape) => shape[axis] as number).filter((extent) => extent !== 1);
    need(new Set(extents).size <= 1, 'axes broadcast');
    return extents[0] ?? 1;
  });
}

/** The offset of the element that broadcasts to `index`, both aligned to the last axis. */
function offset(dims: readonly number[], index: readonly number[]): number {
  let [at, stride] = [0, 1];
  for (let axis = 1; axis <= dims.length; axis++) {
    const extent = dims[dims.length - axis] as number;
    if (extent !== 1) at += (index[index.length - axis] as number) * stride;
    stride *= extent;
  }
  return at;
}

function unfolded(flat: number, dims: readonly number[]): number[] {
  const index: number[] = [];
  for (let axis = dims.length - 1, rest = flat; axis >= 0; axis--) {
    const extent = dims[axis] as number;
    index[axis] = rest % extent;
    rest = Math.floor(rest / extent);
  }
  return index;
}

/**
 * A mask that fits scores [outer…, head, query, key], as a function of their index; `headless` scores had no head axis.
 */
function maskAt(
  mask: NaiveMask,
  full: readonly number[],
  headless: boolean,
): (index: readonly number[], score: number) => number {
  const hidden = Number.NEGATIVE_INFINITY;
  const [queries, outer] = [full.at(-2) as number, full.slice(0, -3)];
  if (mask.kind === 'causal')
    return (index, score) => ((index.at(-1) as number) > (index.at(-2) as number) + mask.past ? hidden : score);
  const { values } = mask;
  if (mask.kind === 'valid_lens') {
    const perQuery = values.dims.length === 2;
    need(
      values.dims[0] === product(outer) && (!perQuery || values.dims[1] === queries),
      'valid_lens are [batch] or [batch, query]',
    );
    return (index, score) => {
      const batch = offset(outer, index.slice(0, -3));
      const length = values.data[perQuery ? batch * queries + (index.at(-2) as number) : batch] as number;
      return (index.at(-1) as number) >= length ? hidden : score;
    };
  }
  const dims = headless && values.dims.length === 3 ? lifted(values, 3).dims : values.dims;
  const axes = Math.max(full.length, 4);
  need(dims.length <= axes, 'a mask has no more axes than the scores');
  const extents = [...Array.from({ length: axes - full.length }, () => 1), ...full];
  need(
    dims.every((extent, axis) => extent === 1 || extent === extents[axes - dims.length + axis]),
    'a mask broadcasts to the scores',
  );
  return (index, score) => {
    const value = values.data[
      offset(dims, [...Array.from({ length: axes - full.length }, () => 0), ...index])
    ] as number;
    if (mask.kind === 'additive') return score + value;
    return (value !== 0) === (mask.kind === 'allow') ? score : hidden;
  };
}

export function attention(
  query: Numbers,
  key: Numbers,
  value: Numbers,
  settings: AttentionSettings,
): { output: Numbers; weights: Numbers; masked: Numbers } {
  const operands = [query, key, value];
  need(
    operands.every(({ dims }) => dims.length >= 2),
    'operands have rows and features',
  );
  const rank = Math.max(...operands.map(({ dims }) => dims.length));
  const [q, k, v] = operands.map((operand) => lifted(operand, rank)) as [Numbers, Numbers, Numbers];
  need(back(k, 1) === back(v, 1), 'as many values as keys');
  const outer = broadcast(...[q, k, v].map(({ dims }) => dims.slice(0, -3)));
  const [groups] = broadcast([back(k, 2)], [back(v, 2)]) as [number];
  const heads = settings.grouped ? back(q, 2) : (broadcast([back(q, 2)], [groups])[0] as number);
  if (settings.grouped) need(groups > 0 && heads % groups === 0, 'query heads are a multiple of key heads');
  const full = [...outer, heads, back(q, 1), back(k, 1)];
  const masks = settings.masks.map((mask) => maskAt(mask, full, rank <= 3));
  const row = (x: Numbers, index: readonly number[], at: number) => {
    const head =
      x === q
        ? (index.at(-1) as number)
        : Math.floor((index.at(-1) as number) / (settings.grouped ? heads / groups : 1));
    const first = offset(x.dims, [...index.slice(0, -1), head, at, 0]);
    return x.data.slice(first, first + back(x, 0));
  };
  const scores = Array.from({ length: product(full) }, (_, i) => {
    const index = unfolded(i, full);
    const lead = index.slice(0, -2);
    let score =
      settings.score(row(q, lead, index.at(-2) as number), row(k, lead, index.at(-1) as number)) * settings.scale;
    if (settings.softcap) score = settings.softcap * Math.tanh(score / settings.softcap);
    return masks.reduce((all, mask) => mask(index, all), score);
  });
  const [keys, width] = [back(k, 1), back(v, 0)];
  const weights: number[] = [];
  for (let at = 0; keys > 0 && at < scores.length; at += keys)
    weights.push(...softmaxRow(scores.slice(at, at + keys), settings.empty));
  const lead = rank > 3 ? [...outer, heads] : outer;
  const rows = product(full.slice(0, -1));
  const output = Array.from({ length: rows * width }, (_, i) => {
    const index = unfolded(Math.floor(i / width), full.slice(0, -1));
    let sum = 0;
    for (let s = 0; s < keys; s++)
      sum +=
        (weights[Math.floor(i / width) * keys + s] as number) * (row(v, index.slice(0, -1), s)[i % width] as number);
    return sum;
  });
  const matrix = [...lead, full.at(-2) as number, keys];
  return {
    output: { dims: [...lead, full.at(-2) as number, width], data: output },
    weights: { dims: matrix, data: weights },
    masked: { dims: matrix, data: scores },
  };
}
