// Edits by row, key position and feature, noise, projections, limits and means over a data set: each against a function
// hook that loops over the numbers, in both builds, in generation, in a worker and in a pipeline.

import { runInNewContext } from 'node:vm';
import {
  type ActivationEdit,
  AutoModelForCausalLM,
  type GenerativeModel,
  type HookFunction,
  type HookName,
  meanActivations,
  pipeline,
  type Tensor,
} from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { storiesPath } from './support/references.js';
import { optionsFor, variants } from './support/variants.js';

const input_ids = [
  [1, 403, 407, 261, 378],
  [1, 306, 505, 29, 7],
  [1, 9, 40, 200, 31],
];
type Float = Tensor<'float32'>;

/** A function that replaces every number by `change(number, its coordinates)`. */
const each =
  (change: (value: number, at: number[]) => number): HookFunction =>
  ({ data, dims }) => {
    const at = dims.map(() => 0);
    for (const [index, value] of data.entries()) {
      for (let axis = dims.length - 1, rest = index; axis >= 0; axis--) {
        at[axis] = rest % (dims[axis] as number);
        rest = Math.floor(rest / (dims[axis] as number));
      }
      data[index] = change(value, at);
    }
  };

/** The noise of an element as cpp/clearformer/layers/noise.cpp defines it, in integers of any size and doubles. */
function noise(seed: bigint, hook: string, coordinates: readonly number[]): number {
  const bits = (value: bigint) => BigInt.asUintN(64, value);
  const step = 0x9e3779b97f4a7c15n;
  const mixed = (given: bigint) => {
    const first = bits((given ^ (given >> 30n)) * 0xbf58476d1ce4e5b9n);
    const second = bits((first ^ (first >> 27n)) * 0x94d049bb133111ebn);
    return second ^ (second >> 31n);
  };
  const names = [...hook].map((letter) => letter.charCodeAt(0));
  let state = mixed(bits(seed + step));
  for (const one of [...names, ...coordinates]) state = mixed(bits(state + BigInt(one + 1) * step));
  const uniform = () => {
    state = bits(state + step);
    return Number(mixed(state) >> 11n) * 2 ** -52 - 1;
  };
  for (;;) {
    const [u, v] = [uniform(), uniform()];
    const square = u * u + v * v;
    if (square > 0 && square < 1) return u * Math.sqrt((-2 * Math.log(square)) / square);
  }
}

describe.each(variants)('edits (%s)', (variant) => {
  let model: GenerativeModel;
  let plain: Float;
  beforeAll(async () => {
    model = await AutoModelForCausalLM.from_pretrained(storiesPath, { ...optionsFor(variant), worker: false });
    plain = (await model({ input_ids })).logits;
  });
  afterAll(() => model.dispose());

  const edited = (...edits: ActivationEdit[]) => model.run_with_hooks({ input_ids }, { edits });
  const changed = (name: HookName, change: HookFunction) =>
    model.run_with_hooks({ input_ids }, { fwd_hooks: [[name, change]] });
  const read = async (name: HookName, edits: ActivationEdit[] = []) => {
    return (await model.run_with_cache({ input_ids }, { names_filter: name, edits }))[1][name] as Float;
  };

  it('select rows, key positions and features', async () => {
    const rows = await edited({
      hook: 'blocks.1.hook_resid_post',
      op: 'scale',
      row: [0, -1],
      feature: [3, 60],
      value: 4,
    });
    const picked = (at: number[]) => at[0] !== 1 && [3, 60].includes(at[2] as number);
    expect(rows).toEqual(
      await changed(
        'blocks.1.hook_resid_post',
        each((x, at) => (picked(at) ? x * 4 : x)),
      ),
    );
    // The row that was not selected has the same bits.
    expect(rows.slice(1)).toEqual(plain.slice(1));
    expect(rows.slice(0).data).not.toEqual(plain.slice(0).data);

    const keys: ActivationEdit = {
      hook: 'blocks.2.attn.hook_pattern',
      op: 'zero',
      row: 2,
      head: 5,
      pos: [3, 4],
      key_pos: 0,
    };
    const silenced = each((x, [row, head, query = 0, key]) =>
      row === 2 && head === 5 && query > 2 && key === 0 ? 0 : x,
    );
    expect(await edited(keys)).toEqual(await changed('blocks.2.attn.hook_pattern', silenced));
  });

  it('may be an array of another realm', async () => {
    const edit: ActivationEdit = { hook: 'blocks.0.attn.hook_z', op: 'zero', head: [1, 2] };
    const edits = runInNewContext(`[${JSON.stringify(edit)}]`);
    expect(edits).not.toBeInstanceOf(Array);
    expect(await edited(edit)).toEqual(await model.run_with_hooks({ input_ids }, { edits }));
  });

  it('drop the axes of numbers from what a value must fit', async () => {
    const value = (await read('blocks.2.attn.hook_z')).slice(1, null, 3, 6); // [pos]
    const patch: ActivationEdit = { hook: 'blocks.2.attn.hook_z', op: 'replace', row: 0, head: 3, feature: 6, value };
    const put = each((x, [row, pos = 0, head, feature]) =>
      row === 0 && head === 3 && feature === 6 ? (value.data[pos] as number) : x,
    );
    expect(await edited(patch)).toEqual(await changed('blocks.2.attn.hook_z', put));
    const failure = await failureOf(() => edited({ ...patch, value: [[1, 2]] }));
    expect(failure.code).toBe('shape_mismatch');
  });

  it('clamp from below and above', async () => {
    const max = Float32Array.from({ length: 64 }, (_, i) => i / 64);
    const limited: ActivationEdit = { hook: 'hook_embed', op: 'clamp', min: -0.25, max: { data: max, dims: [64] } };
    const limit = each((x, at) => Math.min(Math.max(x, -0.25), max[at[2] as number] as number));
    expect(await edited(limited)).toEqual(await changed('hook_embed', limit));
    const above = await read('blocks.0.mlp.hook_post', [{ hook: 'blocks.0.mlp.hook_post', op: 'clamp', max: 0 }]);
    expect(Math.max(...above.data)).toBe(0);
  });

  it('project directions out', async () => {
    const hook = 'blocks.3.hook_resid_pre';
    const directions = [0, 1].map((k) => Array.from({ length: 64 }, (_, i) => Math.fround(Math.sin(i * (k + 1) + k))));
    const before = await read(hook);
    const after = await read(hook, [{ hook, op: 'project_out', pos: [1, 3], value: directions }]);
    for (const pos of [0, 1, 2, 3, 4]) {
      const [was, is] = [before.slice(2, pos).data, after.slice(2, pos).data];
      if (pos % 2 === 0) expect(is).toEqual(was);
      else
        for (const one of directions)
          expect(Math.abs(dot(one, is))).toBeLessThan(1e-6 * Math.abs(dot(one, was)) + 1e-5);
    }
    const single = await read(hook, [{ hook, op: 'project_out', value: directions[0] as number[] }]);
    const unit = directions[0] as number[];
    const share = dot(unit, before.slice(0, 0).data) / dot(unit, unit);
    for (const [i, x] of single.slice(0, 0).data.entries()) {
      expect(x).toBeCloseTo((before.slice(0, 0).data[i] as number) - share * (unit[i] as number), 5);
    }
  });

  it('add noise that depends on the seed, the place of the row and the position alone', async () => {
    const hook = 'hook_embed';
    const before = await read(hook);
    const noisy = (await read(hook, [{ hook, op: 'noise', value: 1, seed: 42, row: [1, 2], pos: [1, 4] }])) as Float;
    expect(noisy.slice(0)).toEqual(before.slice(0));
    for (const [index, x] of noisy.data.entries()) {
      const [row, pos, feature] = [Math.floor(index / 320), Math.floor(index / 64) % 5, index % 64];
      const was = before.data[index] as number;
      const drawn = row === 0 || (pos !== 1 && pos !== 4) ? 0 : noise(42n, hook, [row - 1, pos, feature]);
      expect(Math.abs(x - Math.fround(was + Math.fround(drawn)))).toBeLessThanOrEqual(2 ** -22 * Math.abs(drawn));
    }
    // The bits of tests/cpp/layers/edit_ops_test.cpp: 3ff7996e6f8549e6, bfe0b80111cbf13a, 4002f7d0a3587a52.
    const drawn = await read(hook, [
      { hook, op: 'zero' },
      { hook, op: 'noise', value: 1, seed: 42 },
    ]);
    const wanted = [1.4749588352466332, -0.522461447486, 2.3710034142853056].map(Math.fround);
    expect([0, 1, 2].map((pos) => drawn.slice(0, pos, 63).item())).toEqual(wanted);
    // One row by itself has the noise of the same row in a batch.
    const edits: ActivationEdit[] = [{ hook, op: 'noise', value: 0.5, row: 1 }];
    const alone = await model.run_with_hooks(
      { input_ids: [input_ids[1] as number[]] },
      { edits: [{ ...edits[0], row: 0 } as ActivationEdit] },
    );
    expect(alone.slice(0)).toEqual((await edited(...edits)).slice(1));
  });

  it('work in generation: all beams and sequences of a prompt are its row, absent positions are left out', async () => {
    const prompts = { input_ids: [[1, 403, 407], [1, 306, 505]] }; // biome-ignore format: two prompts
    const edits: ActivationEdit[] = [
      { hook: 'blocks.2.hook_resid_post', op: 'noise', value: 2, row: 1, seed: 5 },
      { hook: 'blocks.4.attn.hook_pattern', op: 'scale', key_pos: [0, 4], value: [[[[0.5, 0.25]]]] },
    ];
    for (const more of [
      { num_beams: 3, num_return_sequences: 2 },
      { do_sample: true, seed: 3, num_return_sequences: 2 },
      {},
    ]) {
      const options = { max_new_tokens: 4, ...more };
      const together = await model.generate(prompts, { ...options, edits });
      const [, second] = prompts.input_ids as [number[], number[]];
      if (!('do_sample' in more)) {
        const here = edits.map((edit) => ({ ...edit, ...(edit.row !== undefined && { row: 0 }) }));
        const alone = await model.generate({ input_ids: [second] }, { ...options, edits: here });
        const rows = together.dims[0] as number;
        expect(together.slice([rows / 2, null]).tolist()).toEqual(alone.tolist());
      }
      expect(together).not.toEqual(await model.generate(prompts, options));
    }
    const beyond: ActivationEdit = { hook: 'hook_embed', op: 'zero', row: 2 };
    const failure = await failureOf(() =>
      model.generate(prompts, { num_beams: 2, max_new_tokens: 3, edits: [beyond] }),
    );
    expect(failure).toMatchObject({ code: 'invalid_argument' });
    expect(failure.message).toContain('row 2 is not among the 2');
  });

  it.each<[string, ActivationEdit, string]>([
    ['a row that is not there', { hook: 'hook_embed', op: 'zero', row: 3 }, 'row 3 is not among the 3'],
    ['a key that is not there', { hook: 'blocks.0.attn.hook_pattern', op: 'zero', key_pos: 5 }, 'key position 5'],
    ['keys where there are none', { hook: 'hook_embed', op: 'zero', key_pos: 0 }, 'no axis of keys'],
    ['a feature that is not there', { hook: 'hook_embed', op: 'zero', feature: -65 }, 'feature -65'],
    ['features of a pattern', { hook: 'blocks.0.attn.hook_pattern', op: 'zero', feature: 0 }, 'no axis of features'],
    ['a feature twice', { hook: 'hook_embed', op: 'add', value: 1, feature: [3, 4, 3] }, 'feature 3 is selected twice'],
    ['a position by two indices', { hook: 'hook_embed', op: 'add', value: 1, pos: [4, -1] }, 'position -1 is selected'],
    ['a limit that is NaN', { hook: 'hook_embed', op: 'clamp', max: Number.NaN }, 'a limit is NaN'],
    ['half a row', { hook: 'hook_embed', op: 'zero', row: [0.5] }, 'edits[0].row: needs a whole number'],
    ['limits that are none', { hook: 'hook_embed', op: 'clamp' }, 'needs a min or a max'],
    ['limits of another op', { hook: 'hook_embed', op: 'add', value: 1, max: 2 }, 'takes no min and no max'],
    ['a seed of another op', { hook: 'hook_embed', op: 'add', value: 1, seed: 2 }, 'takes no seed'],
    ['half a seed', { hook: 'hook_embed', op: 'noise', value: 1, seed: 0.5 }, '"seed" must be a whole number'],
    ['a negative deviation', { hook: 'hook_embed', op: 'noise', value: -1 }, 'at least 0'],
    ['no direction', { hook: 'hook_embed', op: 'project_out', value: 0 }, 'directions are [feature]'],
    [
      'a direction of length 0',
      { hook: 'hook_embed', op: 'project_out', value: Array(64).fill(0) },
      'a direction is 0',
    ],
    [
      'a direction of another space',
      { hook: 'hook_embed', op: 'project_out', value: [1, 2] },
      'vectors of 64 features',
    ],
  ])('refuse %s', async (_, edit, part) => {
    const failure = await failureOf(() => edited(edit));
    expect(['invalid_argument', 'shape_mismatch']).toContain(failure.code);
    expect(failure.message).toContain(part);
    expect((await model({ input_ids })).logits).toEqual(plain);
  });

  it.each([1e40, [-1e40]])('refuse %j, which no float32 is', async (value) => {
    const failure = await failureOf(() => edited({ hook: 'hook_embed', op: 'add', value }));
    expect(failure).toMatchObject({ code: 'dtype_mismatch', message: expect.stringContaining('edits[0].value') });
  });

  it('give the same in a worker and through a pipeline', async () => {
    const remote = await AutoModelForCausalLM.from_pretrained(storiesPath, { ...optionsFor(variant), worker: true });
    const edits: ActivationEdit[] = [
      { hook: 'blocks.0.hook_resid_post', op: 'noise', value: 30, seed: 9 },
      { hook: 'blocks.*.mlp.hook_post', op: 'clamp', max: 0.5, feature: [0, 1, 2, 3] },
      { hook: 'blocks.3.hook_resid_pre', op: 'project_out', value: Array.from({ length: 64 }, (_, i) => i) },
    ];
    expect(await remote.run_with_hooks({ input_ids }, { edits })).toEqual(await edited(...edits));
    await remote.dispose();
    const text = 'Once upon a time';
    const pipe = await pipeline('text-generation', storiesPath, { ...optionsFor(variant), worker: false });
    const told = await pipe(text, { max_new_tokens: 5, edits });
    const prompt = { input_ids: pipe.tokenizer(text).input_ids };
    const ids = await model.generate(prompt, { max_new_tokens: 5, edits });
    expect(told).toEqual([{ generated_text: pipe.tokenizer.batch_decode(ids, { skip_special_tokens: true })[0] }]);
    expect(told).not.toEqual(await pipe(text, { max_new_tokens: 5 }));
    await pipe.dispose();
  });

  describe('by means over a data set', () => {
    const hooks = ['blocks.2.attn.hook_z', 'blocks.1.hook_resid_post'] as const;
    // The same data as one padded batch and as single sequences.
    const sequences = [[1, 403, 407, 261], [1, 306], [1, 9, 40]]; // biome-ignore format: three sequences
    const padded = {
      input_ids: sequences.map((row) => [...row, ...Array(4 - row.length).fill(0)]),
      attention_mask: sequences.map((row) => [0, 1, 2, 3].map((pos) => (pos < row.length ? 1 : 0))),
    };
    const single = sequences.map((row) => ({ input_ids: [row] }));

    it('average every feature, without padding', async () => {
      const { means } = await meanActivations(model, single, hooks);
      for (const hook of hooks) {
        const sums = new Float64Array(64);
        for (const one of single) {
          const [, cache] = await model.run_with_cache(one, { names_filter: hook });
          for (const [i, x] of (cache[hook] as Float).data.entries()) sums[i % 64] = (sums[i % 64] as number) + x;
        }
        expect([...(means[hook] as Float).data]).toEqual([...sums].map((sum) => Math.fround(sum / 9)));
      }
      expect(means['blocks.2.attn.hook_z']?.dims).toEqual([1, 1, 8, 8]);
      expect(means['blocks.2.attn.o.hook_in']).toBe(means['blocks.2.attn.hook_z']);
      expect(Object.keys(means).sort()).toEqual([...hooks].sort());
      const batch = (await meanActivations(model, [padded], hooks)).means;
      for (const hook of hooks) expect(batch[hook]).toEqual(means[hook]);
    });

    it('replace a part by its mean', async () => {
      const ablated = await meanActivations(model, single, hooks);
      const hook = 'blocks.2.attn.hook_z';
      const mean = ablated.means[hook] as Float;
      const found = await edited(...ablated.edits({ hook, head: [7, 3], row: 1 }));
      const put = each((x, [row, , head = 0, d = 0]) =>
        row === 1 && [3, 7].includes(head) ? (mean.data[head * 8 + d] as number) : x,
      );
      expect(found).toEqual(await changed(hook, put));
      const one = each((x, [, pos, head, d]) => (head === 3 && d === 6 && pos === 4 ? (mean.data[30] as number) : x));
      expect(await edited(...ablated.edits({ hook, head: 3, feature: -2, pos: -1 }))).toEqual(await changed(hook, one));
      expect(ablated.edits().map((edit) => edit.hook)).toEqual(['blocks.1.hook_resid_post', hook]);
      const onRequest = await meanActivations(model, single, 'blocks.2.attn.hook_result');
      expect(onRequest.edits({ head: 1 }).map((edit) => edit.hook)).toEqual(['blocks.2.attn.hook_result']);
    });

    it('by position', async () => {
      const hook = 'blocks.1.hook_resid_post';
      const data = [{ input_ids }, { input_ids: [[1, 2, 3, 4, 5]] }];
      const ablated = await meanActivations(model, data, hook, { by: 'position' });
      expect(ablated.means[hook]?.dims).toEqual([1, 5, 64]);
      const [first, second] = [
        await read(hook),
        (await model.run_with_cache(data[1] as (typeof data)[0]))[1][hook] as Float,
      ];
      const mean = (pos: number, d: number) => {
        const own = [0, 1, 2].map((row) => first.slice(row, pos, d).item() as number);
        return Math.fround(([...own, second.slice(0, pos, d).item()] as number[]).reduce((sum, x) => sum + x, 0) / 4);
      };
      expect(ablated.means[hook]?.slice(0, 3, 17).item()).toBe(mean(3, 17));
      const put = each((x, [, pos = 0, d = 0]) => (pos === 2 ? mean(2, d) : x));
      expect(await edited(...ablated.edits({ pos: 2 }))).toEqual(await changed(hook, put));
      const longer = await failureOf(() => meanActivations(model, [...data, ...single], hook, { by: 'position' }));
      expect(longer).toMatchObject({ code: 'shape_mismatch' });
    });

    it('report progress and refuse what means nothing', async () => {
      const steps: number[] = [];
      await meanActivations(model, single, 'hook_embed', {
        progress: ({ done, total }) => void steps.push(done / total),
      });
      expect(steps).toEqual([1 / 3, 2 / 3, 1]);
      const pattern = await failureOf(() => meanActivations(model, single, 'blocks.0.attn.hook_pattern'));
      expect(pattern.code).toBe('shape_mismatch');
      expect((await failureOf(() => meanActivations(model, [], 'hook_embed'))).message).toContain('array of inputs');
      const ablated = await meanActivations(model, single, hooks);
      const head = await failureOf(async () => ablated.edits({ head: 8, hook: 'blocks.2.attn.hook_z' }));
      expect(head.message).toContain('head 8 of 8');
      const none = await failureOf(async () => ablated.edits({ head: 0 }));
      expect(none.message).toContain('blocks.1.hook_resid_post has no such axis');
      const aborted = meanActivations(model, single, 'hook_embed', { signal: AbortSignal.abort('enough') });
      await expect(aborted).rejects.toBe('enough');
    });
  });
});

const dot = (a: readonly number[], b: ArrayLike<number>) => a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);
