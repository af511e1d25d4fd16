// The calls of the misuse test: random arguments for the functions and modules, and the naive twin's result for each.

import {
  additive_attention,
  attention_pooling,
  bmm,
  gelu,
  layer_norm,
  masked_softmax,
  matmul,
  relu,
  rms_norm,
  scaled_dot_product_attention,
  silu,
  softmax,
  type TensorInput,
  tanh,
} from 'clearformer';
import { type Argument, type Draw, numbersOf, present } from './misuse.js';
import {
  attention,
  linear,
  type Numbers,
  bmm as naiveBmm,
  matmul as naiveMatmul,
  softmax as naiveSoftmax,
  need,
  norm,
} from './naive.js';

/** A call, and the naive twin's result, which throws Invalid for invalid arguments. */
export interface Attempt {
  call: () => Promise<unknown>;
  answer: () => Numbers[];
}

const isNumber = (value: unknown, least = -3.4e38): value is number =>
  typeof value === 'number' && value >= least && value < 3.4e38;
const wrongNumbers = [Number.NaN, Number.POSITIVE_INFINITY, '1', null, {}, 1e39, [1], true];
const wrongFlags = ['yes', 1, 0, null, {}];

function functions(draw: Draw): Attempt {
  const dims = Array.from({ length: draw.of(1, 2, 3, 4) }, () => draw.size());
  const x = draw.tensor(dims);
  const name = draw.of('softmax', 'relu', 'gelu', 'silu', 'tanh', 'layer_norm', 'rms_norm');
  if (name === 'softmax') {
    const dim = draw.either(
      [-1, 0, dims.length - 1, -dims.length],
      [dims.length, -dims.length - 1, 0.5, Number.NaN, '0', 2 ** 40, null, {}],
    );
    return {
      call: () => softmax(x.input, dim),
      answer: () => numbersOf(x).map((numbers) => naiveSoftmax(numbers, dim)),
    };
  }
  if (name !== 'layer_norm' && name !== 'rms_norm') return activation(draw, x, name);
  const shape = draw.either<number | number[]>(
    [dims.slice(-1), dims.at(-1) as number, dims.slice(-2)],
    [[], 0, -1, Number.NaN, '3', null, [null], {}, dims.length + 6],
  );
  const axes = [shape].flat() as number[];
  const weight = draw.of(
    undefined,
    draw.tensor(axes.every((axis) => Number.isInteger(axis) && axis >= 0) ? axes : [1]),
  );
  const eps = draw.either([1e-5, 0.5], [-1, ...wrongNumbers.filter((wrong) => wrong !== null)]);
  const options = { weight: weight?.input, eps };
  const answer = () => {
    need(isNumber(eps), 'eps is a number');
    need(
      axes.every((axis) => typeof axis === 'number'),
      'normalized_shape is of numbers',
    );
    const [numbers, factor] = numbersOf(...[x, present(weight)].filter((one) => one !== undefined)) as [
      Numbers,
      Numbers?,
    ];
    return [norm(numbers, axes, { kind: name === 'layer_norm' ? 'layer' : 'rms', eps, weight: factor })];
  };
  return { call: () => (name === 'layer_norm' ? layer_norm : rms_norm)(x.input, shape, options), answer };
}

function activation(draw: Draw, x: Argument, name: 'relu' | 'gelu' | 'silu' | 'tanh'): Attempt {
  const approximate = draw.either<'tanh'>(['tanh'], ['erf', 'toString', null, 1]);
  const known = {
    relu: { call: () => relu(x.input), formula: (v: number) => Math.max(v, 0) },
    silu: { call: () => silu(x.input), formula: (v: number) => v / (1 + Math.exp(-v)) },
    tanh: { call: () => tanh(x.input), formula: Math.tanh },
    gelu: {
      call: () => gelu(x.input, { approximate }),
      formula: (v: number) => (v / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (v + 0.044715 * v ** 3))),
    },
  };
  const { call, formula } = known[name];
  const answer = () => {
    need(name !== 'gelu' || approximate === 'tanh', 'a known approximation');
    return numbersOf(x).map(({ dims, data }) => ({ dims, data: data.map(formula) }));
  };
  return { call, answer };
}

function products(draw: Draw): Attempt {
  const [n, k, m, batch] = [draw.size(), draw.size(), draw.size(), draw.size()];
  if (draw.chance(2)) {
    const [x, y] = [draw.tensor([batch, n, k]), draw.tensor([batch, k, m])];
    return { call: () => bmm(x.input, y.input), answer: () => [naiveBmm(...(numbersOf(x, y) as [Numbers, Numbers]))] };
  }
  const [x, y] = [draw.tensor(draw.of([n, k], [batch, n, k], [k])), draw.tensor([k, m])];
  return {
    call: () => matmul(x.input, y.input),
    answer: () => [naiveMatmul(...(numbersOf(x, y) as [Numbers, Numbers]))],
  };
}

function maskedSoftmax(draw: Draw): Attempt {
  const full = [draw.size(), draw.size(), draw.size(), draw.size()];
  const scores = draw.tensor(full);
  const { make, parts } = draw.mask(full);
  const empty_row = draw.either<'zeros' | 'uniform' | undefined>(['zeros', 'uniform', undefined], ['ones', 1, {}]);
  const answer = () => {
    need(parts !== undefined && (empty_row ?? 'zeros') in { zeros: 0, uniform: 0 }, 'a mask and an empty row');
    const [{ dims }] = numbersOf(scores) as [Numbers];
    need(dims.length === 3 || dims.length === 4, 'three or four axes');
    return [maskedScores(numbersOf(scores)[0] as Numbers, parts ?? [], empty_row ?? 'zeros')];
  };
  return { call: () => masked_softmax(scores.input, make(), { empty_row }), answer };
}

/** Attention with given scores: query t is t, key s is s. */
function maskedScores(
  { dims, data }: Numbers,
  masks: NonNullable<ReturnType<Draw['mask']>['parts']>,
  empty: 'zeros' | 'uniform',
): Numbers {
  const [queries, keys] = [dims.at(-2) as number, dims.at(-1) as number];
  const rows = data.length / (keys || 1);
  const query = { dims: [...dims.slice(0, -1), 1], data: Array.from({ length: rows }, (_, row) => row) };
  const lead = dims.slice(0, -2);
  const matrices = queries === 0 ? 0 : rows / queries;
  const key = { dims: [...lead, keys, 1], data: Array.from({ length: matrices * keys }, (_, i) => i % (keys || 1)) };
  const score = ([row]: readonly number[], [s]: readonly number[]) =>
    data[(row as number) * keys + (s as number)] as number;
  const { weights } = attention(query, key, key, { score, scale: 1, masks, grouped: false, empty });
  return { dims, data: weights.data };
}

export const dot = (q: readonly number[], k: readonly number[]) =>
  q.reduce((sum, value, i) => sum + value * (k[i] as number), 0);

interface Pooling {
  operands: [Argument, Argument, Argument];
  options: Record<string, unknown>;
  make: ReturnType<Draw['mask']>['make'];
  masks: ReturnType<Draw['mask']>['parts'];
}

function pooling(draw: Draw, keySize?: number): Pooling {
  const lead = draw.of([], [draw.size()], [draw.size(), draw.of(1, 2, 4)], [2, draw.size(), draw.of(1, 2)]);
  const [queries, keys, d, d_v] = [draw.size(), draw.size(), draw.size(), draw.size()];
  const headsAsked = draw.chance(3);
  const grouped = headsAsked
    ? lead.map((extent, i) => (i === lead.length - 1 && i > 0 ? draw.of(1, extent) : extent))
    : lead;
  const other = draw.chance(5) ? lead.map(() => 1) : grouped;
  const operands: Pooling['operands'] = [
    draw.tensor([...lead, queries, d]),
    draw.tensor([...other, keys, keySize ?? d]),
    draw.tensor([...grouped, keys, d_v]),
  ];
  const full = lead.length >= 2 ? [...lead, queries, keys] : [...(lead.length === 1 ? lead : [1]), 1, queries, keys];
  const { make, parts } = draw.mask(full);
  const options = {
    is_causal: draw.either([undefined, false, true], wrongFlags),
    softcap: draw.either([undefined, 0, 1.5], [-1, ...wrongNumbers]),
    enable_gqa: headsAsked
      ? true
      : draw.either(
          [undefined, false],
          wrongFlags.filter((wrong) => wrong !== null),
        ),
    empty_row: draw.either([undefined, 'zeros', 'uniform'], ['ones', 1]),
    need_weights: draw.either([true, false, undefined], wrongFlags),
    ...(draw.chance(15) && { dropout_p: 0.5 }),
  };
  return { operands, options, make, masks: parts };
}

function poolingAnswer(
  { operands, options, masks }: Pooling,
  score: typeof dot,
  scale: unknown,
  sameSize = true,
): Numbers[] {
  need(masks !== undefined && !('dropout_p' in options), 'a mask and known options');
  for (const name of ['is_causal', 'enable_gqa', 'need_weights'])
    need([undefined, true, false].includes(options[name] as boolean), 'flags');
  const { is_causal, softcap, enable_gqa, empty_row = 'zeros', need_weights } = options;
  need(softcap === undefined || isNumber(softcap, 0), 'softcap is a number from 0');
  need(isNumber(scale), 'scale is a number');
  need(empty_row === 'zeros' || empty_row === 'uniform', 'a known empty row');
  const [q, k, v] = numbersOf(...operands) as [Numbers, Numbers, Numbers];
  need(!sameSize || q.dims.at(-1) === k.dims.at(-1), 'as many features in queries and keys');
  const all = is_causal === true ? [...(masks ?? []), { kind: 'causal', past: 0 } as const] : (masks ?? []);
  const settings = { score, scale: Math.fround(scale as number), softcap: softcap as number | undefined, masks: all };
  const found = attention(q, k, v, { ...settings, grouped: enable_gqa === true, empty: empty_row as 'zeros' });
  return need_weights === true ? [found.output, found.weights] : [found.output];
}

function scaledDotProduct(draw: Draw): Attempt {
  const made = pooling(draw);
  const [query, key, value] = made.operands.map(({ input }) => input) as [TensorInput, TensorInput, TensorInput];
  const scale = draw.either([undefined, 1, 0, -0.5, 1e30], wrongNumbers);
  const name = draw.of('mask', 'attn_mask');
  const d = made.operands[0].numbers?.dims.at(-1) ?? 1;
  return {
    call: () =>
      scaled_dot_product_attention(query, key, value, { ...made.options, scale, [name]: made.make() } as object),
    answer: () => poolingAnswer(made, dot, scale === undefined ? 1 / Math.sqrt(Math.max(d, 1)) : scale),
  };
}

function additive(draw: Draw): Attempt {
  const keySize = draw.size();
  const made = pooling(draw, keySize);
  const [query, key, value] = made.operands.map(({ input }) => input) as [TensorInput, TensorInput, TensorInput];
  const hidden = draw.size();
  const d = made.operands[0].numbers?.dims.at(-1) ?? 1;
  const [W_q, W_k, w_v] = [
    draw.tensor([hidden, d]),
    draw.tensor([hidden, keySize]),
    draw.tensor(draw.of([hidden], [1, hidden])),
  ];
  const parameters = { W_q: W_q.input, W_k: W_k.input, w_v: w_v.input };
  const answer = () => {
    const [q, k, v] = numbersOf(W_q, W_k, w_v) as [Numbers, Numbers, Numbers];
    const [queries, keys] = numbersOf(made.operands[0], made.operands[1]) as [Numbers, Numbers];
    need(
      q.dims.length === 2 && k.dims.length === 2 && q.dims[0] === k.dims[0] && v.data.length === q.dims[0],
      'matrices with one hidden size',
    );
    need(v.dims.length === 1 || (v.dims.length === 2 && v.dims[0] === 1), 'w_v is a row');
    need(queries.dims.at(-1) === q.dims[1] && keys.dims.at(-1) === k.dims[1], 'sizes of queries and keys');
    const project = (x: readonly number[], matrix: Numbers) =>
      linear({ dims: [x.length], data: x }, matrix, undefined).data;
    const score = (a: readonly number[], b: readonly number[]) => {
      const other = project(b, k);
      return project(a, q).reduce(
        (sum, value, i) => sum + (v.data[i] as number) * Math.tanh(value + (other[i] as number)),
        0,
      );
    };
    return poolingAnswer(made, score, 1, false);
  };
  return {
    call: () => additive_attention(query, key, value, { ...made.options, ...parameters, mask: made.make() } as never),
    answer,
  };
}

function scored(draw: Draw): Attempt {
  const made = pooling(draw);
  const [query, key, value] = made.operands.map(({ input }) => input) as [TensorInput, TensorInput, TensorInput];
  const score = draw.either<string>(['dot', 'distance', 'general'], ['cosine', 'additive', 'toString', 7]);
  const sigma = draw.either([undefined, 1, 0.5], [0, -1, ...wrongNumbers]);
  const d = made.operands[0].numbers?.dims.at(-1) ?? 1;
  const M = draw.tensor([d, made.operands[1].numbers?.dims.at(-1) ?? 1]);
  const extra =
    score === 'distance'
      ? { sigma }
      : score === 'general'
        ? { M: M.input }
        : draw.either([{}], [{ sigma: 1 }, { M: M.input }]);
  const answer = () => {
    if (score === 'dot') {
      need(Object.keys(extra).length === 0, 'no parameters');
      return poolingAnswer(made, dot, 1);
    }
    if (score === 'distance') {
      need(sigma === undefined || (isNumber(sigma) && sigma > 0), 'sigma is above 0');
      const squared = (q: readonly number[], k: readonly number[]) =>
        q.reduce((sum, x, i) => sum + (x - (k[i] as number)) ** 2, 0);
      return poolingAnswer(made, squared, -0.5 / (sigma ?? 1) ** 2);
    }
    need(score === 'general', 'a known score');
    const [matrix] = numbersOf(M) as [Numbers];
    const [q, k] = numbersOf(made.operands[0], made.operands[1]) as [Numbers, Numbers];
    need(
      matrix.dims.length === 2 && q.dims.at(-1) === matrix.dims[0] && k.dims.at(-1) === matrix.dims[1],
      'M is [query size, key size]',
    );
    return poolingAnswer(made, (a, b) => dot(naiveMatmul({ dims: [a.length], data: a }, matrix).data, b), 1, false);
  };
  return {
    call: () => attention_pooling(query, key, value, { ...made.options, ...extra, score, mask: made.make() } as never),
    answer,
  };
}

/** Random calls of functions, by kind. */
export const functionCalls = [functions, products, maskedSoftmax, scaledDotProduct, scaledDotProduct, additive, scored];
