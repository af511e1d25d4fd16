// Hook functions where the model runs: in a worker they give what they give in this thread, with constants and modules,
// maths in the core, errors that say what is missing, aborts and a dead worker.

import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  AutoModelForCausalLM,
  bmm,
  ClearformerError,
  type ForwardHook,
  type GenerativeModel,
  type HookConstants,
  type HookFunction,
  log_softmax,
  matmul,
  softmax,
  Tensor,
} from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { functionsPart } from '../../web/src/models/functions_part.js';
import { failureOf } from './support/failures.js';
import { storiesPath } from './support/references.js';
import { optionsFor, variants } from './support/variants.js';

const input_ids = [
  [1, 403, 407, 261, 378],
  [1, 306, 505, 29, 7],
];
const direction = Float32Array.from({ length: 64 }, (_, i) => Math.sin(i));
const hook = 'blocks.1.hook_resid_post';

const endless: Record<string, unknown> = {};
endless.again = endless;

const modulePath = join(tmpdir(), `clearformer-hook-${process.pid}.mjs`);
const module = pathToFileURL(modulePath);
beforeAll(() =>
  writeFile(
    modulePath,
    `export default (value) => value.mul(2);
     export const third = (value, { constants }) => value.div(constants.by);
     export const number = 3;`,
  ),
);
afterAll(() => rm(modulePath));

/** Functions by what they do: their source is sent as it stands here. */
const functions: Record<string, [HookFunction, HookConstants?]> = {
  'an arrow that changes the data': [(value) => void value.data.fill(0.25)],
  'a function that returns a tensor': [
    function twice(value) {
      return value.mul(2);
    },
  ],
  'a method': [
    {
      half(value: Tensor<'float32'>) {
        return value.div(2);
      },
    }.half,
  ],
  'constants of every kind': [
    (value, { constants: { vector, rows, deep, names, size }, name }) => {
      const rest = deep as { scale: number; tensors: Tensor<'float32'>[]; empty: null; none: undefined };
      const [first] = rest.tensors as [Tensor<'float32'>];
      if ((names as Set<string>).has(name) && rest.empty === null && rest.none === undefined && size === 4n) {
        return value.add(first.mul(rest.scale)).add((rows as number[][])[1]?.[0] ?? 0);
      }
      return value.add((vector as Float32Array)[0] ?? 0);
    },
    {
      vector: direction,
      rows: [[1], [2]],
      deep: { scale: 0.5, tensors: [new Tensor('float32', direction, [64])], empty: null, none: undefined },
      names: new Set([hook]),
      size: 4n,
    },
  ],
  "maths in the core and Tensor's": [
    (value, { F, constants }) => {
      const weight = constants.weight as Tensor<'float32'>;
      const shares = F.softmax(F.matmul(value, weight));
      const [largest, at] = F.topk(shares, 2);
      const peaks = largest.sum(-1, true).sub(F.log_softmax(shares, 1).mean());
      const both = F.bmm(value, value.transpose(1, 2)).norm(2, -1, true);
      return value
        .mul(peaks as Tensor<'float32'>)
        .add(both.div(1000))
        .add(Number(at.data[1]) / 64);
    },
    {
      weight: new Tensor(
        'float32',
        Float32Array.from({ length: 512 }, (_, i) => Math.cos(i)),
        [64, 8],
      ),
    },
  ],
};

describe.each(variants)('functions at hook points (%s)', (variant) => {
  let here: GenerativeModel;
  let there: GenerativeModel;
  let plain: Tensor<'float32'>;
  beforeAll(async () => {
    const load = (worker: boolean) =>
      AutoModelForCausalLM.from_pretrained(storiesPath, { ...optionsFor(variant), worker });
    [here, there] = await Promise.all([load(false), load(true)]);
    plain = (await here({ input_ids })).logits;
  });
  afterAll(() => Promise.all([here.dispose(), there.dispose()]));

  const run = (model: GenerativeModel, ...fwd_hooks: ForwardHook[]) =>
    model.run_with_hooks({ input_ids }, { fwd_hooks });

  it.each(Object.keys(functions))('%s: the same in a worker and in this thread', async (name) => {
    const [change, constants = {}] = functions[name] as [HookFunction, HookConstants?];
    const found = await run(there, [hook, change, constants]);
    expect(found).toEqual(await run(here, [hook, change, constants]));
    expect(found.data).not.toEqual(plain.data);
  });

  it('compute in the core what the functions of the package compute', async () => {
    const [, cache] = await here.run_with_cache({ input_ids }, { names_filter: hook });
    const value = cache[hook] as Tensor<'float32'>;
    const weight = new Tensor(
      'float32',
      Float32Array.from({ length: 512 }, (_, i) => Math.cos(i)),
      [64, 8],
    );
    let seen: Tensor<'float32'>[] = [];
    await run(here, [
      hook,
      (given, { F }) => {
        seen = [
          F.matmul(given, weight),
          F.bmm(given, given.transpose(1, 2)),
          F.softmax(given),
          F.log_softmax(given, 1),
        ];
      },
    ]);
    const wanted = [matmul(value, weight), bmm(value, value.transpose(1, 2)), softmax(value), log_softmax(value, 1)];
    if (variant === variants.at(-1)) expect(seen).toEqual(await Promise.all(wanted)); // the functions' build is the fastest one
    expect(seen.map(({ dims }) => dims)).toEqual((await Promise.all(wanted)).map(({ dims }) => dims));
    const misfit = await failureOf(() => run(there, [hook, (given, { F }) => F.matmul(given, [[1, 2]])]));
    expect(misfit.code).toBe('shape_mismatch');
    expect(await run(there)).toEqual(plain);
  });

  it('run in order, at every hook point of a pattern, in generation and with captures', async () => {
    const fwd_hooks: ForwardHook[] = [
      [
        'blocks.*.hook_mlp_out',
        (value, { name, constants }) => value.mul(name.includes('1') ? 0 : Number(constants.by)),
        { by: 1.5 },
      ],
      [hook, (value) => value.neg()],
    ];
    const options = { fwd_hooks, names_filter: [hook, 'blocks.1.hook_mlp_out'] } as const;
    expect(await there.run_with_cache({ input_ids }, options)).toEqual(
      await here.run_with_cache({ input_ids }, options),
    );
    const prompt = { input_ids: [[1, 403, 407]] };
    const generated = await there.generate(prompt, { fwd_hooks, max_new_tokens: 8 });
    expect(generated).toEqual(await here.generate(prompt, { fwd_hooks, max_new_tokens: 8 }));
    expect(generated).not.toEqual(await here.generate(prompt, { max_new_tokens: 8 }));
  });

  it('come from modules', async () => {
    for (const model of [here, there]) {
      expect(await run(model, [hook, { module }])).toEqual(await run(here, [hook, (value) => value.mul(2)]));
      const third = await run(model, [hook, { module: module.href, export: 'third' }, { by: 3 }]);
      expect(third).toEqual(await run(here, [hook, (value) => value.div(3)]));
      for (const name of ['number', 'nothing']) {
        const failure = await failureOf(() => run(model, [hook, { module, export: name }]));
        expect(failure).toMatchObject({ code: 'invalid_argument' });
        expect(failure.message).toContain(`no function as its export '${name}' (exports: `);
      }
      const missing = await failureOf(() => run(model, [hook, { module: 'file:///there/is/none.mjs' }]));
      expect(missing.message).toContain('run_with_hooks: fwd_hooks[0]: file:///there/is/none.mjs could not be loaded');
      expect((await failureOf(() => run(model, [hook, { module: 'https://' }]))).message).toContain(
        "'https://' is no URL",
      );
      const misspelt = await failureOf(() => run(model, [hook, { module, name: 'third' } as never]));
      expect(misspelt).toMatchObject({ code: 'unsupported', details: { option: 'name' } });
    }
  });

  it('say what a function misses in a worker, and how to pass it', async () => {
    const strength = 2;
    const failure = await failureOf(() => run(there, [hook, (value) => value.mul(strength)]));
    expect(failure).toMatchObject({ code: 'invalid_argument', details: { option: 'fwd_hooks' } });
    expect(failure.message).toContain('run_with_hooks: fwd_hooks[0]: strength is not defined in the model');
    expect(failure.message).toContain('[name, function, { strength }], and read hook.constants.strength');
    const inGeneration = there.generate({ input_ids }, { fwd_hooks: [[hook, (value) => value.mul(strength)]] });
    expect((await failureOf(() => inGeneration)).message).toContain('strength is not defined');
    expect(await run(there)).toEqual(plain);
  });

  it.each<[string, ForwardHook, string]>([
    [
      'a bound function',
      [hook, ((value: Tensor<'float32'>) => value).bind(null)],
      'a bound or built-in function has no source',
    ],
    ['a built-in function', [hook, Math.max as never], 'a bound or built-in function has no source'],
    ['a class', [hook, class {} as never], "cannot be invoked without 'new'"],
    ['an asynchronous function', [hook, (async () => {}) as never], 'must give a float32 Tensor or nothing, at once'],
    ['other dims', [hook, (value) => value.slice(0)], 'gave dims [5, 64], blocks.1.hook_resid_post has [2, 5, 64]'],
    ['another type', [hook, (value) => value.to('int32') as never], 'must give a float32 Tensor'],
    [
      'functions as constants',
      [hook, (value) => value, { deep: [{ f: () => 1 }] }],
      'constants.deep[0].f is a function',
    ],
    [
      'constants that contain themselves',
      [hook, (value) => value, { deep: endless }],
      'constants.deep.again contains itself',
    ],
    ['nothing to call', [hook, undefined as never], 'needs a function, or { module }'],
  ])('refuse %s', async (_, given, part) => {
    const failure = (await run(there, given).catch((thrown: unknown) => thrown)) as Error;
    expect(failure).toBeInstanceOf(Error);
    expect(failure.message).toContain(part);
    expect(await run(there)).toEqual(plain);
  });

  it('keep the model, whatever becomes of their value or their promise', async () => {
    for (const model of [here, there]) {
      const sentAway = await failureOf(() =>
        run(model, [
          hook,
          (value) => {
            structuredClone(value.data.buffer, { transfer: [value.data.buffer as ArrayBuffer] });
          },
        ]),
      );
      expect(sentAway).toMatchObject({ code: 'shape_mismatch', details: { option: 'fwd_hooks' } });
      expect(sentAway.message).toContain('gave 0 elements for blocks.1.hook_resid_post, which has 640');
      const late = await failureOf(() =>
        run(model, [
          hook,
          (async () => {
            throw new Error('too late');
          }) as never,
        ]),
      );
      expect(late.message).toContain('must give a float32 Tensor or nothing, at once');
      await new Promise((resolve) => setTimeout(resolve, 10)); // an unhandled rejection would end the process or the worker
      expect(await run(model)).toEqual(plain);
    }
  });

  it('reject with what a function throws', async () => {
    const broken = run(there, [
      hook,
      () => {
        throw new RangeError('of my own');
      },
    ]);
    await expect(broken).rejects.toBeInstanceOf(RangeError);
    await expect(broken).rejects.toThrow('of my own');
    const plainly = run(there, [
      hook,
      () => {
        throw 7;
      },
    ]);
    await expect(plainly).rejects.toBe(7);
    const nameless = run(there, [
      hook,
      () => {
        throw Object.create(null);
      },
    ]);
    await expect(nameless).rejects.toEqual({}); // a copy
    const own = await failureOf(() => run(there, [hook, (value) => value.mean(9) as never]));
    expect(own).toBeInstanceOf(ClearformerError);
    expect(own).toMatchObject({ code: 'invalid_argument' });
    const uncopied = run(there, [
      hook,
      () => {
        throw () => {};
      },
    ]);
    expect((await failureOf(() => uncopied)).code).toBe('internal');
  });

  it('can be aborted, and end with the worker', async () => {
    const slow: HookFunction = (value) => {
      const until = Date.now() + 100;
      while (Date.now() < until);
      return value;
    };
    const controller = new AbortController();
    const { signal } = controller;
    const running = there.run_with_hooks({ input_ids }, { fwd_hooks: [['blocks.*.hook_mlp_out', slow]], signal });
    setTimeout(() => controller.abort('enough'), 20);
    await expect(running).rejects.toBe('enough');
    expect(await run(there)).toEqual(plain);
    const other = await AutoModelForCausalLM.from_pretrained(storiesPath, { ...optionsFor(variant), worker: true });
    const endless = run(other, [hook, () => { for (;;); }]); // biome-ignore format: one line
    const failure = failureOf(() => endless);
    setTimeout(() => void other.dispose(), 100);
    expect((await failure).code).toBe('disposed');
    const dying = await AutoModelForCausalLM.from_pretrained(storiesPath, { ...optionsFor(variant), worker: true });
    const dead = await failureOf(() =>
      run(dying, [hook, () => (globalThis as never as { process: typeof process }).process.exit(3)]),
    );
    expect(dead).toMatchObject({ code: 'worker_failed', message: expect.stringContaining('ended with code 3') });
  });
});

it('a script that is not the code of hook functions is named', async () => {
  const message = expect.stringContaining("serve clearformer's dist/hook_functions.js there");
  for (const script of ['0', 'export const received = 0', 'throw Error("no")']) {
    const part = functionsPart(`data:text/javascript,${script}`);
    await expect(part).rejects.toMatchObject({ code: 'unsupported', message });
  }
});
