// Captures and edits from TypeScript: functions and edits, in this thread, in a worker and in generation; early ends.

import {
  type ActivationEdit,
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForSeq2SeqLM,
  type GenerativeModel,
  type HookFunction,
  Tensor,
} from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { fixturePath, storiesPath } from './support/references.js';
import { optionsFor, variants } from './support/variants.js';

const input_ids = [[1, 403, 407, 261, 378]];
type Float = Tensor<'float32'>;

/** A function that replaces every number by `change(number, its index)`. */
const each =
  (change: (value: number, index: number) => number): HookFunction =>
  ({ data }) => {
    for (const [index, value] of data.entries()) data[index] = change(value, index);
  };

describe.each(variants)('a decoder (%s)', (variant) => {
  let model: GenerativeModel;
  let logits: Float;
  beforeAll(async () => {
    model = await AutoModelForCausalLM.from_pretrained(storiesPath, { ...optionsFor(variant), worker: false });
    ({ logits } = await model({ input_ids }));
  });
  afterAll(() => model.dispose());

  const edited = (...edits: ActivationEdit[]) => model.run_with_hooks({ input_ids }, { edits });
  const changed = (name: 'blocks.2.attn.hook_z' | 'blocks.1.hook_resid_post', change: HookFunction) =>
    model.run_with_hooks({ input_ids }, { fwd_hooks: [[name, change]] });
  const { d_head, n_heads } = { d_head: 8, n_heads: 8 };
  const headOf = (index: number) => Math.floor(index / d_head) % n_heads;
  const positionOf = (index: number) => Math.floor(index / d_head / n_heads);

  it('gives the logits where nothing is changed', async () => {
    expect(await model.run_with_hooks({ input_ids })).toEqual(logits);
    expect(await model.run_with_hooks({ input_ids }, { fwd_hooks: [['*', () => {}]] })).toEqual(logits);
  });

  it('does the same with an edit and with a function', async () => {
    const silent = await edited({ hook: 'blocks.2.attn.hook_z', op: 'zero', head: 3, pos: -1 });
    expect(silent.data).not.toEqual(logits.data);
    const byFunction = each((value, at) => (headOf(at) === 3 && positionOf(at) === 4 ? 0 : value));
    expect(silent).toEqual(await changed('blocks.2.attn.hook_z', byFunction));

    const scaled = await edited({ hook: 'blocks.2.attn.hook_z', op: 'scale', head: [0, 2], value: 0.5 });
    const half = each((value, at) => ([0, 2].includes(headOf(at)) ? value * 0.5 : value));
    expect(scaled).toEqual(await changed('blocks.2.attn.hook_z', half));

    const vector = Array.from({ length: 64 }, (_, i) => Math.sin(i));
    const steered = await edited({ hook: 'blocks.1.hook_resid_post', op: 'add', pos: 2, value: [vector] });
    const floats = Float32Array.from(vector);
    const add = each((value, at) => (Math.floor(at / 64) === 2 ? value + (floats[at % 64] as number) : value));
    expect(steered).toEqual(await changed('blocks.1.hook_resid_post', add));
  });

  it('drops the axis of a single head from what its value must fit', async () => {
    const [, cache] = await model.run_with_cache(
      { input_ids: [[1, 2, 3, 4, 5]] },
      { names_filter: 'blocks.2.attn.hook_z' },
    );
    const other = (cache['blocks.2.attn.hook_z'] as Float).slice(null, null, 3); // [batch, pos, d_head]
    const patched = await edited({ hook: 'blocks.2.attn.hook_z', op: 'replace', head: 3, value: other });
    const put = each((value, at) =>
      headOf(at) === 3 ? (other.data[positionOf(at) * d_head + (at % d_head)] as number) : value,
    );
    expect(patched).toEqual(await changed('blocks.2.attn.hook_z', put));
    const failure = await failureOf(() =>
      edited({ hook: 'blocks.2.attn.hook_z', op: 'replace', head: 3, value: [[1, 2, 3]] }),
    );
    expect(failure.code).toBe('shape_mismatch');
  });

  it('takes another tensor from a function, and shows earlier changes to later ones', async () => {
    const twice: HookFunction = (value) =>
      new Tensor(
        'float32',
        value.data.map((x) => x * 2),
        value.dims,
      );
    const [after, cache] = await model.run_with_cache(
      { input_ids },
      {
        names_filter: ['blocks.1.hook_resid_post', 'hook_embed'],
        fwd_hooks: [
          ['blocks.1.hook_resid_post', twice],
          [/^blocks\.1\.hook_resid_post$/, each((value) => value / 2)],
        ],
      },
    );
    expect(after).toEqual(logits);
    const [, plain] = await model.run_with_cache({ input_ids }, { names_filter: '*' });
    expect(cache['blocks.1.hook_resid_post']).toEqual(plain['blocks.1.hook_resid_post']);
  });

  it('calls the functions of a pattern at every hook point, with its name', async () => {
    const names: string[] = [];
    await model.run_with_hooks(
      { input_ids },
      { fwd_hooks: [['blocks.*.attn.hook_pattern', (value, { name }) => void names.push(`${name} ${value.dims}`)]] },
    );
    expect(names).toEqual(Array.from({ length: 5 }, (_, layer) => `blocks.${layer}.attn.hook_pattern 1,8,5,5`));
  });

  it('rejects with what a function throws, and works on', async () => {
    const thrown = new Error('of my own');
    const run = changed('blocks.1.hook_resid_post', () => {
      throw thrown;
    });
    await expect(run).rejects.toBe(thrown);
    const asynchronous = (async () => {}) as unknown as HookFunction;
    const short: HookFunction = () => new Tensor('float32', new Float32Array(3), [3]);
    expect(await failureOf(() => changed('blocks.1.hook_resid_post', asynchronous))).toMatchObject({
      code: 'invalid_argument',
    });
    const failure = await failureOf(() => changed('blocks.1.hook_resid_post', short));
    expect(failure.code).toBe('shape_mismatch');
    expect(failure.message).toContain('[3], blocks.1.hook_resid_post has [1, 5, 64]');
    expect(await model.run_with_hooks({ input_ids })).toEqual(logits);
  });

  it.each<[string, ActivationEdit, string]>([
    ['an op there is not', { hook: 'hook_embed', op: 'double' as 'zero' }, 'double'],
    ['no value', { hook: 'hook_embed', op: 'scale' }, 'needs a value'],
    ['a value for nothing', { hook: 'hook_embed', op: 'zero', value: 1 }, 'takes no value'],
    ['a head that is not there', { hook: 'blocks.0.attn.hook_z', op: 'zero', head: 8 }, 'head 8 is not among the 8'],
    ['heads where there are none', { hook: 'hook_embed', op: 'zero', head: 0 }, 'no axis of heads'],
    ['a position that is not there', { hook: 'hook_embed', op: 'zero', pos: 5 }, 'position 5'],
    ['half a position', { hook: 'hook_embed', op: 'zero', pos: 0.5 }, 'whole number'],
    // @ts-expect-error: no hook has this name
    ['a name that no hook has', { hook: 'blocks.0.hook_resid', op: 'zero' }, "'blocks.0.hook_resid'"],
    ['an unknown member', { hook: 'hook_embed', op: 'zero', heads: [1] } as ActivationEdit, 'heads'],
  ])('refuses %s', async (_, edit, part) => {
    const failure = await failureOf(() => edited(edit));
    expect(['invalid_argument', 'unsupported']).toContain(failure.code);
    expect(failure.message).toContain(part);
  });

  it('ends before a layer', async () => {
    const [residual, cache] = await model.run_with_cache({ input_ids }, { stop_at_layer: 2 });
    const [, whole] = await model.run_with_cache({ input_ids });
    expect(residual).toEqual(whole['blocks.2.hook_resid_pre']);
    const names = Object.keys(cache);
    expect(names.at(-1)).toBe('blocks.1.hook_resid_post');
    expect(names).toEqual(Object.keys(whole).slice(0, names.length));
    const last = await model.run_with_hooks({ input_ids }, { stop_at_layer: -1 });
    expect(last).toEqual(whole['blocks.4.hook_resid_pre']);
    const all = await model.run_with_hooks({ input_ids }, { stop_at_layer: 5 });
    expect(all).toEqual(whole['blocks.4.hook_resid_post']);
    expect(await model.run_with_hooks({ input_ids }, { stop_at_layer: 0 })).toEqual(whole.hook_embed);
    for (const stop_at_layer of [6, -6, 0.5]) {
      expect((await failureOf(() => model.run_with_hooks({ input_ids }, { stop_at_layer }))).code).toBe(
        'invalid_argument',
      );
    }
    const beyond = () =>
      model.run_with_cache({ input_ids }, { stop_at_layer: 2, names_filter: 'blocks.2.hook_resid_pre' });
    expect((await failureOf(beyond)).message).toContain("'blocks.2.hook_resid_pre'");
    const edit = { hook: 'blocks.3.hook_mlp_out', op: 'zero' } as const;
    expect((await failureOf(() => model.run_with_hooks({ input_ids }, { stop_at_layer: 2, edits: [edit] }))).code).toBe(
      'invalid_argument',
    );
  });

  it("reads TransformerLens 3's names", async () => {
    const [, cache] = await model.run_with_cache(
      { input_ids },
      { names_filter: ['embed.hook_out', 'blocks.*.attn.q.hook_out'] },
    );
    expect(Object.keys(cache)).toEqual([
      'hook_embed',
      ...Array.from({ length: 5 }, (_, l) => `blocks.${l}.attn.hook_q`),
    ]);
    expect(cache['blocks.3.attn.q.hook_out']).toBe(cache['blocks.3.attn.hook_q']);
    expect(cache['embed.hook_out']).toBe(cache.hook_embed);
    const renamed = await edited({ hook: 'blocks.1.hook_out', op: 'scale', value: 2 });
    expect(renamed).toEqual(await edited({ hook: 'blocks.1.hook_resid_post', op: 'scale', value: 2 }));
  });

  it('captures every step of a generation as one pass over the text does', async () => {
    const names_filter = ['blocks.1.hook_resid_post', 'blocks.4.attn.hook_pattern'] as const;
    const options = { names_filter, max_new_tokens: 3, return_dict_in_generate: true } as const;
    const { sequences, cache = [], past_key_values } = await model.generate({ input_ids }, options);
    await past_key_values?.dispose();
    const text = [[...sequences.data].slice(0, -1).map(Number)];
    const [, whole] = await model.run_with_cache({ input_ids: text }, { names_filter });
    expect(cache.map((step) => step['blocks.1.hook_resid_post']?.dims)).toEqual([
      [1, 5, 64],
      [1, 1, 64],
      [1, 1, 64],
    ]);
    const joined = cache.flatMap((step) => [...(step['blocks.1.hook_resid_post'] as Float).data]);
    expect(joined).toEqual([...(whole['blocks.1.hook_resid_post'] as Float).data]);
    expect(cache[2]?.['blocks.4.attn.hook_pattern']).toEqual(
      whole['blocks.4.attn.hook_pattern']?.slice(null, null, [6, 7]),
    );
    const refused = () => model.generate({ input_ids }, { names_filter: '*' });
    expect((await failureOf(refused)).message).toContain('names_filter needs return_dict_in_generate');
  });

  it('edits every step of a generation as the passes over its text', async () => {
    const edits: ActivationEdit[] = [
      { hook: 'blocks.1.hook_resid_post', op: 'scale', pos: [2, 6], value: -1.5 },
      { hook: 'blocks.3.attn.hook_z', op: 'zero', head: 1 },
    ];
    const ids = await model.generate({ input_ids }, { edits, max_new_tokens: 6 });
    let text = input_ids.map((row) => [...row]);
    for (let step = 0; step < 6; step++) {
      const here = edits.map((edit) => ({
        ...edit,
        pos: (edit.pos as number[] | undefined)?.filter((pos) => pos < (text[0] as number[]).length),
      }));
      const row = (await model.run_with_hooks({ input_ids: text }, { edits: here })).slice(0, -1);
      text = [[...(text[0] as number[]), row.data.indexOf(Math.max(...row.data))]];
    }
    expect([...ids.data].map(Number)).toEqual(text[0]);
    expect(ids).not.toEqual(await model.generate({ input_ids }, { max_new_tokens: 6 }));
    const steps = [];
    for await (const { token_id, cache } of model.generate_stream(
      { input_ids },
      { edits, names_filter: 'hook_embed', max_new_tokens: 6 },
    )) {
      steps.push(token_id);
      expect(cache?.hook_embed.dims.at(-1)).toBe(64);
    }
    expect(steps).toEqual((text[0] as number[]).slice(5));
    for (const [edit, told] of [
      [{ hook: 'hook_embed', op: 'zero', pos: 10 }, 'position 10 is not among the 10 of this generation'],
      [{ hook: 'hook_embed', op: 'zero', pos: -6 }, 'position -6 is not among the 10 of this generation'],
      [{ hook: 'blocks.0.attn.hook_pattern', op: 'zero', key_pos: 10 }, 'key position 10 is not among the 10'],
    ] as const) {
      const beyond = await failureOf(() => model.generate({ input_ids }, { edits: [edit], max_new_tokens: 6 }));
      expect([beyond.code, beyond.message]).toEqual(['invalid_argument', expect.stringContaining(told)]);
    }
    const last = { hook: 'hook_embed', op: 'zero', pos: 9 } as const; // the last token is not read
    expect((await model.generate({ input_ids }, { edits: [last], max_new_tokens: 6 })).dims).toEqual([1, 11]);
    const past = (await model({ input_ids }, { use_cache: true })).past_key_values;
    const behind = () =>
      model.generate(
        { input_ids: [[...input_ids.flat(), 3]], past_key_values: past },
        { edits: [{ ...last, pos: 2 }] },
      );
    expect((await failureOf(behind)).message).toContain('position 2 is not among');
    expect(await past?.get_seq_length()).toBe(5);
    await past?.dispose();
    const select = { pos: 10 };
    const seen = { names_filter: 'hook_embed', select, max_new_tokens: 6, return_dict_in_generate: true } as const;
    expect((await failureOf(() => model.generate({ input_ids }, seen))).message).toContain('position 10 is not among');
    const thrown = new Error('in a step');
    const failing = model.generate(
      { input_ids },
      {
        max_new_tokens: 2,
        fwd_hooks: [
          [
            'hook_embed',
            () => {
              throw thrown;
            },
          ],
        ],
      },
    );
    await expect(failing).rejects.toBe(thrown);
  });

  it('edits the same in a worker', async () => {
    const remote = await AutoModelForCausalLM.from_pretrained(storiesPath, { ...optionsFor(variant), worker: true });
    const edits: ActivationEdit[] = [{ hook: 'blocks.*.attn.hook_pattern', op: 'mean', head: [1, 2] }];
    expect(await remote.run_with_hooks({ input_ids }, { edits })).toEqual(await edited(...edits));
    await remote.dispose();
  });

  it('refuses to capture what memory cannot hold, with the size, before it computes', async () => {
    // 5 layers × 8 heads × (40 · 512²) patterns, and as much again for the scores of a layer: 1.8 GB; with all scores,
    // more than 4.
    const row = Array.from({ length: 512 }, (_, i) => i % 500);
    const many = Array.from({ length: 40 }, () => row);
    const { workspace } = model.info().memory;
    const failure = await failureOf(() => model.run_with_cache({ input_ids: many }, { names_filter: '*' }));
    expect(failure.code).toBe('out_of_memory');
    expect(failure.message).toMatch(/takes \d+\.\d GB, and \d+\.\d GB of 4\.2 GB are left/);
    expect(model.info().memory.workspace).toBe(workspace); // nothing was computed, which takes 40 times this memory
    expect((await model({ input_ids })).logits).toEqual(logits);
  });
});

it('ends in the encoder or in the decoder of an encoder-decoder', async () => {
  const model = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath('models/bart/odd'), optionsFor('simd128'));
  const source = { input_ids: [[5, 6, 7, 8]] };
  const both = { ...source, decoder_input_ids: [[2, 9]] };
  const [, whole] = await model.run_with_cache(both);
  expect(await model.run_with_hooks(source, { stop_at_layer: 1 })).toEqual(whole['encoder.1.hook_resid_pre']);
  const [residual, cache] = await model.run_with_cache(both, { stop_at_layer: -1 });
  expect(residual).toEqual(whole['decoder.1.hook_resid_pre']);
  expect(cache['encoder.1.hook_resid_post']).toEqual(whole['encoder.1.hook_resid_post']);
  const unreached = await failureOf(() => model.run_with_cache(source, { names_filter: 'decoder.hook_embed' }));
  expect(unreached).toMatchObject({
    code: 'invalid_argument',
    message: "names_filter: this pass does not come by 'decoder.hook_embed'",
  });
  expect(Object.keys((await model.run_with_cache(source, { names_filter: '*decoder.hook_embed*' }))[1])).toEqual([]);
  const metric = { output: 'encoder_last_hidden_state', weights: 1 };
  const [encoded, seen] = await model.run_with_cache(source, { metric });
  expect(encoded).toEqual((await model(source)).encoder_last_hidden_state);
  expect(Object.keys(seen.grad).sort()).toEqual(Object.keys(seen).sort());
  await model.dispose();
});

it('ends in the tower of CLIP that has inputs', async () => {
  const model = await AutoModel.from_pretrained(fixturePath('models/clip/odd'), optionsFor('simd128'));
  const input_ids = [[5, 6, 7, 96]];
  const [, whole] = await model.run_with_cache({ input_ids });
  const text = await model.run_with_hooks({ input_ids }, { stop_at_layer: 1 });
  expect(text).toEqual(whole['text_model.blocks.1.hook_resid_pre']);
  // With a metric, too: its hooks alone, and the same outputs.
  const metric = { output: 'text_model_output.pooler_output', weights: 1 };
  const [output, cache] = await model.run_with_cache({ input_ids }, { metric });
  const names = Object.keys(whole);
  expect([Object.keys(cache), Object.keys(cache.grad).sort()]).toEqual([names, names.toSorted()]);
  expect(output).toEqual(await model.run_with_hooks({ input_ids }));
  expect(await model.run_with_hooks({ input_ids }, { metric })).toEqual(output);
  const edits = [{ hook: '*hook_z', op: 'zero' }] as const;
  expect((await model.run_with_hooks({ input_ids }, { edits })).data).not.toEqual(output.data);
  const named = [{ hook: ['*hook_z', 'vision_model.hook_embed'], op: 'zero' }] as const;
  const unreached = await failureOf(() => model.run_with_hooks({ input_ids }, { edits: named }));
  expect(unreached.message).toBe('edit: this pass has no hook point "vision_model.hook_embed"');
  await model.dispose();
});
