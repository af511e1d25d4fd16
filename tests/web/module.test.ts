// Common behaviour of modules: loading, errors, disposal, captures.

import { AutoModelForCausalLM, configure, d2l, full, Mask, nn, softmax, Tensor } from 'clearformer';
import * as inline from 'clearformer/inline';
import { describe, expect, it } from 'vitest';
import { safetensors } from './support/checkpoints.js';
import { failureOf } from './support/failures.js';
import { storiesPath } from './support/references.js';

describe('the core that functions and modules share', () => {
  /** An array that throws while the core reads it, as a trap would. */
  class Trap extends Float32Array {
    override get BYTES_PER_ELEMENT(): number {
      throw new Error('trap');
    }
  }

  it('is made anew after a trap; modules get their weights anew, too', async () => {
    const weights = { weight: [[2]], bias: [1] };
    const linear = await new nn.Linear(1, 1).load_state_dict(weights);
    const failure = await failureOf(() => softmax({ data: new Trap(1), dims: [1] }));
    expect(failure).toMatchObject({ code: 'poisoned' });
    expect((await softmax([1, 1])).tolist()).toEqual([0.5, 0.5]);
    expect(await failureOf(() => linear.forward([1]))).toMatchObject({ code: 'poisoned' });
    await linear.load_state_dict(weights);
    expect((await linear.forward([1])).tolist()).toEqual([3]);
  });

  it('is the build with the same bits everywhere where that is set, as for models', async () => {
    configure({ deterministic: true });
    const model = await AutoModelForCausalLM.from_pretrained(storiesPath);
    expect(model.info().simd).toBe('simd128');
    await model.dispose();
    configure({ deterministic: undefined });
  });

  it('is part of the inline entry', async () => {
    expect((await inline.softmax([1, 1])).tolist()).toEqual([0.5, 0.5]);
    const norm = new inline.nn.LayerNorm(2, { elementwise_affine: false });
    expect((await norm.forward([1, 1])).tolist()).toEqual([0, 0]);
  });
});

describe('a module', () => {
  const state = {
    weight: [
      [1, 2],
      [3, 4],
      [5, 6],
    ],
    bias: [0, 0, 1],
  };
  const loaded = () => new nn.Linear(2, 3).load_state_dict(state);

  it('needs its weights first, and refuses to run after dispose', async () => {
    const linear = new nn.Linear(2, 3);
    expect(await failureOf(() => linear.forward([[1, 2]]))).toMatchObject({
      code: 'invalid_argument',
      message: 'nn.Linear: forward before load_state_dict',
    });
    await linear.dispose();
    await linear.load_state_dict(state);
    expect((await linear.forward([[1, 2]])).tolist()).toEqual([[5, 11, 18]]);
    await linear.dispose();
    await linear.dispose();
    expect((await failureOf(() => linear.forward([[1, 2]]))).code).toBe('disposed');
    await linear.load_state_dict(state);
    linear[Symbol.dispose]();
    expect((await failureOf(() => linear.forward([[1, 2]]))).code).toBe('disposed');
  });

  it('completes the calls in progress with the weights they began with', async () => {
    const linear = await loaded();
    const disposed = linear.forward([[1, 2]]);
    const differentiated = linear.backward([[[1, 2]]], { grad_output: [[1, 0, 0]] });
    const disposal = linear.dispose();
    expect((await failureOf(() => linear.forward([[1, 2]]))).code).toBe('disposed');
    expect((await disposed).tolist()).toEqual([[5, 11, 18]]);
    expect((await differentiated).inputs.input?.tolist()).toEqual([[1, 2]]);
    await disposal;
    const norm = await new nn.LayerNorm(2).load_state_dict({ weight: [1, 1], bias: [0, 0] });
    const part = norm.forward([[1, 1]], { names: ['*'], select: { hook: 'hook_normalized', feature: 0 } } as object);
    const [before] = (await Promise.all([part, norm.load_state_dict({ weight: [1, 1], bias: [7, 7] })])) as unknown[];
    expect((before as [Tensor<'float32'>])[0].tolist()).toEqual([[0, 0]]);
    expect((await norm.forward([[1, 1]])).tolist()).toEqual([[7, 7]]);
    const positions = new d2l.PositionalEncoding(2); // loads itself at its first call
    const both = await Promise.all([positions.forward([[[1, 2]]]), positions.forward([[[1, 2]]])]);
    expect(both.map((one) => one.tolist())).toEqual([[[[1, 3]]], [[[1, 3]]]]);
  });

  it('tells the place of an index outside the table on each of its axes', async () => {
    const embedding = await new nn.Embedding(2, 1).load_state_dict({ weight: [[1], [2]] });
    for (const [ids, text] of [
      [[0, 1, 7], 'id 7 at [2]'],
      [[[0, 1, 7]], 'id 7 at [0, 2]'],
      [[[[0, 1], [0, 0]], [[1, 5], [0, 0]]], 'id 5 at [1, 0, 1]'], // biome-ignore format: a tensor
      [new Tensor('int32', Int32Array.of(3), []), 'id 3 at []'],
    ] as const) {
      expect((await failureOf(() => embedding.forward(ids))).message).toContain(text);
    }
  });

  it('lists every key that does not fit in one error, and keeps the weights it had', async () => {
    const linear = await loaded();
    const wrong = { weight: [[1, 2]], bia: [0, 0, 0], weights: [1] };
    const { code, message } = await failureOf(() => linear.load_state_dict(wrong));
    expect(code).toBe('shape_mismatch');
    for (const part of [
      '"weight" has shape [1, 2], expected [3, 2]',
      '"bias" of shape [3] is missing',
      '"bia" is unexpected',
      '"weights" is unexpected',
    ]) {
      expect(message).toContain(part);
    }
    expect((await linear.forward([[1, 2]])).tolist()).toEqual([[5, 11, 18]]);
    await linear.load_state_dict({ ...state, bias: [1, 1, 1] });
    expect((await linear.forward([[1, 2]])).tolist()).toEqual([[6, 12, 18]]);
  });

  it('takes the bytes of a safetensors file', async () => {
    const header = {
      bias: { dtype: 'F32', shape: [3], data_offsets: [0, 12] },
      weight: { dtype: 'F32', shape: [3, 2], data_offsets: [12, 36] },
    };
    const bytes = safetensors(header, new Uint8Array(Float32Array.of(0, 0, 1, 1, 2, 3, 4, 5, 6).buffer));
    for (const file of [bytes, bytes.slice().buffer]) {
      const linear = await new nn.Linear(2, 3).load_state_dict(file);
      expect((await linear.forward([[1, 2]])).tolist()).toEqual([[5, 11, 18]]);
    }
    const gone = bytes.slice();
    structuredClone(gone.buffer, { transfer: [gone.buffer] });
    for (const broken of [bytes.slice(0, 30), bytes.slice(0, -4), new Uint8Array(0), gone, gone.buffer]) {
      expect((await failureOf(() => new nn.Linear(2, 3).load_state_dict(broken))).code).toBe('malformed_file');
    }
  });

  it('refuses options it does not have, by name', async () => {
    expect(await failureOf(() => new nn.Linear(2, 3, { device: 'cuda' } as nn.LinearOptions))).toMatchObject({
      code: 'unsupported',
    });
    const options = { batch_first: false } as unknown as nn.MultiheadAttentionOptions;
    expect((await failureOf(() => new nn.MultiheadAttention(4, 2, options))).message).toContain('batch_first');
    const eps = { eps: Number.NaN };
    expect((await failureOf(() => new nn.LayerNorm(4, eps))).code).toBe('invalid_argument');
    const heads = await failureOf(() => new nn.MultiheadAttention(4, 3).load_state_dict({}));
    expect(heads.message).toContain('"num_heads" is 3 and does not divide embed_dim 4');
    for (const attention of [undefined, 'dot'] as const) {
      const made = new d2l.MultiHeadAttention(4, 2, { attention, attention_num_hiddens: 3 });
      const { code, message } = await failureOf(() => made.load_state_dict({}));
      expect([code, message]).toEqual(['invalid_argument', expect.stringContaining('"attention_num_hiddens" needs')]);
    }
    const layer = new nn.TransformerEncoderLayer(4, 2);
    expect((await failureOf(() => new nn.TransformerEncoder(layer, 2, new nn.Linear(4, 4) as never))).code).toBe(
      'unsupported',
    );
    const other = new nn.TransformerEncoder(layer, 2, new nn.LayerNorm(5, { eps: 1 }));
    expect((await failureOf(() => other.load_state_dict({}))).message).toContain('"normalized_shape" must be d_model');
    expect((await failureOf(() => new nn.TransformerDecoder(layer as never, 2))).message).toContain(
      'TransformerDecoderLayer',
    );
  });

  it('gives captured activations by name, and refuses names that no hook has', async () => {
    const norm = new nn.LayerNorm(3, { elementwise_affine: false });
    const [output, cache] = await norm.forward([[1, 2, 3]], { names: ['hook_normalized'] });
    expect(Object.keys(cache)).toEqual(['hook_normalized']);
    expect(output.data).toEqual(cache.hook_normalized?.data);
    expect((await failureOf(() => norm.forward([[1, 2, 3]], { names: ['hook_pattern'] }))).message).toContain(
      'hook_pattern',
    );
    expect((await failureOf(() => norm.forward([[1, 2, 3]], { names: '*' as never }))).code).toBe('invalid_argument');
  });

  it("takes per-head masks in torch's order and here", async () => {
    const identity = [
      [1, 0],
      [0, 1],
    ];
    const attention = await new nn.MultiheadAttention(2, 2, { bias: false }).load_state_dict({
      in_proj_weight: [...identity, ...identity, ...identity],
      'out_proj.weight': identity,
    });
    const x = [identity, identity];
    const flags = [
      [
        [0, 1],
        [0, 0],
      ],
      [
        [0, 0],
        [1, 0],
      ],
      [
        [0, 0],
        [0, 0],
      ],
      [
        [1, 1],
        [0, 0],
      ],
    ];
    const options = { average_attn_weights: false };
    const [, folded] = await attention.forward(x, x, x, { ...options, attn_mask: Mask.ignore(flags) });
    const nested = [flags.slice(0, 2), flags.slice(2)];
    const [, apart] = await attention.forward(x, x, x, { ...options, attn_mask: Mask.ignore(nested) });
    expect(folded.data).toEqual(apart.data);
    expect(folded.slice(1, 1, 0).tolist()).toEqual([0, 0]);
    expect(folded.slice(0, 0, 0).tolist()).toEqual([1, 0]);
    // What torch refuses: masks that would have to be broadcast, or that fit by chance.
    const ones = (...dims: number[]) => Mask.ignore(full(dims, false));
    for (const dims of [[2], [1, 2], [1, 2, 2], [2, 2, 2], [1, 1, 2, 2]]) {
      const failure = await failureOf(() => attention.forward(x, x, x, { attn_mask: ones(...dims) }));
      expect([dims, failure.code]).toEqual([dims, 'shape_mismatch']);
      expect(failure.message).toContain('attn_mask: needs dims [2, 2] or [4, 2, 2]');
    }
    for (const dims of [[2], [1, 2], [2, 1]]) {
      const failure = await failureOf(() => attention.forward(x, x, x, { key_padding_mask: ones(...dims) }));
      expect([dims, failure.code]).toEqual([dims, 'shape_mismatch']);
    }
    const alone = x[0] as number[][];
    const [, own] = await attention.forward(alone, alone, alone, { key_padding_mask: Mask.ignore([false, true]) });
    expect(own.slice(null, 1).tolist()).toEqual([0, 0]);
    const batched = { key_padding_mask: Mask.ignore([[false, true]]) };
    expect((await failureOf(() => attention.forward(alone, alone, alone, batched))).code).toBe('shape_mismatch');
  });

  it('without hooks has no options', async () => {
    const linear = await new nn.Linear(1, 1).load_state_dict({ weight: [[2]], bias: [0] });
    for (const options of [{ names: ['*'] }, { device: 'cpu' }]) {
      const failure = await failureOf(() => linear.forward([[1]], options as never));
      expect(failure).toMatchObject({ code: 'unsupported', details: { option: Object.keys(options)[0] } });
      const backward = linear.backward([[[1]], options as never], { grad_output: [[1]] });
      expect(await failureOf(() => backward)).toMatchObject({ code: 'unsupported' });
    }
    expect(await failureOf(() => linear.backward([[[1]]], undefined as never))).toMatchObject({
      code: 'invalid_argument',
    });
  });

  it('nn.Embedding: padding_idx is the index of a row', async () => {
    for (const padding_idx of [4, -5, 1.5, '1' as never]) {
      const failure = await failureOf(async () => new nn.Embedding(4, 3, { padding_idx }));
      expect(failure).toMatchObject({ code: 'invalid_argument', details: { option: 'padding_idx' } });
    }
    for (const padding_idx of [3, -4, null]) expect(new nn.Embedding(4, 3, { padding_idx })).toBeDefined();
  });

  it('d2l.DotProductAttention does not broadcast batches, as torch.bmm', async () => {
    const [two, one] = [full([2, 2, 3], 1), full([1, 2, 3], 1)];
    const attention = new d2l.DotProductAttention();
    expect((await failureOf(() => attention.forward(two, one, one))).code).toBe('shape_mismatch');
    const options = { grad_output: two };
    expect((await failureOf(() => attention.backward([two, one, one], options))).code).toBe('shape_mismatch');
  });
});
