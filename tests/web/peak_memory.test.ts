// What inspect says of the memory at its peak, against what loading and generating takes: a tiny model and one with
// matrices large enough to be quantised, in each dtype.

import { AutoModelForCausalLM, AutoModelForMaskedLM, inspect, type Source, type WeightType } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { safetensors } from './support/checkpoints.js';
import { fixturePath, storiesPath } from './support/references.js';

const dtypes: readonly WeightType[] = ['fp32', 'fp16', 'q8', 'q4'];
const [prompt, added] = [512, 64];

const config = {
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  hidden_size: 384,
  intermediate_size: 1024,
  num_hidden_layers: 8,
  num_attention_heads: 6,
  num_key_value_heads: 2,
  max_position_embeddings: 2048,
  vocab_size: 8192,
  tie_word_embeddings: true,
};

/**
 * A Llama of 16 million parameters, in bfloat16: norms of 1, other weights of arbitrary sign between 0.008 and 0.03.
 * `more` are names of output layers with the bytes of the embedding table.
 */
function middleSized(more: readonly string[] = []): Source {
  const { hidden_size: d, intermediate_size: f, vocab_size } = config;
  const keys = (d / config.num_attention_heads) * config.num_key_value_heads;
  const block: Record<string, number[]> = {
    'input_layernorm.weight': [d],
    'self_attn.q_proj.weight': [d, d],
    'self_attn.k_proj.weight': [keys, d],
    'self_attn.v_proj.weight': [keys, d],
    'self_attn.o_proj.weight': [d, d],
    'post_attention_layernorm.weight': [d],
    'mlp.gate_proj.weight': [f, d],
    'mlp.up_proj.weight': [f, d],
    'mlp.down_proj.weight': [d, f],
  };
  const layers = Array.from({ length: config.num_hidden_layers }, (_, layer) =>
    Object.entries(block).map(([name, shape]): [string, number[]] => [`model.layers.${layer}.${name}`, shape]),
  );
  const shapes = [
    ['model.embed_tokens.weight', [vocab_size, d]] as [string, number[]],
    ...layers.flat(),
    ['model.norm.weight', [d]] as [string, number[]],
    ...more.map((name): [string, number[]] => [name, [vocab_size, d]]),
  ];
  const sizes = shapes.map(([, shape]) => shape.reduce((product, extent) => product * extent, 1));
  const data = new Uint16Array(sizes.reduce((sum, size) => sum + size, 0));
  const header: Record<string, unknown> = {};
  let end = 0;
  shapes.forEach(([name, shape], tensor) => {
    const first = end;
    end += sizes[tensor] as number;
    header[name] = { dtype: 'BF16', shape, data_offsets: [2 * first, 2 * end] };
    const seed = more.includes(name) ? 1 : tensor + 1;
    for (let i = first, random = seed; i < end; i++) {
      random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
      data[i] = shape.length === 1 ? 0x3f80 : 0x3c00 | (random >>> 24) | ((random >>> 8) & 0x8000);
    }
  });
  return {
    'config.json': new TextEncoder().encode(JSON.stringify(config)),
    'model.safetensors': safetensors(header, new Uint8Array(data.buffer)),
  };
}

describe('the peak that inspect tells', () => {
  const middle = middleSized();
  const twice = middleSized(['lm_head.weight']);

  it.each([
    ...dtypes.map((dtype) => [dtype, 'a model of 16 million parameters', middle] as const),
    ['q8', 'one whose file holds its table twice', twice] as const,
  ])('in %s is within a twentieth of what %s takes', async (dtype, _, folder) => {
    const { memory, peak } = await inspect(folder);
    await using model = await AutoModelForCausalLM.from_pretrained(folder, {
      dtype,
      deterministic: true,
      numThreads: 1,
    });
    const ids = Array.from({ length: prompt }, (_, i) => (i * 7919 + 13) % config.vocab_size);
    await model.generate({ input_ids: [ids] }, { max_new_tokens: added, min_new_tokens: added });
    const { memory: taken, heapBytes } = model.info();
    const told = peak?.[dtype] ?? Number.NaN;
    if (folder === middle) expect(taken.weights).toBe(memory?.[dtype]);
    else expect(taken.weights).toBeLessThan(0.9 * (memory?.[dtype] ?? 0)); // one of the two tables is released
    expect(told / taken.peak).toBeGreaterThan(0.95);
    expect(told / taken.peak).toBeLessThan(1.05);
    // The program's own memory, and what the memory grows ahead (see the option MEMORY_GROWTH_GEOMETRIC_CAP of
    // CMakeLists.txt).
    expect(heapBytes).toBeGreaterThan(taken.peak);
    expect(heapBytes).toBeLessThan(1.05 * told + (8 << 20));
  });

  it.each(dtypes)('in %s is within a tenth of the objects of a tiny model', async (dtype) => {
    const { peak } = await inspect(storiesPath);
    await using model = await AutoModelForCausalLM.from_pretrained(storiesPath, {
      dtype,
      deterministic: true,
      numThreads: 1,
    });
    const ids = Array.from({ length: model.cfg.n_ctx - added }, (_, i) => 3 + (i % 200));
    await model.generate({ input_ids: [ids] }, { max_new_tokens: added, min_new_tokens: added });
    const ratio = (peak?.[dtype] ?? Number.NaN) / model.info().memory.peak;
    expect(ratio).toBeGreaterThan(0.9);
    expect(ratio).toBeLessThan(1.1);
  });

  it("counts ALBERT's shared blocks once, as they are in memory and in the file", async () => {
    const folder = fixturePath('models/albert/even_base');
    const { memory, parameters, cfg } = await inspect(folder);
    expect(cfg?.n_layers).toBe(3);
    expect(memory?.fp32).toBe(4 * (parameters as number)); // two blocks for three layers
    await using model = await AutoModelForMaskedLM.from_pretrained(fixturePath('models/albert/even_masked_lm'));
    const of = await inspect(fixturePath('models/albert/even_masked_lm'));
    expect(model.info().memory.weights).toBe(of.memory?.fp32);
  });
});
