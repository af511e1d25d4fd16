// The classes of torch.nn against PyTorch in float64: every argument, mask and norm order of the fixtures. With
// CLEARFORMER_MODULE_CASES the folder of other random cases that tests/references/modules_random.py wrote.

import { configure, gelu, type Mask, nn, relu, silu, softmax, Tensor, type TensorInput } from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Bound,
  drawnModules,
  type Example,
  examplesOf,
  expectWithin,
  gamma,
  largest,
} from './support/primitives.js';
import { variants } from './support/variants.js';

type Float = Tensor<'float32'>;

/**
 * A path through a block sums over the features in four projections and two feed-forward layers, and over the keys
 * twice; a sum of n terms rounds n times; softmax, norms and activations round some sixty times more. Each rounding is
 * relative to the rounded number, whose largest value the hooks give: γ(path) · largest.
 */
function pathBound(path: number, output: Tensor, cache: nn.Traced<string[]>[1]): Bound {
  return { absolute: gamma(path) * largest(output, ...Object.values(cache)) };
}

const size = ({ options }: Example, name: string, fallback = 0) => (options[name] as number | undefined) ?? fallback;
const flag = ({ options }: Example, name: string) => options[name] === true;

it('blocks of a Transformer refuse options that are null', async () => {
  const layer = [new nn.TransformerEncoderLayer(2, 1), new nn.TransformerDecoderLayer(2, 1)] as const;
  const x = [[[1, 2]]];
  const calls: (() => Promise<unknown>)[] = [
    () => layer[0].forward(x, null as never),
    () => layer[1].forward(x, x, null as never),
    () => new nn.TransformerEncoder(layer[0], 1).forward(x, null as never),
    () => new nn.TransformerDecoder(layer[1], 1).forward(x, x, null as never),
    () => new nn.Transformer({ d_model: 2, nhead: 1 }).forward(x, x, null as never),
  ];
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'invalid_argument' });
});

/** [a, b, c] -> [b, a, c]. */
function transposed(tensor: Tensor): Tensor {
  const [a = 0, b = 0, c = 0] = tensor.dims;
  const data = Float32Array.from({ length: a * b * c }, (_, i) => {
    const [row, column] = [Math.floor(i / (a * c)), Math.floor(i / c) % a];
    return Number(tensor.data[(column * b + row) * c + (i % c)]);
  });
  return new Tensor('float32', data, [b, a, c]);
}

async function multiheadAttention(example: Example): Promise<void> {
  const {
    embed_dim,
    num_heads,
    batch_first: _,
    average_attn_weights,
    need_weights,
    is_causal,
    ...options
  } = example.options;
  const made = new nn.MultiheadAttention(
    embed_dim as number,
    num_heads as number,
    options as nn.MultiheadAttentionOptions,
  );
  const attention = await made.load_state_dict(example.stateDict());
  const sequenceFirst = example.options.batch_first === false && example.tensor('query').dims.length === 3;
  const operand = (name: string) => {
    const tensor = example.tensor(example.has(name) ? name : 'query');
    return sequenceFirst ? transposed(tensor) : tensor;
  };
  const attn_mask = example.mask('attn_mask', 'ignore');
  const given = {
    attn_mask,
    key_padding_mask: example.mask('key_padding_mask', 'ignore'),
    average_attn_weights: average_attn_weights as boolean | undefined,
    is_causal: is_causal as boolean | undefined,
  };
  const operands = [operand('query'), operand('key'), operand('value')] as const;
  const [output, weights, cache] = await attention.forward(...operands, { ...given, names: ['*'] });
  const [alone, none] = await attention.forward(...operands, { ...given, need_weights: need_weights === true });
  expect(alone.data).toEqual(output.data); // capturing changes no bit
  expect(none).toEqual(need_weights === true ? weights : null);
  const bound = pathBound(4 * size(example, 'embed_dim') + 2 * (operands[1].dims.at(-2) as number) + 60, output, cache);
  const found = sequenceFirst ? transposed(output) : output;
  expectWithin(`MultiheadAttention ${example.name} output`, found, example.tensor('output'), bound);
  if (example.has('weights')) {
    expectWithin(`MultiheadAttention ${example.name} weights`, weights as Tensor, example.tensor('weights'), bound);
  }
  await attention.dispose();
}

/** Masks of a transformer class: torch's argument names with the case's inputs. */
function maskArguments(example: Example, names: string[]): Record<string, Mask | boolean> {
  const entries = names.flatMap((name): [string, Mask | boolean][] => {
    const mask = example.mask(name, 'ignore');
    return mask === undefined ? [] : [[name, mask]];
  });
  const causal = Object.entries(example.options).filter(([name]) => name.endsWith('is_causal')) as [string, boolean][];
  return Object.fromEntries([...entries, ...causal]);
}

const layerOptions = [
  'bias',
  'norm_first',
  'activation',
  'layer_norm_eps',
  'dim_feedforward',
  'dropout',
  'batch_first',
];

function layerOptionsOf({ options }: Example): nn.TransformerLayerOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => layerOptions.includes(name)));
}

/** A stack's norm: none, a LayerNorm (true), or another with its options. */
function normOf({ options: { norm } }: Example, d_model: number): nn.LayerNorm | nn.RMSNorm | null {
  if (norm === undefined || norm === false) return null;
  const { kind = 'LayerNorm', ...options } = norm as { kind?: 'LayerNorm' | 'RMSNorm' };
  return new nn[kind](d_model, options);
}

type Forward = (
  given: Record<string, TensorInput>,
  options: object,
) => Promise<Float | [Float, Record<string, Tensor>]>;

/** Each class: how a case constructs and calls it, and the names of its arguments. */
function transformerOf(example: Example): {
  module: nn.Module;
  forward: Forward;
  tensors: string[];
  masks: string[];
  layers: number;
} {
  const [d_model, nhead, options] = [size(example, 'd_model'), size(example, 'nhead'), layerOptionsOf(example)];
  const norm = normOf(example, d_model);
  const decoder = {
    tensors: ['tgt', 'memory'],
    masks: ['tgt_mask', 'tgt_key_padding_mask', 'memory_mask', 'memory_key_padding_mask'],
  };
  const layers = size(example, 'num_layers', 1);
  switch (example.op) {
    case 'TransformerEncoderLayer': {
      const module = new nn.TransformerEncoderLayer(d_model, nhead, options);
      const masks = ['src_mask', 'src_key_padding_mask'];
      return {
        module,
        forward: ({ src }, more) => module.forward(src as TensorInput, more),
        tensors: ['src'],
        masks,
        layers,
      };
    }
    case 'TransformerDecoderLayer': {
      const module = new nn.TransformerDecoderLayer(d_model, nhead, options);
      const forward: Forward = ({ tgt, memory }, more) =>
        module.forward(tgt as TensorInput, memory as TensorInput, more);
      return { module, forward, ...decoder, layers };
    }
    case 'TransformerEncoder': {
      const module = new nn.TransformerEncoder(new nn.TransformerEncoderLayer(d_model, nhead, options), layers, norm);
      const masks = ['src_mask', 'src_key_padding_mask'];
      const forward: Forward = ({ src }, { src_mask: mask, ...more }: { src_mask?: Mask }) =>
        module.forward(src as TensorInput, { ...more, mask });
      return { module, forward, tensors: ['src'], masks, layers };
    }
    case 'TransformerDecoder': {
      const module = new nn.TransformerDecoder(new nn.TransformerDecoderLayer(d_model, nhead, options), layers, norm);
      const forward: Forward = ({ tgt, memory }, more) =>
        module.forward(tgt as TensorInput, memory as TensorInput, more);
      return { module, forward, ...decoder, layers };
    }
    default: {
      const { num_encoder_layers, num_decoder_layers } = example.options as Record<string, number>;
      const module = new nn.Transformer({ d_model, nhead, num_encoder_layers, num_decoder_layers, ...options });
      const forward: Forward = ({ src, tgt }, more) => module.forward(src as TensorInput, tgt as TensorInput, more);
      const masks = [...decoder.masks, 'src_mask', 'src_key_padding_mask'];
      const depth = (num_encoder_layers as number) + (num_decoder_layers as number);
      return { module, forward, tensors: ['src', 'tgt'], masks, layers: depth };
    }
  }
}

async function transformer(example: Example): Promise<void> {
  const { module, forward, tensors, masks, layers } = transformerOf(example);
  await module.load_state_dict(example.stateDict());
  const given = Object.fromEntries(tensors.map((name) => [name, example.tensor(name)]));
  const options = maskArguments(example, masks);
  const [output, cache] = (await forward(given, { ...options, names: ['*'] })) as [Float, Record<string, Float>];
  expect(((await forward(given, options)) as Float).data).toEqual(output.data); // capturing changes no bit
  const keys = Math.max(...Object.values(given).map((tensor) => tensor.dims.at(-2) as number));
  const path = layers * (8 * size(example, 'd_model') + size(example, 'dim_feedforward') + 4 * keys + 90);
  expectWithin(`${example.op} ${example.name}`, output, example.tensor('output'), pathBound(path, output, cache));
  await module.dispose();
}

describe.each(variants)('%s', (variant) => {
  beforeAll(() => configure({ deterministic: variant === 'simd128' }));
  afterAll(() => configure({ deterministic: undefined }));

  it.each(examplesOf('multihead_attention'))('MultiheadAttention: $name', multiheadAttention);
  it.each(examplesOf('transformer'))('$op: $name', transformer);
  const classes = examplesOf(drawnModules).filter(({ op }) => op !== 'scaled_dot_product_attention');
  it.each(classes)('$op: $name', (example) =>
    example.op === 'MultiheadAttention' ? multiheadAttention(example) : transformer(example),
  );

  it.each(examplesOf('modules', 'Linear'))('$name', async (example) => {
    const { in_features, out_features, ...options } = example.options as Record<string, number>;
    const module = await new nn.Linear(in_features as number, out_features as number, options).load_state_dict(
      example.stateDict(),
    );
    const found = await module.forward(example.tensor('input'));
    expectWithin(
      `Linear ${example.name}`,
      found,
      example.tensor('output'),
      linearBound(example.tensor('input'), example.stateDict()),
    );
  });

  it.each(examplesOf('modules', 'Embedding'))('$name', async (example) => {
    const { num_embeddings, embedding_dim, ...options } = example.options as Record<string, number>;
    const made = new nn.Embedding(num_embeddings as number, embedding_dim as number, options);
    const ids = example.name === 'embedding_scalar' ? example.tensor('input').slice(0) : example.tensor('input');
    const found = await (await made.load_state_dict(example.stateDict())).forward(ids);
    expect([found.dims, found.data]).toEqual([example.tensor('output').dims, example.tensor('output').data]);
  });

  it.each([...examplesOf('modules', 'LayerNorm'), ...examplesOf('modules', 'RMSNorm')])('$name', async (example) => {
    const { normalized_shape, ...options } = example.options;
    const made = new nn[example.op as 'LayerNorm' | 'RMSNorm'](normalized_shape as number[], options);
    const weights = example.options.elementwise_affine === false ? {} : example.stateDict();
    const module = example.options.elementwise_affine === false ? made : await made.load_state_dict(weights);
    const found = await module.forward(example.tensor('input'));
    // Sums are in double; the centred value, the scale, the quotient, the product and the sum round.
    const normalized = largest(example.tensor('input')) / Math.sqrt(1e-5);
    const bias = 'bias' in weights ? largest(weights.bias as Tensor) : 0;
    const bound = { absolute: gamma(2) * bias * 2 + 2 ** -47 * normalized, relative: gamma(8) };
    expectWithin(`${example.op} ${example.name}`, found, example.tensor('output'), bound);
  });

  it.each([...examplesOf('modules', 'feed_forward'), ...examplesOf('modules', 'gated_feed_forward')])(
    '$name',
    feedForward,
  );
  it.each(examplesOf('modules', 'output_layer'))('$name', outputLayer);
});

function linearBound(input: Tensor, state: Record<string, Tensor>): Bound {
  const weight = state.weight as Tensor;
  const inputs = weight.dims[1] as number;
  return { absolute: gamma(inputs + 1) * (inputs * largest(input) * largest(weight) + largest(state.bias ?? input)) };
}

const activations = {
  relu,
  gelu,
  silu,
  gelu_tanh: (x: TensorInput) => gelu(x, { approximate: 'tanh' }),
};

/**
 * A block's feed-forward network from public parts: down(activation(up(x))), or gated down(activation(gate(x)) ·
 * up(x)).
 */
async function feedForward(example: Example): Promise<void> {
  const [d_model, hidden, options] = [
    size(example, 'd_model'),
    size(example, 'hidden'),
    { bias: flag(example, 'bias') },
  ];
  const linear = (name: string, from: number, to: number) =>
    new nn.Linear(from, to, options).load_state_dict(example.stateDict(`${name}.`));
  const gated = example.op === 'gated_feed_forward';
  const input = example.tensor('input');
  const activation = activations[example.options.activation as keyof typeof activations];
  const up = await (await linear(gated ? 'up_proj' : 'dense1', d_model, hidden)).forward(input);
  const gate = gated ? await (await linear('gate_proj', d_model, hidden)).forward(input) : up;
  let inner = await activation(gate);
  if (gated)
    inner = new Tensor(
      'float32',
      inner.data.map((value, i) => value * (up.data[i] as number)),
      inner.dims,
    );
  const down = await linear(gated ? 'down_proj' : 'dense2', hidden, d_model);
  const output = await down.forward(inner);
  expectWithin(
    `${example.op} ${example.name}`,
    output,
    example.tensor('output'),
    pathBound(d_model + hidden + 30, output, { input: input as Float, up, gate, inner }),
  );
}

async function outputLayer(example: Example): Promise<void> {
  const weight = example.tensor('weight');
  const state = { weight, ...(example.has('bias') && { bias: example.tensor('bias') }) };
  const [vocabulary = 0, d_model = 0] = weight.dims;
  const layer = await new nn.Linear(d_model, vocabulary, { bias: example.has('bias') }).load_state_dict(state);
  const logits = await layer.forward(example.tensor('hidden_states'));
  const { absolute } = linearBound(example.tensor('hidden_states'), state) as { absolute: number };
  expectWithin(`output_layer ${example.name} logits`, logits, example.tensor('logits'), { absolute });
  const probabilities = await softmax(logits);
  const relative = 2 * absolute + gamma(2 * (largest(logits) * 2 + 4) + vocabulary + 2);
  expectWithin(`output_layer ${example.name}`, probabilities, example.tensor('probabilities'), { relative });
  const logs = new Tensor('float32', probabilities.data.map(Math.log), probabilities.dims);
  expectWithin(`output_layer ${example.name} log`, logs, example.tensor('log_probabilities'), {
    absolute: relative,
    relative: gamma(1),
  });
}
