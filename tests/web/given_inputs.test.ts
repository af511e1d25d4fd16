// Passes that begin later than at the ids: token embeddings against transformers, the residual stream before a layer; and
// what is computed on request: what each head reads and adds.

import { type HookName, type ModelInputs, Tensor } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { classOf } from './support/model_classes.js';
import { casesOf, expectClose, fixturePath, idRows, tensorsOf } from './support/references.js';

const loaded = (checkpoint: string, task = 'causal-lm') => {
  return classOf(task, checkpoint).from_pretrained(fixturePath(`models/${checkpoint}`));
};
const input_ids = [[5, 6, 7, 8, 9]];
const only = ['gpt2_causal-lm', 'granite_causal-lm', 'roberta_masked-lm', 't5_seq2seq-lm', 'whisper_seq2seq-lm'];

describe('inputs_embeds', () => {
  it.each(casesOf('given_inputs').filter(({ name }) => only.includes(name)))('$name', async (one) => {
    const tensor = tensorsOf('given_inputs', one);
    const { checkpoint, task } = one.options as { checkpoint: string; task: string };
    await using model = await loaded(checkpoint, task);
    const inputs: Record<string, unknown> = {};
    for (const name of Object.keys(one.inputs)) {
      if (name === 'labels') continue;
      inputs[name] = name.endsWith('mask') ? idRows(tensor(name)) : tensor(name);
    }
    const { logits } = await model(inputs as ModelInputs);
    const masked = one.inputs.attention_mask && task !== 'seq2seq-lm' ? tensor('attention_mask') : undefined;
    const width = logits?.dims[2] ?? 1;
    const counts = masked && ((index: number) => Number(masked.data[Math.floor(index / width)]) !== 0);
    expectClose(one.name, logits as Tensor, tensor('logits'), counts);
    if (task !== 'causal-lm') return;
    const { loss, ...output } = await model({ ...inputs, labels: idRows(tensor('labels')) } as ModelInputs);
    expectClose('loss', loss?.reshape([1]) as Tensor, tensor('loss'));
    expect(output.logits?.data).toEqual(logits?.data);
  });

  it('and input_ids exclude each other', async () => {
    await using model = await loaded('gpt2/odd');
    const inputs_embeds = new Tensor('float32', new Float32Array(150), [1, 5, 30]);
    const failure = await failureOf(() => model({ input_ids, inputs_embeds }));
    expect(failure.code).toBe('invalid_argument');
    expect(failure.message).toContain('exclude each other');
  });
});

describe('start_at_layer', () => {
  it('gives the bits of the whole pass, with its edits', async () => {
    await using model = await loaded('gpt2/odd');
    const edits = [{ hook: 'blocks.1.attn.hook_z', head: 1, op: 'zero' }] as const;
    const hook = 'blocks.1.hook_resid_pre';
    const [whole, cache] = await model.run_with_cache({ input_ids }, { edits, names_filter: hook });
    const residual = cache[hook] as Tensor<'float32'>;
    const [logits, reached] = await model.run_with_cache({ residual }, { start_at_layer: -1, edits });
    expect(logits.data).toEqual(whole.data);
    expect(Object.keys(reached)[0]).toBe(hook);
    const run = (options: object) => failureOf(() => model.run_with_hooks({ residual }, options));
    expect((await run({ start_at_layer: 3 })).message).toContain('3 of 2 layers');
    expect((await run({})).message).toContain('residual');
    const early = [{ hook: 'blocks.0.attn.hook_z', op: 'zero' }];
    expect((await run({ start_at_layer: 1, edits: early })).message).toContain("'blocks.0.attn.hook_z'");
  });

  it('behind the last layer captures what is there, which may be nothing', async () => {
    await using model = await loaded('bert/even_token_classification', 'token-classification');
    const whole = await model.run_with_hooks({ input_ids });
    const { n_layers } = model.cfg;
    const [residual] = await model.run_with_cache({ input_ids }, { stop_at_layer: n_layers, names_filter: [] });
    const [logits, cache] = await model.run_with_cache({ residual }, { start_at_layer: n_layers });
    expect([logits.data, Object.keys(cache)]).toEqual([whole.data, []]);
    const named = { start_at_layer: n_layers, names_filter: '*hook_z' } as const;
    const failure = await failureOf(() => model.run_with_cache({ residual }, named));
    expect(failure.message).toBe("names_filter: no hook is named '*hook_z' (there is none)");
  });

  it('is the decoder’s layer if there is a source', async () => {
    await using model = await loaded('marian/odd', 'seq2seq-lm');
    const inputs = { input_ids, decoder_input_ids: [[2, 8, 9]] };
    const names: HookName[] = ['encoder.1.hook_resid_pre', 'decoder.1.hook_resid_pre'];
    const [whole, cache] = await model.run_with_cache(inputs, { names_filter: names });
    const [source, target] = names.map((name) => cache[name] as Tensor<'float32'>);
    const later = await model.run_with_hooks({ input_ids, residual: target }, { start_at_layer: 1 });
    expect(later.data).toEqual(whole.data);
    const { decoder_input_ids } = inputs;
    const [logits, reached] = await model.run_with_cache(
      { residual: source, decoder_input_ids },
      { start_at_layer: 1 },
    );
    expect(logits.data).toEqual(whole.data);
    expect(Object.keys(reached)).not.toContain('encoder.0.hook_resid_pre');
    expect(Object.keys(reached)).toContain('decoder.0.hook_resid_pre');
  });
});

describe('what is computed on request', () => {
  it('is listed on request and selected by name only', async () => {
    await using model = await loaded('gpt2/odd');
    const names = (on_request: boolean) => model.hooks({ on_request }).map(({ name }) => name);
    const more = names(true).filter((name) => !names(false).includes(name));
    const leaves = ['hook_q_input', 'hook_k_input', 'hook_v_input', 'hook_mlp_in', 'attn.hook_result'];
    expect(more.sort()).toEqual([0, 1].flatMap((layer) => leaves.map((leaf) => `blocks.${layer}.${leaf}`)).sort());
    const captured = async (names_filter: object | string) =>
      Object.keys((await model.run_with_cache({ input_ids }, { names_filter: names_filter as '*' }))[1]);
    expect(await captured('*')).toEqual(names(false));
    expect(await captured(/blocks/)).not.toContain('blocks.0.attn.hook_result');
    expect(await captured('*.hook_result')).toEqual(['blocks.0.attn.hook_result', 'blocks.1.attn.hook_result']);
    expect(await captured((name: string) => name.endsWith('1.hook_q_input'))).toEqual(['blocks.1.hook_q_input']);
  });

  it('a result that is edited away is a head that is ablated', async () => {
    await using model = await loaded('gpt2/odd');
    const run = (hook: HookName) => model.run_with_hooks({ input_ids }, { edits: [{ hook, head: 1, op: 'zero' }] });
    const { dims, data } = await run('blocks.0.attn.hook_z');
    expectClose('logits', await run('blocks.0.attn.hook_result'), { dims: [...dims], data: data as Float32Array });
    const [, cache] = await model.run_with_cache({ input_ids }, { names_filter: 'blocks.0.attn.hook_result' });
    expect(cache['blocks.0.attn.hook_result']?.dims).toEqual([1, 5, 3, 30]);
  });

  it('the query input of a head alone changes that head’s queries alone', async () => {
    await using model = await loaded('gpt2/odd');
    const hooks: HookName[] = ['blocks.1.attn.hook_q', 'blocks.1.attn.hook_k'];
    const [, plain] = await model.run_with_cache({ input_ids }, { names_filter: hooks });
    const edits = [{ hook: 'blocks.1.hook_q_input', head: 2, pos: -1, op: 'scale', value: -1 }] as const;
    const [, edited] = await model.run_with_cache({ input_ids }, { names_filter: hooks, edits });
    expect(edited['blocks.1.attn.hook_k']?.data).toEqual(plain['blocks.1.attn.hook_k']?.data);
    const [before, after] = [plain, edited].map((cache) => cache['blocks.1.attn.hook_q'] as Tensor);
    const differs = [...(before?.data ?? [])].map((value, index) => value !== after?.data[index]);
    expect(differs.every((differing, index) => !differing || index >= 140)).toBe(true); // position 4, head 2
    expect(differs.slice(140).every(Boolean)).toBe(true);
  });
});

it('an unknown input is refused with each known one once, labels too', async () => {
  await using model = await loaded('gpt2/odd');
  const { code, details } = await failureOf(() => model({ input_ids, lables: input_ids } as ModelInputs));
  expect(code).toBe('unsupported');
  const option = await failureOf(() => model({ input_ids, use_cache: true } as ModelInputs));
  expect(option.message).toMatch(/^model: unknown input 'use_cache' \(known: input_ids,/);
  expect(details.expected).toContain('labels');
  expect(new Set(details.expected).size).toBe(details.expected?.length);
});

it('a Promise that was not awaited is refused, not taken for no inputs', async () => {
  await using model = await loaded('gpt2/odd');
  const promised = Promise.resolve({ input_ids }) as never;
  for (const call of [
    () => model(promised),
    () => (model as never as { generate: (inputs: never) => unknown }).generate(promised),
    () => model.run_with_cache(promised),
    () => model.run_with_hooks(promised),
    () => model({ input_ids }, promised),
  ]) {
    const { code, message } = await failureOf(call);
    expect([code, message]).toEqual(['invalid_argument', expect.stringMatching(/got an object of type Promise$/)]);
  }
});
