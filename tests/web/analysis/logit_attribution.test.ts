// Direct logit attribution: the parts sum to the logit, and each equals the logit's change when that part alone is
// removed.

import {
  AutoModelForCausalLM,
  AutoModelForMaskedLM,
  AutoModelForSeq2SeqLM,
  AutoModelForSpeechSeq2Seq,
  logitAttribution,
  type ModelInputs,
  type PreTrainedModel,
  type Tensor,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from '../support/failures.js';
import { fixturePath, storiesPath } from '../support/references.js';

const input_ids = [
  [3, 9, 4, 20, 7],
  [1, 1, 8, 30, 31],
];
const decoder_input_ids = [
  [2, 9, 8],
  [2, 5, 5],
];
const causal = ['models/gpt2/even', 'models/gpt2/odd', 'models/gpt_neo/even', 'models/mistral/even', 'models/qwen2/even', 'models/qwen3/odd', 'models/phi/even', 'models/phi/odd', 'models/phi3/even', 'models/olmo/even', 'models/granite/odd', 'models/opt/plain_norms', ...['bloom', 'gpt_neox', 'gptj', 'codegen', 'falcon', 'mpt', 'stablelm', 'cohere', 'cohere2', 'gemma', 'smollm3', 'starcoder2', 'lfm2', 'qwen3_5_text'].map((name) => `models/${name}/odd`), 'llama_tiny/odd', 'llama_tiny/bias', 'llama_tiny/tied', storiesPath]; // biome-ignore format: a list
const loadCausal = (name: string) =>
  AutoModelForCausalLM.from_pretrained(name.startsWith('/') ? name : fixturePath(name));
const features = { data: Float32Array.from({ length: 2 * 8 * 40 }, (_, at) => Math.sin(at)), dims: [2, 8, 40] };

const models: [string, () => Promise<PreTrainedModel>, ModelInputs][] = [
  ...causal.map((name): (typeof models)[0] => [name, () => loadCausal(name), { input_ids }]),
  ...['t5', 'mbart', 'm2m_100', 'pegasus'].map((name): (typeof models)[0] => [name, () => AutoModelForSeq2SeqLM.from_pretrained(fixturePath(`models/${name}/even`)), { input_ids, decoder_input_ids }]),
  ['whisper', () => AutoModelForSpeechSeq2Seq.from_pretrained(fixturePath('models/whisper/even')), { input_features: features, decoder_input_ids }],
]; // biome-ignore format: a row each

/** The bound of whole models' logits, as in the other tests. */
const boundOf = (logits: Tensor) =>
  2e-5 + 1e-5 * (logits.data as Float32Array).reduce((most, value) => Math.max(most, Math.abs(value)), 0);

describe.each(models)('%s', (_, load, inputs) => {
  it('gives parts that sum to the logit and to a difference of logits, at every position', async () => {
    const model = await load();
    const [logits] = await model.run_with_cache(inputs, { names_filter: [] });
    const [batch = 0, length = 0] = logits.dims;
    const bound = boundOf(logits);
    const at = (row: number, place: number, token: number) => logits.slice(row, place, token).item() as number;
    const pos = Array.from({ length }, (_, place) => place);
    const [right, wrong] = [[11, 12], 5];
    const one = await logitAttribution(model, inputs, { tokens: right, pos });
    const two = await logitAttribution(model, inputs, { tokens: right, incorrect_tokens: wrong, pos });
    expect(one.contributions.dims).toEqual([one.labels.length, batch, length]);
    expect(new Set(one.labels).size).toBe(one.labels.length);
    for (let row = 0; row < batch; row++) {
      for (const place of pos) {
        const logit = at(row, place, right[row] as number);
        expect(one.logits.slice(row, place).item()).toBe(logit);
        expect(two.logits.slice(row, place).item()).toBe(Math.fround(logit - at(row, place, wrong)));
        for (const { contributions, logits: wanted } of [one, two]) {
          const sum = (contributions.slice(null, row, place).tolist() as number[]).reduce((a, b) => a + b, 0);
          expect(Math.abs(sum - (wanted.slice(row, place).item() as number))).toBeLessThanOrEqual(2 * bound);
        }
      }
    }
    const last = await logitAttribution(model, inputs, { tokens: right });
    expect(last.contributions).toEqual(one.contributions.slice(null, null, -1));
    expect(last.logits).toEqual(one.logits.slice(null, -1));
    await model.dispose();
  });
});

describe('each part', () => {
  it.each([
    [
      'models/gpt2/even',
      'blocks.',
      [
        'embed',
        'pos_embed',
        'L0H0',
        'L0H1',
        'L0H2',
        'L0H3',
        '0_mlp_out',
        'L1H0',
        'L1H1',
        'L1H2',
        'L1H3',
        '1_mlp_out',
        'bias',
      ],
    ],
    ['llama_tiny/bias', 'blocks.', undefined],
    ['models/phi/even', 'blocks.', undefined],
    [
      'models/t5/even',
      'decoder.',
      [
        'embed',
        ...[0, 1].flatMap((l) =>
          [...'HC'].flatMap((kind) => [0, 1, 2, 3].map((h) => `L${l}${kind}${h}`)).concat(`${l}_mlp_out`),
        ),
        'bias',
      ],
    ],
  ] as const)('of %s is what the logit loses without it, all others and the norm held', async (name, block, labels) => {
    // biome-ignore format: a table
    const t5 = name.includes('t5');
    const model = await (t5 ? AutoModelForSeq2SeqLM : AutoModelForCausalLM).from_pretrained(fixturePath(name));
    const inputs: ModelInputs = t5 ? { input_ids, decoder_input_ids } : { input_ids };
    const top = t5 ? 'decoder.' : '';
    const token = 6;
    const found = await logitAttribution(model, inputs, { tokens: token });
    if (labels !== undefined) expect(found.labels).toEqual([...labels]);
    const hooks = model.hooks().map((hook) => hook.name);
    const held = hooks.filter(
      (hook) =>
        hook.startsWith(top) &&
        /hook_embed$|hook_pos_embed$|hook_z$|hook_mlp_out$|^(decoder\.)?ln_final.hook_scale$/.test(hook),
    );
    const [logits, cache] = await model.run_with_cache(inputs, { names_filter: held });
    const bound = boundOf(logits);
    const hold = held.map((hook) => ({ hook, op: 'replace', value: cache[hook] as Tensor }) as const);
    const run = async (...edits: object[]) =>
      (await model.run_with_hooks(inputs, { edits: [...hold, ...edits] as never })).slice(null, -1, token);
    expect((await run()).tolist()).toEqual(logits.slice(null, -1, token).tolist());
    for (const [part, label] of found.labels.slice(0, -1).entries()) {
      const [, layer, kind, head] = /^L(\d+)([HC])(\d+)$/.exec(label) ?? [];
      const mlp = /^(\d+)_mlp_out$/.exec(label)?.[1];
      const hook =
        layer !== undefined
          ? `${block}${layer}.${kind === 'C' ? 'cross_attn' : 'attn'}.hook_z`
          : mlp !== undefined
            ? `${block}${mlp}.hook_mlp_out`
            : `${top}hook_${label}`;
      const without = await run({ hook, op: 'zero', ...(head === undefined ? {} : { head: Number(head) }) });
      for (const row of [0, 1]) {
        const lost = (found.logits.data[row] as number) - (without.data[row] as number);
        const share = found.contributions.slice(part, row).item() as number;
        expect(Math.abs(lost - share), `${label} of row ${row}: ${lost}, ${share}`).toBeLessThanOrEqual(2 * bound);
      }
    }
    await model.dispose();
  });
});

it('gives the same in a worker', async () => {
  const load = (worker: boolean) => AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/even'), { worker });
  const [here, there] = [await load(false), await load(true)];
  expect(there.info().worker).toBe(true);
  const options = { tokens: [1, 2], incorrect_tokens: 3, pos: [0, -1] };
  expect(await logitAttribution(there, { input_ids }, options)).toEqual(
    await logitAttribution(here, { input_ids }, options),
  );
  await Promise.all([here.dispose(), there.dispose()]);
});

describe('what it refuses', async () => {
  const model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/even'));

  it('aborts', async () => {
    const controller = new AbortController();
    controller.abort(new Error('enough'));
    const options = { tokens: 1, signal: controller.signal };
    await expect(logitAttribution(model, { input_ids }, options)).rejects.toThrow('enough');
  });

  it.each([
    [{ tokens: 64 }, 'tokens must be a token id below 64, or one for each of 2 rows, got 64'],
    [{ tokens: [1, 2, 3] }, 'got 1,2,3'],
    [{ tokens: 0.5 }, 'got 0.5'],
    [{}, 'got undefined'],
    [undefined, 'got undefined'],
    [{ tokens: 1, incorrect_tokens: -1 }, 'incorrect_tokens must be'],
    [{ tokens: 1, pos: 5 }, 'no position 5 among 5'],
    [{ tokens: 1, pos: Symbol('last') }, 'no position Symbol(last) among 5'],
  ])('%j', async (options, message) => {
    const failure = await failureOf(() => logitAttribution(model, { input_ids }, options as never));
    expect([failure.code, failure.message]).toEqual(['invalid_argument', expect.stringContaining(message)]);
  });

  it.each([
    ['bert/even_masked_lm', AutoModelForMaskedLM, 'only decoders answer'],
    ['gemma2/even', AutoModelForCausalLM, 'a norm behind attention'],
    ['bart/even', AutoModelForSeq2SeqLM, 'post-norm'],
  ] as const)('%s', async (name, kind, message) => {
    const other = await kind.from_pretrained(fixturePath(`models/${name}`));
    const failure = await failureOf(() => logitAttribution(other, { input_ids }, { tokens: 1 }));
    expect([failure.code, failure.message]).toEqual(['unsupported', expect.stringContaining(message)]);
    await other.dispose();
  });
});
