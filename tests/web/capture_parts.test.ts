// Parts of activations: what is selected and reduced in the core equals the same of the whole activation, in both builds,
// in this thread and in a worker; and only that is copied.

import {
  AutoModelForCausalLM,
  type CapturePart,
  capturedIndices,
  d2l,
  type GenerativeModel,
  type HookName,
  type NamesFilter,
  nn,
  type Tensor,
} from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { fixturePath, storiesPath } from './support/references.js';
import { optionsFor, variants } from './support/variants.js';

const input_ids = [
  [1, 403, 407, 261, 378],
  [1, 306, 505, 29, 7],
];
const post = 'blocks.1.mlp.hook_post';
const pattern = 'blocks.2.attn.hook_pattern';
const z = 'blocks.2.attn.hook_z';

describe.each(variants)('parts of activations (%s)', (variant) => {
  let model: GenerativeModel;
  let whole: Record<string, Tensor<'float32'>>;
  let logits: Tensor<'float32'>;
  beforeAll(async () => {
    model = await AutoModelForCausalLM.from_pretrained(storiesPath, { ...optionsFor(variant), worker: false });
    [logits, whole] = await model.run_with_cache({ input_ids });
  });
  afterAll(() => model.dispose());

  const captured = (names_filter: NamesFilter, select: CapturePart | readonly CapturePart[]) =>
    model.run_with_cache({ input_ids }, { names_filter, select });
  const part = async (name: HookName, select: CapturePart) =>
    (await captured(name, select))[1][name] as Tensor<'float32'>;
  const of = (name: string) => whole[name] as Tensor<'float32'>;

  it('are what the indices select; a number drops its axis', async () => {
    expect(await part(post, { feature: 7, pos: -1 })).toEqual(of(post).slice(null, -1, 7));
    const rows = await part(z, { row: [1], head: [6, 0], pos: [2, 0] });
    expect(rows.dims).toEqual([1, 2, 2, 8]);
    for (const [i, pos] of [2, 0].entries()) {
      for (const [j, head] of [6, 0].entries()) expect(rows.slice(0, i, j)).toEqual(of(z).slice(1, pos, head));
    }
    expect(await part(pattern, { head: 3, key_pos: 0 })).toEqual(of(pattern).slice(null, 3, null, 0));
    const [found] = await captured(post, { pos: 0 });
    expect(found).toEqual(logits);
  });

  it('are reduced over axes, which are dropped', async () => {
    const close = (found: Tensor<'float32'>, wanted: Tensor<'float32'>) => {
      expect(found.dims).toEqual(wanted.dims);
      for (const [i, x] of found.data.entries()) expect(Math.abs(x - (wanted.data[i] as number))).toBeLessThan(1e-5);
    };
    close(await part(post, { reduction: 'mean', over: ['row', 'pos'] }), of(post).mean([0, 1]));
    close(await part(z, { reduction: 'norm', over: 'feature', head: 2 }), of(z).slice(null, null, 2).norm(2, -1));
    expect(await part(post, { reduction: 'max', over: 'pos' })).toEqual(of(post).max(1));
    expect(await part(pattern, { reduction: 'max', over: ['pos', 'key_pos'] })).toEqual(of(pattern).max([2, 3]));
  });

  it('are the largest numbers, with their indices in the whole', async () => {
    const [, cache] = await captured(
      [post, z],
      [
        { hook: post, top_k: 3, over: 'feature' },
        { hook: z, top_k: 2, over: 'pos', pos: [4, 1, 3], head: 1 },
      ],
    );
    const [values, at] = [cache[post] as Tensor<'float32'>, capturedIndices(cache, post)];
    expect(values.dims).toEqual([2, 5, 3]);
    for (let row = 0; row < 2; row++) {
      for (let pos = 0; pos < 5; pos++) {
        const all = [...of(post).slice(row, pos).data];
        expect([...values.slice(row, pos).data]).toEqual([...all].sort((a, b) => b - a).slice(0, 3));
        expect([...at.slice(row, pos).data].map((index) => all[Number(index)])).toEqual([
          ...values.slice(row, pos).data,
        ]);
      }
    }
    const positions = capturedIndices(cache, z);
    expect([cache[z]?.dims, positions.dims]).toEqual([[2, 2, 8], [2, 2, 8]]); // biome-ignore format: dims
    for (const [i, index] of positions.data.entries()) {
      expect([1n, 3n, 4n]).toContain(index);
      const [row, d] = [Math.floor(i / 16), i % 8];
      expect(cache[z]?.data[i]).toBe(of(z).slice(row, Number(index), 1, d).item());
    }
    expect(() => capturedIndices(cache, 'hook_embed')).toThrow("'hook_embed' was not captured with top_k");
  });

  it('are beside whole activations, after edits, and by the other names', async () => {
    const edits = [{ hook: post, op: 'scale', value: 2 }] as const;
    const names_filter = [post, 'embed.hook_out', 'blocks.*.hook_out'] as const;
    const select = { hook: [post, 'blocks.*.hook_out'], pos: -1 } as const;
    const [, cache] = await model.run_with_cache({ input_ids }, { names_filter, select, edits });
    const [, edited] = await model.run_with_cache({ input_ids }, { names_filter: '*', edits });
    expect(Object.keys(cache).length).toBe(7);
    expect(cache.hook_embed).toEqual(edited.hook_embed);
    expect(cache[post]).toEqual(edited[post]?.slice(null, -1));
    expect(cache['blocks.3.hook_out']).toEqual(edited['blocks.3.hook_resid_post']?.slice(null, -1));
  });

  it('are those of hook points on request, too', async () => {
    const result = 'blocks.2.attn.hook_result';
    const [, all] = await model.run_with_cache({ input_ids }, { names_filter: [z, result] });
    const wanted = { [z]: all[z]?.slice(null, -1), [result]: all[result]?.slice(null, -1) };
    for (const hook of [undefined, 'blocks.2.*', [z, result]] as const) {
      const [, cache] = await captured([z, result], { hook, pos: -1 });
      expect(cache).toEqual(wanted);
    }
  });

  it('come from a worker, and behind a cache positions are those of the whole sequence', async () => {
    const remote = await AutoModelForCausalLM.from_pretrained(storiesPath, { ...optionsFor(variant), worker: true });
    const select = { top_k: 2, over: 'feature', pos: [3, 4] } as const;
    const [, cache] = await remote.run_with_cache({ input_ids }, { names_filter: post, select });
    const [, here] = await captured(post, select);
    expect(cache).toEqual(here);
    expect(capturedIndices(cache, post)).toEqual(capturedIndices(here, post));
    await remote.dispose();
    const head = { input_ids: input_ids.map((row) => row.slice(0, 3)) };
    const { past_key_values } = await model(head, { use_cache: true });
    const tail = { input_ids: input_ids.map((row) => row.slice(3)), past_key_values };
    const [, behind] = await model.run_with_cache(tail, {
      names_filter: z,
      select: { top_k: 1, over: 'pos', pos: [3, 4] },
    });
    const [, before] = await captured(z, { top_k: 1, over: 'pos', pos: [3, 4] });
    expect(behind).toEqual(before);
    expect(capturedIndices(behind, z)).toEqual(capturedIndices(before, z));
    await past_key_values?.dispose();
  });

  it('need no memory for the whole', async () => {
    const many = Array.from({ length: 40 }, () => Array.from({ length: 512 }, (_, i) => i % 500));
    const failure = await failureOf(() => model.run_with_cache({ input_ids: many }, { names_filter: '*' }));
    expect(failure.code).toBe('out_of_memory');
    const few = many.slice(0, 2);
    const select = { reduction: 'max', over: 'pos' } as const;
    const names_filter = 'blocks.*.hook_resid_post';
    const [, cache] = await model.run_with_cache({ input_ids: few }, { names_filter, select });
    expect(Object.values(cache).map(({ dims }) => dims)).toEqual(Array(5).fill([2, 64]));
  });

  it.each<[CapturePart | readonly CapturePart[], string]>([
    [{ hook: 'hook_embed' }, "no hook is named 'hook_embed'"],
    [{ heads: 1 } as CapturePart, "unknown option 'heads'"],
    [{ head: 8 }, 'capture: at blocks.2.attn.hook_z: head 8 is not among the 8'],
    [{ key_pos: 0 }, 'no axis of keys'],
    [{ pos: 0.5 }, 'select.pos: needs a whole number'],
    [{ reduction: 'mean' }, 'a reduction needs the axes it is over'],
    [{ reduction: 'median' as 'mean', over: 'pos' }, 'no reduction "median"'],
    [{ over: 'pos' }, 'axes to be over, but no reduction'],
    [{ reduction: 'max', over: 'key_pos' }, 'no axis of "key_pos"'],
    [{ reduction: 'max', over: 'time' as 'pos' }, 'there is no axis "time"'],
    [{ top_k: 0, over: 'pos' }, 'top_k must be a whole number > 0'],
    [{ top_k: 2 }, 'needs the axes it is over'],
    [{ top_k: 2, over: ['pos', 'head'] }, 'top_k is over one axis'],
    [{ top_k: 2, reduction: 'max', over: 'pos' }, 'either reduction or top_k'],
    [[{ pos: 0 }, { hook: '*', pos: 1 }], 'select[1]: blocks.2.attn.hook_z is in another part'],
  ])('refuse %j', async (select, part) => {
    const failure = await failureOf(() => captured(z, select));
    expect(['invalid_argument', 'unsupported']).toContain(failure.code);
    expect(failure.message).toContain(part);
  });

  it('are refused where nothing is captured', async () => {
    const select = { pos: 0 };
    const hooks = await failureOf(() => model.run_with_hooks({ input_ids }, { select } as never));
    expect(hooks).toMatchObject({ code: 'unsupported', details: { option: 'select' } });
    for (const generate of [
      () => model.generate({ input_ids }, { select, return_dict_in_generate: true }),
      () => model.generate_stream({ input_ids }, { select }).next(),
      () => model.backward({ input_ids }, { select, metric: { labels: input_ids } }),
    ]) {
      const failure = await failureOf(generate as () => Promise<unknown>);
      expect(failure).toMatchObject({ code: 'invalid_argument', details: { option: 'select' } });
      expect(failure.message).toContain('nothing is captured');
    }
  });

  it('are of each step of a generation; a step without an element of a part leaves it out', async () => {
    const names_filter = [post, z, pattern, 'blocks.*.hook_resid_post'] as const;
    const options = { max_new_tokens: 4, return_dict_in_generate: true, do_sample: false } as const;
    const select = [
      { hook: post, pos: -1, feature: [7, 9] },
      { hook: z, pos: 6, head: 1 }, // that of the third step
      { hook: pattern, row: 1, key_pos: [0, 7] }, // the second key from the last step on
      { hook: 'blocks.*.hook_resid_post', reduction: 'norm', over: 'feature', pos: [2, 5] },
    ] as const;
    const all = await model.generate({ input_ids }, { ...options, names_filter });
    const out = await model.generate({ input_ids }, { ...options, names_filter, select });
    const streamed = [];
    for await (const { cache } of model.generate_stream({ input_ids }, { max_new_tokens: 4, names_filter, select })) {
      streamed.push(cache);
    }
    if (!('cache' in all) || !('cache' in out)) throw new Error('no captures');
    expect(out.sequences).toEqual(all.sequences);
    expect(streamed).toEqual(out.cache);
    for (const [step, whole] of (all.cache ?? []).entries()) {
      const cache = out.cache?.[step] as Record<string, Tensor<'float32'>>;
      const first = step === 0 ? 0 : 4 + step; // the first position of the step
      const last = (whole[post]?.dims[1] as number) - 1;
      for (const [i, feature] of [7, 9].entries()) {
        expect(cache[post]?.slice(null, i)).toEqual(whole[post]?.slice(null, last, feature));
      }
      expect(z in cache).toBe(step === 2);
      if (step === 2) expect(cache[z]).toEqual(whole[z]?.slice(null, 0, 1));
      const keys = cache[pattern] as Tensor<'float32'>;
      expect(keys.dims).toEqual([8, last + 1, step === 3 ? 2 : 1]);
      expect(keys.slice(null, null, 0)).toEqual(whole[pattern]?.slice(1, null, null, 0));
      const norms = cache['blocks.1.hook_resid_post'];
      const at = [2, 5].filter((pos) => pos >= first && pos <= first + last);
      expect(norms?.dims).toEqual(at.length === 0 ? undefined : [2, at.length]);
      for (const [i, pos] of at.entries()) {
        const row = whole['blocks.1.hook_resid_post']
          ?.slice(0, pos - first)
          .norm()
          .item();
        expect(norms?.slice(0, i).item()).toBeCloseTo(row as number, 4);
      }
    }
  });

  it('are of the prompts: a row has all its beams, and top_k positions of the whole sequence', async () => {
    const options = {
      max_new_tokens: 3,
      num_beams: 3,
      return_dict_in_generate: true,
      names_filter: [post, z],
    } as const;
    const all = await model.generate({ input_ids }, options);
    const select = [
      { hook: post, row: 1, pos: -1 },
      { hook: z, row: [0], head: 2, top_k: 1, over: 'pos' },
    ] as const;
    const out = await model.generate({ input_ids }, { ...options, select });
    if (!('cache' in all) || !('cache' in out)) throw new Error('no captures');
    expect(out.cache?.[0]?.[post]).toEqual(all.cache?.[0]?.[post]?.slice(1, -1));
    for (const step of [1, 2]) {
      expect(out.cache?.[step]?.[post]).toEqual(all.cache?.[step]?.[post]?.slice([3, 6], -1));
      const cache = out.cache?.[step] as NonNullable<typeof out.cache>[number];
      expect(cache[z]?.dims).toEqual([3, 1, 8]);
      expect([...capturedIndices(cache, z).data]).toEqual(Array(24).fill(BigInt(4 + step)));
    }
  });

  it('are beside gradients, which are whole', async () => {
    const select = { hook: post, reduction: 'max', over: 'pos' } as const;
    const options = { names_filter: [post, z], metric: { labels: input_ids } } as const;
    const [, cache] = await model.run_with_cache({ input_ids }, { ...options, select });
    const [, all] = await model.run_with_cache({ input_ids }, options);
    expect([cache[post], cache[z]]).toEqual([all[post]?.max(1), all[z]]);
    expect([cache.grad[post], cache.value]).toEqual([all.grad[post], all.value]);
    const { activations } = await model.backward({ input_ids }, { ...options, select });
    expect(activations).toEqual({ [post]: cache[post], [z]: cache[z] });
  });
});

describe('parts of the activations of modules', () => {
  const x = { data: Float32Array.from({ length: 48 }, (_, at) => Math.sin(at)), dims: [2, 3, 8] };
  const weights = (dims: number[]) => {
    const size = dims.reduce((product, extent) => product * extent, 1);
    return { data: Float32Array.from({ length: size }, (_, at) => Math.cos(at + size) / 3), dims };
  };
  const attention = {
    in_proj_weight: weights([24, 8]),
    in_proj_bias: weights([24]),
    'out_proj.weight': weights([8, 8]),
    'out_proj.bias': weights([8]),
  };

  it('are those of the whole, in forward and backward', async () => {
    const layer = await new nn.MultiheadAttention(8, 2).load_state_dict(attention);
    const [whole, , all] = await layer.forward(x, x, x, { names: ['*'] });
    const select = [
      { hook: 'attn.hook_z', head: 1, pos: [0, -1] },
      { hook: 'attn.hook_q', top_k: 2, over: 'feature', row: 0 },
      { hook: /scores$/, reduction: 'max', over: 'key_pos' },
    ] as const;
    const options = {
      names: ['attn.hook_z', 'attn.hook_q', 'attn.hook_k', '*_scores'],
      need_weights: false,
      select,
    } as const;
    const [output, none, cache] = await layer.forward(x, x, x, options);
    expect([output, none, Object.keys(cache).length]).toEqual([whole, null, 4]);
    expect(cache['attn.hook_k']).toEqual(all['attn.hook_k']);
    expect(cache['attn.hook_z']?.dims).toEqual([2, 2, 4]);
    const own = { names: ['attn.hook_result'], need_weights: false, select: { pos: 0 } };
    expect((await layer.forward(x, x, x, own))[2]['attn.hook_result']?.dims).toEqual([2, 2, 8]);
    for (const [i, pos] of [0, 2].entries()) {
      expect(cache['attn.hook_z']?.slice(null, i)).toEqual(all['attn.hook_z']?.slice(null, pos, 1));
    }
    const places = capturedIndices(cache, 'attn.hook_q');
    expect([cache['attn.hook_q']?.dims, places.dims]).toEqual([[3, 2, 2], [3, 2, 2]]); // biome-ignore format: dims
    for (const [i, index] of places.data.entries()) {
      const [pos, head] = [Math.floor(i / 4), Math.floor(i / 2) % 2];
      expect(cache['attn.hook_q']?.data[i]).toBe(all['attn.hook_q']?.slice(0, pos, head, Number(index)).item());
    }
    expect(cache['attn.hook_attn_scores']).toEqual(all['attn.hook_attn_scores']?.max(3));
    const { activations } = await layer.backward([x, x, x, options], { grad_output: x });
    expect(activations).toEqual(cache);
    expect(capturedIndices(activations, 'attn.hook_q')).toEqual(places);
    await layer.dispose();
  });

  it('are refused where nothing is captured, and of what the module keeps whole', async () => {
    const layer = await new nn.MultiheadAttention(8, 2).load_state_dict(attention);
    const select = { pos: 0 };
    const nothing = await failureOf(() => layer.forward(x, x, x, { select }));
    expect(nothing).toMatchObject({ code: 'invalid_argument', details: { option: 'select' } });
    const kept = await failureOf(() => layer.forward(x, x, x, { names: ['attn.hook_pattern'], select }));
    expect(kept).toMatchObject({ code: 'unsupported', message: expect.stringContaining('need_weights: false') });
    const [, , cache] = await layer.forward(x, x, x, { names: ['attn.hook_pattern'], select, need_weights: false });
    expect(cache['attn.hook_pattern']?.dims).toEqual([2, 2, 3]);
    const dot = new d2l.MultiHeadAttention(8, 2);
    const square = weights([8, 8]);
    await dot.load_state_dict({
      'W_q.weight': square,
      'W_k.weight': square,
      'W_v.weight': square,
      'W_o.weight': square,
    });
    const names = ['attn.hook_pattern', 'attn.hook_z'];
    const whole = await failureOf(() =>
      dot.forward(x, x, x, null, { names, select: { hook: 'attn.hook_p*', pos: 0 } }),
    );
    expect(whole).toMatchObject({ code: 'unsupported', details: { option: 'select' } });
    const [, some] = await dot.forward(x, x, x, null, { names, select: { hook: 'attn.hook_z', pos: 0 } });
    expect([some['attn.hook_z']?.dims.length, some['attn.hook_pattern']]).toEqual([3, dot.attention_weights]);
    const wrong = await failureOf(() => layer.forward(x, x, x, { names: ['attn.hook_z'], select: { head: 2 } }));
    expect(wrong.message).toContain('head 2');
    await Promise.all([layer.dispose(), dot.dispose()]);
  });
});

it('parts and edits behind the layers are of positions of the whole sequence, too: project_out', async () => {
  await using opt = await AutoModelForCausalLM.from_pretrained(fixturePath('models/opt/odd'));
  const hook = 'project_out.hook_out';
  const options = { max_new_tokens: 3, eos_token_id: null, return_dict_in_generate: true, names_filter: hook } as const;
  const edits = [{ hook, op: 'zero', pos: 4 }] as const;
  const out = await opt.generate({ input_ids: [[5, 6, 7, 8]] }, { ...options, edits });
  expect(out.cache?.map((step) => step[hook]?.slice(0, -1).data.every((x) => x === 0))).toEqual([false, true, false]);
  const part = await opt.generate({ input_ids: [[5, 6, 7, 8]] }, { ...options, select: { hook, pos: 5 } });
  expect(part.cache?.map((step) => hook in step)).toEqual([false, false, true]);
});
