// Parts of activations: what is selected and reduced in the core equals the same of the whole activation, in both builds,
// in this thread and in a worker; and only that is copied.

import {
  AutoModelForCausalLM,
  type CapturePart,
  capturedIndices,
  type GenerativeModel,
  type HookName,
  type NamesFilter,
  type Tensor,
} from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { storiesPath } from './support/references.js';
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

  it('are refused where they are not supported', async () => {
    const select = { pos: 0 };
    const hooks = await failureOf(() => model.run_with_hooks({ input_ids }, { select } as never));
    expect(hooks).toMatchObject({ code: 'unsupported', details: { option: 'select' } });
    const generation = await failureOf(() => model.generate({ input_ids }, { select } as never));
    expect(generation.code).toBe('unsupported');
  });
});
