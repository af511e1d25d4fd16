// backward() of torch.nn's and d2l.ai's classes and attention_pooling_backward against PyTorch's autograd in float64;
// gradients of hooks and edits, functions, errors.

import { attention_pooling_backward, configure, d2l, Mask, nn, Tensor } from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { type Bound, type Example, examplesOf, expectWithin, gamma, largest } from './support/primitives.js';
import { variants } from './support/variants.js';

type Float = Tensor<'float32'>;
const all = examplesOf('gradients');
const named = (name: string) => all.find((example) => example.name === name) as Example;

// Sums over some dozen features, positions and layers, each with an error of its length; values are below ten, or compared
// with the largest.
const within = (tensor: Tensor): Bound => ({ absolute: 8 * gamma(400) * Math.max(1, largest(tensor)) });

/** The arguments of forward behind the tensors: masks under the names of each class. */
type Behind = (masks: Record<string, Tensor>) => unknown[];
const optionsOf =
  (names: Record<string, string>): Behind =>
  (masks) => [Object.fromEntries(Object.entries(masks).map(([name, mask]) => [names[name], Mask.ignore(mask)]))];
const lens: Behind = ({ mask }) => [mask];

interface Made {
  module: nn.Module;
  behind?: Behind;
}
type Option =
  | `${'in' | 'out'}_features`
  | `${'num_' | ''}embedding${'s' | '_dim'}`
  | 'padding_idx'
  | 'normalized_shape'
  | 'norm_shape'
  | 'eps'
  | 'embed_dim'
  | 'num_heads'
  | 'd_model'
  | 'nhead'
  | 'dim_feedforward'
  | 'num_layers'
  | 'norm'
  | `${'ffn_' | 'mlp_' | ''}num_hiddens`
  | 'ffn_num_outputs'
  | 'attention_num_hiddens'
  | 'patch_size';
type Options = Record<Option, number>;

const makers: Record<string, (options: Options) => Made> = {
  'nn.Linear': ({ in_features, out_features }) => ({ module: new nn.Linear(in_features, out_features) }),
  'nn.Embedding': ({ num_embeddings, embedding_dim, ...rest }) => ({
    module: new nn.Embedding(num_embeddings, embedding_dim, rest),
  }),
  'nn.LayerNorm': ({ normalized_shape }) => ({ module: new nn.LayerNorm(normalized_shape) }),
  'nn.RMSNorm': ({ normalized_shape, eps }) => ({ module: new nn.RMSNorm(normalized_shape, { eps }) }),
  'nn.MultiheadAttention': ({ embed_dim, num_heads, ...rest }) => ({
    module: new nn.MultiheadAttention(embed_dim, num_heads, rest as nn.MultiheadAttentionOptions),
    behind: optionsOf({ mask: 'attn_mask' }),
  }),
  'nn.TransformerEncoderLayer': ({ d_model, nhead, ...rest }) => ({
    module: new nn.TransformerEncoderLayer(d_model, nhead, rest),
    behind: optionsOf({ mask: 'src_mask' }),
  }),
  'nn.TransformerDecoderLayer': ({ d_model, nhead, ...rest }) => ({
    module: new nn.TransformerDecoderLayer(d_model, nhead, rest),
    behind: optionsOf({ tgt_mask: 'tgt_mask' }),
  }),
  'nn.TransformerEncoder': ({ d_model, nhead, num_layers, norm, ...rest }) => ({
    module: new nn.TransformerEncoder(
      new nn.TransformerEncoderLayer(d_model, nhead, rest),
      num_layers,
      norm ? new nn.LayerNorm(d_model) : null,
    ),
  }),
  'nn.TransformerDecoder': ({ d_model, nhead, num_layers, ...rest }) => ({
    module: new nn.TransformerDecoder(new nn.TransformerDecoderLayer(d_model, nhead, rest), num_layers),
  }),
  'nn.Transformer': (options) => ({
    module: new nn.Transformer(options),
    behind: optionsOf({ tgt_mask: 'tgt_mask' }),
  }),
  'd2l.AdditiveAttention': ({ num_hiddens }) => ({ module: new d2l.AdditiveAttention(num_hiddens), behind: lens }),
  'd2l.MultiHeadAttention': ({ num_hiddens, num_heads, ...rest }) => ({
    module: new d2l.MultiHeadAttention(num_hiddens, num_heads, rest),
    behind: lens,
  }),
  'd2l.AddNorm': ({ norm_shape }) => ({ module: new d2l.AddNorm(norm_shape) }),
  'd2l.PositionWiseFFN': ({ ffn_num_hiddens, ffn_num_outputs }) => ({
    module: new d2l.PositionWiseFFN(ffn_num_hiddens, ffn_num_outputs),
  }),
  'd2l.PatchEmbedding': ({ patch_size, num_hiddens }) => ({
    module: new d2l.PatchEmbedding([5, 7], patch_size, num_hiddens),
  }),
  'd2l.PositionalEncoding': ({ num_hiddens }) => ({ module: new d2l.PositionalEncoding(num_hiddens) }),
  'd2l.TransformerEncoderBlock': ({ num_hiddens, ffn_num_hiddens, num_heads }) => ({
    module: new d2l.TransformerEncoderBlock(num_hiddens, ffn_num_hiddens, num_heads),
    behind: lens,
  }),
  'd2l.ViTBlock': ({ num_hiddens, mlp_num_hiddens, num_heads }) => ({
    module: new d2l.ViTBlock(num_hiddens, mlp_num_hiddens, num_heads),
    behind: lens,
  }),
  'd2l.TransformerDecoderBlock': ({ num_hiddens, ffn_num_hiddens, num_heads }) => ({
    module: new d2l.TransformerDecoderBlock(num_hiddens, ffn_num_hiddens, num_heads),
    behind: ({ enc_mask }) => [enc_mask],
  }),
};

/** A case as a call: the module with its weights, the arguments of forward, and the names of those that are tensors. */
async function callOf(example: Example): Promise<{ module: nn.Module; given: unknown[]; tensors: string[] }> {
  const { module, behind } = (makers[example.op] as (options: Options) => Made)(example.options as Options);
  const kinds = example.property('masks') as Record<string, string>;
  const masks = Object.fromEntries(Object.keys(kinds).map((name) => [name, example.tensor(name)]));
  const tensors = example.inputs.filter((name) => name !== 'd_output' && kinds[name] === undefined);
  if (example.property('weights') !== undefined && example.property('weights') !== null) {
    await module.load_state_dict(example.stateDict());
  }
  const given = [...tensors.map((name) => example.tensor(name)), ...(behind?.(masks) ?? [])];
  return { module, given, tensors };
}

describe.each(variants)('gradients of modules, %s', (variant) => {
  beforeAll(() => configure({ deterministic: variant === 'simd128' }));
  afterAll(() => configure({ deterministic: undefined }));

  it.each(all.filter(({ op }) => op in makers).map((example) => [example.name, example] as const))(
    '%s: of inputs and weights',
    async (_, example) => {
      const { module, given } = await callOf(example);
      const { output, inputs, weights } = await module.backward(given, { grad_output: example.tensor('d_output') });
      expectWithin(`${example.name} output`, output, example.tensor('output'), within(example.tensor('output')));
      const of = (letter: string) =>
        example.outputs.flatMap((name) => (name.startsWith(`${letter}.`) ? [name.slice(2)] : []));
      expect(Object.keys(inputs).sort()).toEqual(of('d').sort());
      expect(Object.keys(weights).sort()).toEqual(of('w').sort());
      for (const [letter, found] of [
        ['d', inputs],
        ['w', weights],
      ] as const) {
        for (const [name, tensor] of Object.entries(found)) {
          const wanted = example.tensor(`${letter}.${name}`);
          expectWithin(`${example.name} ${letter}.${name}`, tensor, wanted, within(wanted));
        }
      }
      await module.dispose();
    },
  );

  it.each(all.filter(({ op }) => op === 'attention_pooling').map((example) => [example.name, example] as const))(
    '%s: of operands and of the scoring function',
    async (_, example) => {
      const more = example.inputs.filter((name) => !['query', 'key', 'value', 'mask', 'd_output'].includes(name));
      const found = await attention_pooling_backward(
        example.tensor('query'),
        example.tensor('key'),
        example.tensor('value'),
        {
          ...(example.options as { score: 'dot' }),
          ...Object.fromEntries(more.map((name) => [name, example.tensor(name)])),
          ...(example.has('mask') && { mask: Mask.allow(example.tensor('mask')) }),
          grad_output: example.tensor('d_output'),
        },
      );
      expect(Object.keys(found)).toEqual(['query', 'key', 'value', ...more.sort()]);
      for (const [name, tensor] of Object.entries(found) as [string, Tensor][]) {
        const wanted = example.tensor(`d.${name}`);
        expectWithin(`${example.name} ${name}`, tensor, wanted, within(wanted));
      }
    },
  );
});

describe('backward of a module', () => {
  const sum = (a: Tensor, b: Tensor) =>
    Array.from(a.data, Number).reduce((total, one, at) => total + one * Number(b.data[at]), 0);
  const layer = named('encoder_layer_pre_gelu');
  const call = async (options: object = {}) => {
    const { module, given } = await callOf(layer);
    const [src, masks] = given as [Float, object];
    return { module: module as nn.TransformerEncoderLayer, src, options: { ...masks, ...options } };
  };
  const grad_output = layer.tensor('d_output');

  it('differentiates with respect to what is asked for, and captures', async () => {
    const { module, src, options } = await call({ names: ['hook_mlp_out'] });
    const found = await module.backward([src, options], {
      grad_output,
      with_respect_to: { weights: 'linear*.bias', hooks: ['attn.hook_pattern', /mlp.hook_p/] },
    });
    expect([found.inputs, Object.keys(found.weights)]).toEqual([{}, ['linear1.bias', 'linear2.bias']]);
    expect(Object.keys(found.grad).sort()).toEqual(['attn.hook_pattern', 'mlp.hook_post', 'mlp.hook_pre']);
    expect(found.grad['attn.hook_pattern']?.dims).toEqual([2, 2, 5, 5]);
    expect(Object.keys(found.activations)).toEqual(['hook_mlp_out']);
    expect(found.output.data).toEqual((await module.forward(src, { ...options, names: undefined })).data);
    const attention = named('attention');
    const { module: two, given } = await callOf(attention);
    const heads = await two.backward(given, {
      grad_output: attention.tensor('d_output'),
      with_respect_to: { hooks: 'attn.hook_result' },
    });
    expect(heads.grad['attn.hook_result']?.dims).toEqual([2, 5, 3, 12]);
    expect(heads.activations).toEqual({});
  });

  it('has edits in force, and gradients of their values', async () => {
    const edit = { hook: 'attn.hook_z', head: 1, op: 'scale', value: 0.5 } as const;
    const { module, src, options } = await call({ edits: [edit] });
    const ask = { grad_output, with_respect_to: { edits: [0], inputs: 'src' } };
    const found = await module.backward([src, options], ask);
    const [plain, edited] = [await module.forward(src), await module.forward(src, options)];
    expect(edited.data).not.toEqual(plain.data);
    expect(edited.data).toEqual(found.output.data);
    const at = async (value: number) =>
      sum((await module.forward(src, { ...options, edits: [{ ...edit, value }] })) as Float, grad_output);
    expect(((await at(0.55)) - (await at(0.45))) / 0.1).toBeCloseTo(found.edits[0]?.item() as number, 2);
    const direction = src.mul(0).add(0.01);
    const moved = async (sign: number) =>
      sum((await module.forward(src.add(direction.mul(sign)), options)) as Float, grad_output);
    expect(((await moved(1)) - (await moved(-1))) / 2).toBeCloseTo(sum(found.inputs.src as Float, direction), 3);
    const cut = await module.backward([src, { edits: [{ hook: 'hook_resid_mid', op: 'zero' }] }], {
      grad_output,
      with_respect_to: { hooks: 'hook_attn_out' },
    });
    expect(largest(cut.grad.hook_attn_out as Float)).toBe(0);
    const inputOf = async (hook: string) => {
      const given = { edits: [{ hook, head: 1, op: 'zero' }] } as const;
      const { inputs } = await module.backward([src, given], { grad_output, with_respect_to: { inputs: 'src' } });
      return inputs.src as Float;
    };
    const ofResult = await inputOf('attn.hook_result'); // what a head adds is nothing without its z
    expectWithin('src', ofResult, await inputOf('attn.hook_z'), within(ofResult));
  });

  it('calls functions with activations and gradients', async () => {
    const seen: string[] = [];
    const { module, src } = await call();
    const doubled = await module.forward(src, { fwd_hooks: [['hook_mlp_out', (value) => value.mul(2)]] });
    const [plain, cache] = await module.forward(src, { names: ['hook_mlp_out'] });
    expect(largest(doubled.sub(plain).sub(cache.hook_mlp_out as Float))).toBeLessThan(1e-5);
    const with_respect_to = { hooks: '*.hook_normalized' };
    const { grad } = await module.backward([src], {
      grad_output,
      with_respect_to,
      bwd_hooks: [
        [
          ['hook_mlp_out', 'hook_attn_out'],
          (value, { name }) => {
            seen.push(name);
            return value.mul(0);
          },
        ],
      ],
    });
    expect(seen).toEqual(['hook_mlp_out', 'hook_attn_out']);
    expect(Object.values(grad).every((one) => largest(one) === 0)).toBe(true);
    const thrown = new Error('mine');
    const bwd_hooks = [['*hook_mlp_out', () => { throw thrown; }]] as const; // biome-ignore format: one line
    await expect(module.backward([src], { grad_output, bwd_hooks })).rejects.toBe(thrown);
  });

  // torch: softmax over no keys is empty, and what bmm adds up of nothing is 0.
  it.each(
    all
      .filter(({ op }) => /^d2l\.(Additive|Multi|TransformerDec)/.test(op) && op in makers)
      .map((one) => [one.name, one] as const),
  )('%s: without keys all numbers are finite', async (_, example) => {
    const { module, given, tensors } = await callOf(example);
    const empty = given.map((one, i) => {
      if (!['keys', 'values', 'enc_outputs'].includes(tensors[i] ?? '')) return i < tensors.length ? one : undefined;
      const { dims } = one as Tensor;
      return new Tensor('float32', new Float32Array(0), [dims[0] as number, 0, dims[2] as number]);
    });
    const { output, inputs, weights } = await module.backward(empty, { grad_output: example.tensor('d_output') });
    for (const found of [output, ...Object.values(inputs), ...Object.values(weights)]) {
      expect(found.data.every(Number.isFinite)).toBe(true);
    }
  });

  it('of d2l.DotProductAttention refuses what it has not', async () => {
    const x = [[[1, 2]]];
    const asked = { grad_output: x, with_respect_to: { hooks: ['*'] } };
    const failure = await failureOf(() => new d2l.DotProductAttention().backward([x, x, x], asked));
    expect(failure).toMatchObject({ code: 'unsupported' });
    expect(failure.message).toContain('with_respect_to');
    for (const given of [undefined, null, { queries: x }]) {
      const refused = await failureOf(() => new d2l.DotProductAttention().backward(given as never, { grad_output: x }));
      expect(refused).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('must be a list') });
    }
    const without = await failureOf(() => new d2l.DotProductAttention().backward([x, x, x], undefined as never));
    expect(without.code).toBe('invalid_argument');
  });

  it('of d2l.DotProductAttention is that of attention pooling, and of nn.LayerNorm without weights that of its input', async () => {
    const example = named('pooling_uniform');
    const [q, k] = [example.tensor('query'), example.tensor('key')];
    const values = k.slice(null, null, [0, 3]);
    const lengths = [0, 3];
    const dot = new d2l.DotProductAttention();
    const { inputs } = await dot.backward([q, k, values, lengths], { grad_output: example.tensor('d_output') });
    const pooled = await attention_pooling_backward(q, k, values, {
      mask: Mask.valid_lens(lengths),
      empty_row: 'uniform',
      grad_output: example.tensor('d_output'),
    });
    expect(inputs).toEqual({ queries: pooled.query, keys: pooled.key, values: pooled.value });
    const norm = new nn.LayerNorm(4, { elementwise_affine: false });
    const found = await norm.backward([q], { grad_output: q });
    expect([Object.keys(found.inputs), found.weights]).toEqual([['input'], {}]);
  });

  it.each([
    [{}, {}, 'invalid_argument', 'grad_output'],
    [{ grad_output: [1] }, {}, 'shape_mismatch', '[1]'],
    [{ with_respect_to: { weights: 'wieght' } }, {}, 'invalid_argument', 'wieght'],
    [{ with_respect_to: { inputs: 'tgt' } }, {}, 'invalid_argument', 'there are src'],
    [{ with_respect_to: { hooks: 'hook_nothing' } }, {}, 'invalid_argument', 'hook_nothing'],
    [{ with_respect_to: { edits: [0] } }, {}, 'invalid_argument', 'no edit 0'],
    [{ with_respect_to: { edits: [0] } }, { edits: null, fwd_hooks: null }, 'invalid_argument', 'no edit 0'],
    [{ with_respect_to: { edit: [0] } }, {}, 'unsupported', "'edit'"],
    [{ metric: 1 }, {}, 'unsupported', "'metric'"],
    [{}, { edits: [{ hook: 'hook_z', op: 'zero' }] }, 'invalid_argument', 'hook_z'],
    [{}, { fwd_hooks: [['hook_mlp_out', (value: Float) => value.mul(2)]] }, 'unsupported', 'hook_mlp_out'],
  ])('refuses %j with %j', async (asked, given, code, text) => {
    const { module, src } = await call();
    const own = code === 'invalid_argument' && text === 'grad_output' ? {} : { grad_output };
    const failure = await failureOf(() => module.backward([src, given as object], { ...own, ...asked } as never));
    expect([failure.code, failure.message]).toEqual([code, expect.stringContaining(text)]);
  });

  it('has no gradients of what is null among with_respect_to', async () => {
    const { module, src } = await call();
    const with_respect_to = { inputs: null, weights: null, hooks: null, edits: null } as never;
    const { inputs, weights, grad, edits } = await module.backward([src], { grad_output, with_respect_to });
    expect([inputs, weights, grad, edits]).toEqual([{}, {}, {}, []]);
  });

  it('refuses gradients of other dims than the output', async () => {
    const linear = await new nn.Linear(3, 2).load_state_dict({
      weight: [
        [1, 2, 3],
        [4, 5, 6],
      ],
      bias: [0, 0],
    });
    for (const [x, wrong, right] of [
      [[[[1, 2, 3]]], [[1, 0]], [[[1, 0]]]],
      [[[1, 2, 3]], [1, 0], [[1, 0]]],
      [[1, 2, 3], [[1, 0]], [1, 0]],
    ]) {
      const failure = await failureOf(() => linear.backward([x as number[]], { grad_output: wrong as number[] }));
      expect([failure.code, failure.message]).toEqual(['shape_mismatch', expect.stringContaining('grad_output')]);
      const { inputs } = await linear.backward([x as number[]], { grad_output: right as number[] });
      expect([...(inputs.input as Float).data]).toEqual([1, 2, 3]);
    }
    const { module, src, options } = await call();
    const attention = module.backward([src, options as object], { grad_output: grad_output.unsqueeze(0) });
    expect(await failureOf(() => attention)).toMatchObject({ code: 'shape_mismatch' });
  });

  it('refuses what has no gradient, and arguments that are no list', async () => {
    const { module, given } = await callOf(named('embedding'));
    const grad_output = named('embedding').tensor('d_output');
    const failure = await failureOf(() =>
      module.backward(given, { grad_output, with_respect_to: { inputs: 'input' } }),
    );
    expect([failure.code, failure.message]).toEqual([
      'invalid_argument',
      expect.stringContaining('none of its inputs has a gradient'),
    ]);
    const other = await failureOf(() => module.backward(given[0] as never, { grad_output }));
    expect(other.message).toContain('must be a list');
  });
});
