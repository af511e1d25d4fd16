// The classes of d2l.ai against their references in float64, separately and composed into encoder and decoder.

import { attention_pooling, configure, d2l, nn, prepend_tokens, Tensor } from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bound, type Example, examplesOf, expectWithin, gamma, largest } from './support/primitives.js';
import { variants } from './support/variants.js';

type Float = Tensor<'float32'>;
const size = ({ options }: Example, name: string) => options[name] as number;
const lens = (example: Example, name = 'valid_lens') => (example.has(name) ? example.tensor(name) : undefined);

/**
 * As for torch.nn's classes: γ(roundings on the longest path) · the largest number on it, from the hooks. A block sums
 * over num_hiddens in at most eight projections, over the feed-forward's width and four times over the keys.
 */
function pathBound(example: Example, tensors: Tensor[], blocks = 1): Bound {
  const { num_hiddens = 0, ffn_num_hiddens = 0, mlp_num_hiddens = 0 } = example.options as Record<string, number>;
  const features = Math.max(num_hiddens, ...tensors.map((tensor) => tensor.dims.at(-1) ?? 0));
  const positions = Math.max(...tensors.map((tensor) => tensor.dims.at(-2) ?? 0));
  return {
    absolute:
      gamma(blocks * (8 * features + ffn_num_hiddens + mlp_num_hiddens + 4 * positions + 90)) * largest(...tensors),
  };
}

function expectNear(example: Example, output: Tensor, seen: Record<string, Tensor>, blocks = 1): Bound {
  const inputs = ['X', 'queries', 'keys', 'values', 'enc_outputs'].filter((name) => example.has(name));
  const bound = pathBound(
    example,
    [output, ...Object.values(seen), ...inputs.map((name) => example.tensor(name))],
    blocks,
  );
  expectWithin(`d2l.${example.op} ${example.name}`, output, example.tensor('output'), bound);
  return bound;
}

async function attention(example: Example): Promise<void> {
  const {
    num_hiddens,
    num_heads,
    query_size: _q,
    key_size: _k,
    value_size: _v,
    ...options
  } = example.options as Record<string, number>;
  const module =
    example.op === 'AdditiveAttention'
      ? new d2l.AdditiveAttention(num_hiddens as number)
      : new d2l.MultiHeadAttention(
          num_hiddens as number,
          num_heads as number,
          options as d2l.MultiHeadAttentionOptions,
        );
  await module.load_state_dict(example.stateDict());
  const operands = [example.tensor('queries'), example.tensor('keys'), example.tensor('values')] as const;
  expect(module.attention_weights).toBeUndefined();
  const [output, cache] = await module.forward(...operands, lens(example), { names: ['*'] });
  const bound = expectNear(example, output, cache);
  expectWithin(
    `d2l.${example.op} ${example.name} weights`,
    module.attention_weights as Tensor,
    example.tensor('attention_weights'),
    bound,
  );
}

async function selfAttentive(example: Example): Promise<void> {
  const module = await blockOf(example).load_state_dict(example.stateDict());
  const [output, cache] = await module.forward(example.tensor('X'), lens(example), { names: ['*'] });
  const bound = expectNear(example, output, cache);
  if (!example.has('attention_weights')) return;
  expectWithin(
    `d2l.${example.op} ${example.name} weights`,
    module.attention_weights as Tensor,
    example.tensor('attention_weights'),
    bound,
  );
}

function blockOf(example: Example): d2l.TransformerEncoderBlock | d2l.ViTBlock {
  const { num_hiddens, num_heads, use_bias } = example.options as {
    num_hiddens: number;
    num_heads: number;
    use_bias: boolean;
  };
  if (example.op === 'ViTBlock' || example.op === 'ViT') {
    return new d2l.ViTBlock(num_hiddens, size(example, 'mlp_num_hiddens'), num_heads, { use_bias });
  }
  return new d2l.TransformerEncoderBlock(num_hiddens, size(example, 'ffn_num_hiddens'), num_heads, { use_bias });
}

function decoderBlockOf(example: Example): d2l.TransformerDecoderBlock {
  return new d2l.TransformerDecoderBlock(
    size(example, 'num_hiddens'),
    size(example, 'ffn_num_hiddens'),
    size(example, 'num_heads'),
  );
}

/** d2l in training: causal; in prediction: step by step over what came before; all at once in prediction: unmasked. */
async function decoderBlock(example: Example): Promise<void> {
  const block = await decoderBlockOf(example).load_state_dict(example.stateDict());
  const X = example.tensor('X') as Tensor<'float32'>;
  const memory = [example.tensor('enc_outputs'), lens(example, 'enc_valid_lens')] as const;
  const is_causal = example.options.mode !== 'eval_at_once';
  const [output, cache] = await block.forward(X, ...memory, { is_causal, names: ['*'] });
  const bound = expectNear(example, output, cache);
  if (example.options.mode === 'steps') {
    for (let t = 1; t <= (X.dims[1] as number); t++) {
      const step = await block.forward(X.slice(null, [0, t]), ...memory);
      expect(step.slice(null, t - 1).data).toEqual(output.slice(null, t - 1).data);
    }
  }
  if (!example.has('self_weights')) return;
  const [own, cross] = block.attention_weights as [Tensor, Tensor];
  expectWithin(`d2l.${example.op} ${example.name} self`, own, example.tensor('self_weights'), bound);
  expectWithin(`d2l.${example.op} ${example.name} cross`, cross, example.tensor('cross_weights'), bound);
}

/** PositionalEncoding(embedding · √d): the input of d2l's encoder and decoder. */
async function embedded(example: Example): Promise<Float> {
  const [vocabulary, num_hiddens] = [size(example, 'vocab_size'), size(example, 'num_hiddens')];
  const embedding = await new nn.Embedding(vocabulary, num_hiddens).load_state_dict(example.stateDict('embedding.'));
  const { data, dims } = await embedding.forward(example.tensor('X'));
  const scaled = new Tensor(
    'float32',
    data.map((value) => value * Math.sqrt(num_hiddens)),
    dims,
  );
  return new d2l.PositionalEncoding(num_hiddens).forward(scaled);
}

const blockNumbers = (example: Example) => Array.from({ length: size(example, 'num_blks') }, (_, i) => i);

async function encoder(example: Example): Promise<void> {
  let X = await embedded(example);
  const seen: Record<string, Tensor> = { embedded: X };
  for (const i of blockNumbers(example)) {
    const block = await blockOf(example).load_state_dict(example.stateDict(`blks.block${i}.`));
    const [output, cache] = await block.forward(X, lens(example), { names: ['*'] });
    Object.assign(seen, Object.fromEntries(Object.entries(cache).map(([name, value]) => [`${i}.${name}`, value])));
    X = output;
  }
  expectNear(example, X, seen, size(example, 'num_blks'));
}

async function decoder(example: Example): Promise<void> {
  let X = await embedded(example);
  const seen: Record<string, Tensor> = { embedded: X };
  for (const i of blockNumbers(example)) {
    const block = await decoderBlockOf(example).load_state_dict(example.stateDict(`blks.block${i}.`));
    X = await block.forward(X, example.tensor('enc_outputs'), lens(example, 'enc_valid_lens'));
    seen[`${i}`] = X;
  }
  const dense = await new nn.Linear(size(example, 'num_hiddens'), size(example, 'vocab_size')).load_state_dict(
    example.stateDict('dense.'),
  );
  expectNear(example, await dense.forward(X), seen, size(example, 'num_blks') + 1);
}

/** The Vision Transformer: patches, class token and positions, blocks, then LayerNorm and Linear on the class token. */
async function vit(example: Example): Promise<void> {
  const { img_size, patch_size } = example.options as Record<string, d2l.ImageSize>;
  const num_hiddens = size(example, 'num_hiddens');
  const patches = new d2l.PatchEmbedding(img_size, patch_size, num_hiddens);
  await patches.load_state_dict(example.stateDict('patch_embedding.'));
  const state = example.stateDict();
  const sequence = await prepend_tokens(state.cls_token as Tensor, await patches.forward(example.tensor('X')));
  const positions = state.pos_embedding as Float;
  let X: Float = new Tensor(
    'float32',
    sequence.data.map((value, i) => value + (positions.data[i % positions.size] as number)),
    sequence.dims,
  );
  const seen: Record<string, Tensor> = { sequence, positions };
  for (const i of blockNumbers(example)) {
    X = await (await blockOf(example).load_state_dict(example.stateDict(`blks.${i}.`))).forward(X);
    seen[`${i}`] = X;
  }
  const norm = await new nn.LayerNorm(num_hiddens).load_state_dict(example.stateDict('head.0.'));
  const head = await new nn.Linear(num_hiddens, size(example, 'num_classes')).load_state_dict(
    example.stateDict('head.1.'),
  );
  expectNear(example, await head.forward(await norm.forward(X.slice(null, 0))), seen, size(example, 'num_blks') + 1);
}

describe.each(variants)('%s', (variant) => {
  beforeAll(() => configure({ deterministic: variant === 'simd128' }));
  afterAll(() => configure({ deterministic: undefined }));

  it.each(examplesOf('d2l', 'DotProductAttention'))('$name', async (example) => {
    const module = new d2l.DotProductAttention({ dropout: 0.5 });
    const operands = [example.tensor('queries'), example.tensor('keys'), example.tensor('values')] as const;
    const output = await module.forward(...operands, lens(example));
    const weights = module.attention_weights as Tensor;
    const bound = expectNear(example, output, { weights });
    expectWithin(`d2l.${example.op} ${example.name} weights`, weights, example.tensor('attention_weights'), bound);
  });

  it.each([...examplesOf('d2l', 'AdditiveAttention'), ...examplesOf('d2l', 'MultiHeadAttention')])('$name', attention);
  it.each([...examplesOf('d2l', 'TransformerEncoderBlock'), ...examplesOf('d2l', 'ViTBlock')])('$name', selfAttentive);
  it.each(examplesOf('d2l', 'TransformerDecoderBlock'))('$name', decoderBlock);

  it.each(examplesOf('d2l', 'AddNorm'))('$name', async (example) => {
    const module = await new d2l.AddNorm(example.options.norm_shape as number[]).load_state_dict(example.stateDict());
    const [X, Y] = [example.tensor('X'), example.tensor('Y')];
    const [output, cache] = await module.forward(X, Y, { names: ['*'] });
    expectNear(example, output, cache);
  });

  it.each(examplesOf('d2l', 'PositionalEncoding'))('$name', async (example) => {
    const module = new d2l.PositionalEncoding(size(example, 'num_hiddens'), { max_len: size(example, 'max_len') });
    expectNear(example, await module.forward(example.tensor('X')), {});
  });

  it.each(examplesOf('d2l', 'PatchEmbedding'))('$name', async (example) => {
    const { img_size, patch_size } = example.options as Record<string, d2l.ImageSize>;
    const module = new d2l.PatchEmbedding(img_size, patch_size, size(example, 'num_hiddens'));
    await module.load_state_dict(example.stateDict());
    const output = await module.forward(example.tensor('X'));
    expect(output.dims[1]).toBe(module.num_patches);
    expectNear(example, output, {});
  });

  it.each(examplesOf('d2l', 'TransformerEncoder'))('$name', encoder);
  it.each(examplesOf('d2l', 'TransformerDecoder'))('$name', decoder);
  it.each(examplesOf('d2l', 'ViT'))('$name', vit);

  it.each(examplesOf('d2l', 'PositionWiseFFN'))('$name', async (example) => {
    const made = new d2l.PositionWiseFFN(size(example, 'ffn_num_hiddens'), size(example, 'ffn_num_outputs'));
    const module = await made.load_state_dict(example.stateDict());
    const [output, cache] = await module.forward(example.tensor('X'), { names: ['*'] });
    expectNear(example, output, cache);
  });
});

describe('rows without keys', () => {
  it('without keys pooling gives zeros', async () => {
    const none = new Tensor('float32', new Float32Array(0), [1, 0, 2]);
    for (const score of ['scaled_dot', 'dot', 'distance'] as const) {
      const options = { score, empty_row: 'uniform' } as const;
      const [output, weights] = await attention_pooling([[[1, 2]]], none, none, { ...options, need_weights: true });
      expect([output.tolist(), weights.dims]).toEqual([[[[0, 0]]], [1, 1, 0]]);
      const grouped = { ...options, enable_gqa: true, need_scores: 'raw' } as const;
      const [pooled] = await attention_pooling([[[[1, 2]], [[3, 4]]]], none.unsqueeze(0), none.unsqueeze(0), grouped);
      expect(pooled.tolist()).toEqual([[[[0, 0]], [[0, 0]]]]);
    }
    const { inputs } = await new d2l.DotProductAttention().backward([[[[1, 2]]], none, none], {
      grad_output: [[[1, 1]]],
    });
    expect(inputs.queries.tolist()).toEqual([[[0, 0]]]);
  });

  it('uniform weights of a row without keys depend on no score, whatever observes or edits the scores', async () => {
    // biome-ignore format: matrices
    const module = await new d2l.AdditiveAttention(2).load_state_dict({
      'W_q.weight': [[1, 0.2], [-0.3, 0.5]],
      'W_k.weight': [[0.4, 0.1], [0.7, -0.5]],
      'w_v.weight': [[1, -1]],
    });
    // biome-ignore format: matrices
    const keys = [[[0.1, 0.7], [-0.4, 0.9], [0.5, -0.6]]], values = [[[1, 2], [4, 8], [-3, 5]]];
    const scores = async (options: object, lengths = [0], with_respect_to: object = { hooks: 'hook_attn_scores' }) => {
      const given = [[[[0.3, -0.5]]], keys, values, lengths, options] as Parameters<typeof module.forward>;
      const found = await module.backward(given, { grad_output: [[[1, 0]]], with_respect_to });
      return [...((found.grad.hook_attn_scores ?? found.edits[0]) as Float).data];
    };
    const add = (value: number) => ({ hook: 'hook_attn_scores', op: 'add', value: [[[value, value, value]]] });
    const set = { hook: 'hook_attn_scores', op: 'replace', value: [[[0, 0, 0]]] };
    const nothing = [0, 0, 0];
    for (const options of [
      {},
      { fwd_hooks: [['hook_attn_scores', () => {}]] },
      { edits: [add(0)] },
      { edits: [{ hook: 'hook_attn_scores_raw', op: 'scale', value: 1 }] },
      { edits: [set, { ...set, value: [[[-Infinity, -Infinity, -Infinity]]] }] },
    ]) {
      expect(await scores(options)).toEqual(nothing);
    }
    expect(await scores({ edits: [add(1)] }, [0], { edits: [0] })).toEqual(nothing);
    // Keys that an edit gives to a row, and takes from one, count.
    const third = await scores({ edits: [set] }, [0], { edits: [0] });
    expect(third.map((one) => Math.round(one * 9))).toEqual([1, 10, -11]);
    expect(await scores({ edits: [add(-Infinity)] }, [3])).toEqual(nothing);
  });
});
