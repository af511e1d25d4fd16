// The cost of a request or a model is reported before it is computed or read: the numbers, the limit and what would
// fit.

import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AutoModelForCausalLM, AutoTokenizer, inspect } from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { storiesPath } from './support/references.js';

const input_ids = [[1, 403]];

describe('requests', () => {
  const loading = AutoModelForCausalLM.from_pretrained(storiesPath, { worker: false });
  const written = async () => (await (await loading).generate({ input_ids }, { max_new_tokens: 8 })).tolist();
  afterAll(async () => (await loading).dispose());

  it.each([
    [{ max_new_tokens: 2 ** 31 }, ['invalid_argument'], ['max_new_tokens', '2147483648']],
    [{ max_new_tokens: 2 ** 31 - 1 }, ['out_of_memory', 'invalid_argument'], ['2147483647']],
    [{ max_length: 2 ** 31 - 1, max_new_tokens: null }, ['out_of_memory', 'invalid_argument'], ['2147483']],
    [{ max_new_tokens: -1 }, ['invalid_argument'], ['max_new_tokens', '-1']],
    [{ max_new_tokens: 400, num_beams: 4e4 }, ['out_of_memory'], ['40000 sequences', 'GB']],
    [{ max_new_tokens: 3, num_beams: 1e9 }, ['out_of_memory'], ['1000000000']],
    [{ max_new_tokens: 3, do_sample: true, num_return_sequences: 1e9 }, ['out_of_memory'], ['1000000000']],
  ])('%j', async (options, codes, words) => {
    const model = await loading;
    const before = await written();
    const start = performance.now();
    const failure = await failureOf(() => model.generate({ input_ids }, options));
    expect(performance.now() - start).toBeLessThan(500);
    expect(codes).toContain(failure.code);
    for (const word of words) expect(failure.message).toContain(word);
    expect(await written()).toEqual(before);
  });

  it('a pass whose logits alone are more than memory', async () => {
    const model = await loading;
    const before = await written();
    const rows = { data: new Int32Array(2_400_000).fill(1), dims: [10_000, 240] };
    const failure = await failureOf(() => model({ input_ids: rows }));
    expect(failure).toMatchObject({
      code: 'out_of_memory',
      message: expect.stringMatching(/10000 sequences of 240 .* GB/),
    });
    const captured = { data: new Int32Array(160_000).fill(1), dims: [640, 250] };
    const told = await failureOf(() => model.run_with_cache({ input_ids: captured }));
    expect(told).toMatchObject({ code: 'out_of_memory', message: expect.stringMatching(/capturing .* GB/) });
    expect(await written()).toEqual(before);
  });
});

describe('a model that is larger than memory', () => {
  const folder = mkdtempSync(join(tmpdir(), 'clearformer-costs-'));
  const config = {
    model_type: 'llama',
    architectures: ['LlamaForCausalLM'],
    vocab_size: 32000,
    hidden_size: 2048,
    intermediate_size: 8192,
    num_hidden_layers: 24,
    num_attention_heads: 16,
    max_position_embeddings: 2048,
  };

  /** Its files, with weights that are a hole after their header. */
  beforeAll(() => {
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
    const { vocab_size: v, hidden_size: d, intermediate_size: m, num_hidden_layers: layers } = config;
    const shapes: [string, number[]][] = [
      ['model.embed_tokens.weight', [v, d]],
      ['lm_head.weight', [v, d]],
      ['model.norm.weight', [d]],
    ];
    for (let i = 0; i < layers; i++) {
      for (const name of ['q', 'k', 'v', 'o']) shapes.push([`model.layers.${i}.self_attn.${name}_proj.weight`, [d, d]]);
      for (const name of ['gate', 'up']) shapes.push([`model.layers.${i}.mlp.${name}_proj.weight`, [m, d]]);
      shapes.push([`model.layers.${i}.mlp.down_proj.weight`, [d, m]]);
      for (const name of ['input', 'post_attention']) shapes.push([`model.layers.${i}.${name}_layernorm.weight`, [d]]);
    }
    let end = 0;
    const entries = shapes.map(([name, shape]) => {
      const begin = end;
      end += 2 * shape.reduce((product, extent) => product * extent, 1);
      return [name, { dtype: 'F16', shape, data_offsets: [begin, end] }];
    });
    const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(header.byteLength));
    const file = openSync(join(folder, 'model.safetensors'), 'w');
    writeSync(file, Buffer.concat([length, header]));
    ftruncateSync(file, 8 + header.byteLength + end);
    closeSync(file);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is refused by its header, with the dtype that fits', async () => {
    const start = performance.now();
    const failure = await failureOf(() => AutoModelForCausalLM.from_pretrained(folder, { worker: false }));
    expect(performance.now() - start).toBeLessThan(3000);
    expect(failure.code).toBe('out_of_memory');
    const { memory, fits, problems, valid } = await inspect(folder);
    expect(fits).toBe('fp16');
    const gigabytes = (bytes = 0) => `${(Math.floor(bytes / 1e8) / 10).toFixed(1)} GB`;
    expect(failure.message).toContain(`${gigabytes(memory?.fp32)} in fp32, of 4.2 GB`);
    expect(failure.message).toContain(`dtype 'fp16' needs ${gigabytes(memory?.fp16)}`);
    expect(problems).toContainEqual({ code: 'out_of_memory', severity: 'warning', message: failure.message });
    expect(valid).toBe(true);
  });
});

describe('aborts', () => {
  it('loading ends at once, whatever is under way', async () => {
    for (const delay of [0, 1, 5, 20, 40]) {
      const abort = new AbortController();
      const loading = AutoModelForCausalLM.from_pretrained(storiesPath, { signal: abort.signal });
      const settled = loading.then(
        (model) => model.dispose(),
        (thrown: unknown) => thrown,
      );
      await new Promise((resolve) => setTimeout(resolve, delay));
      abort.abort(new Error('enough'));
      const start = performance.now();
      await settled;
      expect(performance.now() - start).toBeLessThan(400);
    }
  });

  it('a tokenizer is loaded no further', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(AutoTokenizer.from_pretrained(storiesPath, { signal })).rejects.toThrow('enough');
  });
});
