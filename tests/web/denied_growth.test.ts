// An engine that refuses to grow memory: every call fails with `out_of_memory`, nothing is lost, and the bits are the same
// as soon as there is memory again. (Single failing allocations: tests/cpp/allocation.)

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { AutoModelForCausalLM } from 'clearformer';
import { afterEach, describe, expect, it } from 'vitest';
import type { ArgumentsOf, Handle, RunInputs, TensorOut } from '../../web/src/runtime/border.js';
import type { Core } from '../../web/src/runtime/core.js';
import { compileCore } from '../../web/src/runtime/wasm.js';
import { failureOf } from './support/failures.js';
import { storiesPath } from './support/references.js';
import { variants } from './support/variants.js';
import { startWhole } from './support/whole_core.js';

const { grow } = WebAssembly.Memory.prototype;
const denyGrowth = () => {
  WebAssembly.Memory.prototype.grow = () => {
    throw new RangeError('denied by the test');
  };
};
const allowGrowth = () => {
  WebAssembly.Memory.prototype.grow = grow;
};
afterEach(allowGrowth);

const wasm = (name: string) => readFileSync(new URL(`../../dist/clearformer-${name}.wasm`, import.meta.url));
const startCore = async (name: string) => startWhole(await compileCore({ wasmBinary: wasm(name) }, false));

/** Blocks of the core's memory that are kept occupied: the headers of files that are never read. */
class Ballast {
  readonly #core: Core;
  readonly #blocks: Handle[] = [];

  constructor(core: Core) {
    this.#core = core;
  }

  get blocks(): number {
    return this.#blocks.length;
  }

  /** Allocates blocks of `bytes` until memory is exhausted. */
  fill(bytes: number): void {
    for (;;) {
      let checkpoint: Handle | undefined;
      try {
        ({ checkpoint } = this.#core.run('checkpoint_open', { dtype: 'fp32' }));
        this.#core.run('checkpoint_begin_file', { checkpoint, name: 'ballast', bytes: 2 * bytes });
        this.#core.write(checkpoint, new Uint8Array(BigUint64Array.of(BigInt(bytes)).buffer));
        this.#blocks.push(checkpoint);
      } catch (thrown) {
        expect(thrown).toMatchObject({ code: 'out_of_memory' });
        if (checkpoint !== undefined) this.#core.run('release', { handle: checkpoint });
        return;
      }
    }
  }

  /** Frees the block that was allocated last. */
  drop(): void {
    const handle = this.#blocks.pop();
    if (handle !== undefined) this.#core.run('release', { handle });
  }
}

const ids = { input_ids: { data: Int32Array.of(5, 8, 11, 14), dims: [1, 4] } };
const pixels = {
  pixel_values: { data: Float32Array.from({ length: 400 }, (_, i) => (i % 7) - 3), dims: [1, 1, 20, 20] },
};
const subjects = [
  { folder: 'llama_tiny/odd', task: 'causal-lm', inputs: ids, generates: true },
  { folder: 'models/bert/odd_base', task: 'base', inputs: ids, generates: false },
  {
    folder: 'models/t5/even',
    task: 'seq2seq-lm',
    inputs: { ...ids, decoder_input_ids: ids.input_ids },
    generates: true,
  },
  { folder: 'models/vit/odd_base', task: 'base', inputs: pixels, generates: false },
];

/** The code of what `work` throws, if it does. */
function codeOf(work: () => unknown): string | undefined {
  try {
    work();
  } catch (thrown) {
    const { code = String(thrown) } = thrown as { code?: string };
    return code;
  }
  return undefined;
}

interface Subject {
  folder: string;
  task: string;
  inputs: RunInputs;
  generates: boolean;
}

/** Loads a model, runs it with all hooks captured, generates and releases everything; returns a digest of all results. */
function life(core: Core, { folder, task, inputs, generates }: Subject): string {
  const file = (name: string) => readFileSync(new URL(`../fixtures/${folder}/${name}`, import.meta.url));
  const digest = createHash('sha256');
  const add = (tensors: Iterable<TensorOut>) => {
    for (const { data } of tensors) digest.update(data);
  };
  const handles: Handle[] = [];
  const keep = (handle: Handle) => {
    handles.push(handle);
    return handle;
  };
  try {
    const described = { config: file('config.json').toString(), config_name: 'config.json', task };
    const checkpoint = keep(core.run('checkpoint_open', { dtype: 'fp32', ...described }).checkpoint);
    const weights = file('model.safetensors');
    core.run('checkpoint_begin_file', { checkpoint, name: 'model.safetensors', bytes: weights.byteLength });
    core.write(checkpoint, weights);
    core.run('checkpoint_end_file', { checkpoint });
    const model = keep(core.run('model_create', { checkpoint, cache_dtype: 'fp32', ...described }).model);
    const given: ArgumentsOf<'model_forward'> = { model, ...inputs, names: ['*'], use_cache: generates };
    const { outputs, captured = {}, past_key_values: past } = core.run('model_forward', given);
    if (past !== undefined) keep(past);
    add(Object.values(outputs));
    add(Object.values(captured));
    if (generates) {
      const options = { max_new_tokens: 3, num_beams: 2 };
      const { generation } = core.run('generation_create', { model, ...ids, options });
      keep(generation);
      while (!(core.run('generation_step', { generation }) as { done: boolean }).done);
      add([core.run('generation_result', { generation }).sequences]);
    }
    return digest.digest('hex');
  } finally {
    for (const handle of handles.reverse()) core.run('release', { handle });
  }
}

describe.each(variants)('%s', (name) => {
  it.each(subjects)('$folder: with any room, down to none', async (subject) => {
    const core = await startCore(name);
    const expected = life(core, subject);
    const held = { ...core.use, peak: 0 };
    denyGrowth();
    const ballast = new Ballast(core);
    for (const bytes of [1 << 20, 4096, 64]) ballast.fill(bytes);
    const text = ' '.repeat(1 << 20); // longer than the stack, which begins at address 0
    expect(codeOf(() => core.run('checkpoint_index', { text, name: 'an index' }))).toBe('out_of_memory');
    let refused = 0;
    for (;;) {
      const code = codeOf(() => expect(life(core, subject)).toBe(expected));
      if (code === undefined) break;
      expect(code).toBe('out_of_memory');
      expect(ballast.blocks).toBeGreaterThan(0);
      refused++;
      ballast.drop();
    }
    expect(refused).toBeGreaterThan(20); // each with 4 kB more
    while (ballast.blocks > 0) ballast.drop();
    expect({ ...core.use, peak: 0 }).toEqual(held);
    expect(life(core, subject)).toBe(expected);
    allowGrowth();
    expect(life(core, subject)).toBe(expected);
  });
});

it('a model that is in use is refused more and goes on', async () => {
  const model = await AutoModelForCausalLM.from_pretrained(storiesPath, { worker: false });
  const text = async () => (await model.generate({ input_ids: [[1, 403]] }, { max_new_tokens: 20 })).data;
  const before = await text();
  denyGrowth();
  const large = { input_ids: Array.from({ length: 64 }, () => Array.from({ length: 200 }, (_, i) => 1 + (i % 400))) };
  const failure = await failureOf(() => model(large, { use_cache: true }));
  expect(failure).toMatchObject({ code: 'out_of_memory' });
  expect(await text()).toEqual(before);
  const loading = await failureOf(async () => {
    const others = [];
    for (let i = 0; i < 3; i++) others.push(await model(large, { use_cache: true }));
  });
  expect(loading.code).toBe('out_of_memory');
  allowGrowth();
  expect((await model(large)).logits?.dims).toEqual([64, 200, 512]);
  expect(await text()).toEqual(before);
  await model.dispose();
});
