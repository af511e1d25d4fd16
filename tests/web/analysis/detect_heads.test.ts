// Head detection: default inputs, results, errors.

import {
  AutoModelForCausalLM,
  AutoModelForImageClassification,
  AutoModelForMaskedLM,
  AutoModelForSeq2SeqLM,
  AutoModelForSpeechSeq2Seq,
  AutoModelForZeroShotImageClassification,
  detectHeads,
  headScores,
  type Tensor,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from '../support/failures.js';
import { caseOf, expectClose, fixturePath, idRows, storiesPath, tensorsOf } from '../support/references.js';

const tiny = (name: string) => fixturePath(`models/${name}`);

describe('a language model', async () => {
  const model = await AutoModelForCausalLM.from_pretrained(storiesPath);

  it('is run on random tokens that repeat, the same for a seed', async () => {
    const { inputs } = await detectHeads(model, { batch: 3, length: 20 });
    const rows = inputs.input_ids as number[][];
    expect(rows.length).toBe(3);
    for (const [start, ...rest] of rows) {
      const first = rest.slice(0, 20);
      expect([start, rest]).toEqual([model.cfg.bos_token_id, [...first, ...first]]);
      expect(new Set([start, ...first]).size).toBe(21); // no token twice, no special tokens
      expect(Math.max(...first)).toBeLessThan(model.cfg.d_vocab);
    }
    expect(new Set(rows.map((row) => row.join())).size).toBe(3);
    expect((await detectHeads(model, { batch: 3, length: 20 })).inputs).toEqual(inputs);
    expect((await detectHeads(model, { batch: 3, length: 20, seed: 2 })).inputs).not.toEqual(inputs);
  });

  it('has previous-token heads, listed from the highest score down', async () => {
    const { scores, heads, inputs } = await detectHeads(model);
    const [, cache] = await model.run_with_cache(inputs, { names_filter: 'blocks.*.attn.hook_pattern' });
    expect(headScores(cache, inputs.input_ids as number[][])).toEqual(scores);
    expect(scores.previous_token.dims).toEqual([5, 8]);
    expect(heads.slice(0, 2).map(({ kind, layer, head }) => [kind, layer, head])).toEqual([
      ['previous_token', 3, 6],
      ['previous_token', 1, 3],
    ]);
    const listed = heads.map(({ kind, layer, head }) => scores[kind].slice(layer, head).item());
    expect(heads.map(({ score }) => score)).toEqual(listed);
    expect(listed).toEqual([...listed].sort((a, b) => b - a));
    const all = Object.values(scores).flatMap(({ data }) => [...data]);
    expect(listed.length).toBe(all.filter((score) => score >= 0.5).length);
    expect((await detectHeads(model, { threshold: 0 })).heads.length).toBe(all.length);
    const threshold = listed[1] as number; // a head with exactly that score is included
    expect((await detectHeads(model, { threshold })).heads.map(({ score }) => score)).toEqual(listed.slice(0, 2));
  });

  it('is run on inputs of the caller, padding left out', async () => {
    const rows = { input_ids: [[1, 403, 407, 403, 407, 0, 0]], attention_mask: [[1, 1, 1, 1, 1, 0, 0]] };
    const { scores } = await detectHeads(model, { inputs: rows });
    const alone = await detectHeads(model, { inputs: { input_ids: [[1, 403, 407, 403, 407]] } });
    expect(scores).toEqual(alone.scores);
  });

  it('of one layer has the index of that layer', async () => {
    const options = { threshold: 0.3 };
    const all = await detectHeads(model, options);
    const one = await detectHeads(model, { ...options, hook: 'blocks.3.attn.hook_pattern' });
    expect(one.heads).toEqual(all.heads.filter(({ layer }) => layer === 3));
    expect(one.heads.length).toBeGreaterThan(0);
  });

  it('refuses what it cannot do', async () => {
    const controller = new AbortController();
    controller.abort(new Error('enough'));
    await expect(detectHeads(model, { signal: controller.signal })).rejects.toThrow('enough');
    const failures: [object, string, string][] = [
      [{ lengths: 3 }, 'unsupported', "unknown option 'lengths'"],
      [{ length: 300 }, 'invalid_argument', 'length must be a whole number from 2 to 255, got 300'],
      [{ batch: 0 }, 'invalid_argument', 'batch must be'],
      [{ seed: 0.5 }, 'invalid_argument', 'seed must be'],
      [{ seed: Symbol('seed') }, 'invalid_argument', 'got Symbol(seed)'],
      [{ batch: {} }, 'invalid_argument', 'got an object of type Object'],
      [{ threshold: Symbol('half') }, 'invalid_argument', 'needs a number as threshold'],
      [
        { hook: 'encoder.*.attn.hook_pattern' },
        'invalid_argument',
        "hook: no hook is named 'encoder.*.attn.hook_pattern'",
      ],
      [{ hook: 'blocks.*.attn.hook_z' }, 'invalid_argument', "'blocks.*.attn.hook_z' is no attention map"],
      [{ hook: 'blocks.*.attn.*pattern*' }, 'invalid_argument', 'no attention map'],
      [{ inputs: {} }, 'invalid_argument', 'inputs need input_ids'],
    ];
    for (const [options, code, message] of failures) {
      const failure = await failureOf(() => detectHeads(model, options));
      expect([failure.code, failure.message]).toEqual([code, expect.stringContaining(message)]);
    }
  });
});

describe('a model that was trained until it had induction heads', async () => {
  const heads = caseOf('induction', 'heads');
  const reference = tensorsOf('induction', heads);
  const model = await AutoModelForCausalLM.from_pretrained(fixturePath('induction/model'));

  it('has them, on tokens it was not trained on', async () => {
    const { heads: found, scores } = await detectHeads(model);
    const induction = found.filter(({ kind }) => kind === 'induction');
    const wanted = Array.from(reference('induction').data, Number).flatMap((score, at) => {
      return score >= 0.5 ? [{ layer: Math.floor(at / model.cfg.n_heads), head: at % model.cfg.n_heads }] : [];
    });
    expect(wanted.length).toBeGreaterThan(0);
    expect(induction.map(({ layer, head }) => ({ layer, head })).sort((a, b) => a.head - b.head)).toEqual(wanted);
    expect(found[0]?.kind).toBe('induction');
    const others = [...scores.induction.data].filter((score) => score < 0.5);
    expect(Math.max(...others)).toBeLessThan(0.1);
  });

  it("has the reference's scores on the reference's tokens", async () => {
    const { scores } = await detectHeads(model, { inputs: { input_ids: idRows(reference('input_ids')) } });
    for (const [kind, found] of Object.entries(scores)) expectClose(kind, found, reference(kind));
  });
});

it('scores the same in a worker', async () => {
  const load = (worker: boolean) => AutoModelForCausalLM.from_pretrained(tiny('gpt2/even'), { worker });
  const [here, there] = [await load(false), await load(true)];
  expect(there.info().worker).toBe(true);
  expect(await detectHeads(there)).toEqual(await detectHeads(here));
  await Promise.all([here.dispose(), there.dispose()]);
});

it('scores both stacks of an encoder-decoder', async () => {
  const model = await AutoModelForSeq2SeqLM.from_pretrained(tiny('bart/even'));
  const { scores, inputs } = await detectHeads(model);
  expect(scores.induction.dims).toEqual([2, 4]);
  const [start] = (inputs.decoder_input_ids as number[][])[0] as number[];
  expect(start).toBe(model.cfg.decoder_start_token_id);
  const encoder = await detectHeads(model, { hook: 'encoder.*.attn.hook_pattern' });
  expect(encoder.scores.induction.dims).toEqual([1, 4]);
  const [, cache] = await model.run_with_cache(inputs, { names_filter: 'encoder.*.attn.hook_pattern' });
  expect(headScores(Object.values(cache) as Tensor<'float32'>[], inputs.input_ids as number[][])).toEqual(
    encoder.scores,
  );
  const failure = await failureOf(() => detectHeads(model, { hook: 'decoder.*.cross_attn.hook_pattern' }));
  expect([failure.code, failure.message]).toEqual(['unsupported', expect.stringContaining('cross-attention')]);
  await model.dispose();
});

it('draws ids that the encoder has, too, if its vocabulary is the smaller one', async () => {
  await using model = await AutoModelForSeq2SeqLM.from_pretrained(tiny('nn_transformer/even'));
  const { d_vocab } = model.cfg.encoder as { d_vocab: number };
  expect(d_vocab).toBeLessThan(model.cfg.d_vocab);
  const { inputs } = await detectHeads(model);
  expect(Math.max(...(inputs.input_ids as number[][]).flat())).toBeLessThan(d_vocab);
});

it('scores an encoder', async () => {
  const model = await AutoModelForMaskedLM.from_pretrained(tiny('bert/even_masked_lm'));
  const { scores } = await detectHeads(model);
  expect(
    Object.values(scores)
      .flatMap(({ data }) => [...data])
      .every((score) => score > 0 && score < 1),
  ).toBe(true);
  await model.dispose();
});

it('names models without tokens', async () => {
  const vit = await AutoModelForImageClassification.from_pretrained(tiny('vit/even_image_classification'));
  expect((await failureOf(() => detectHeads(vit))).message).toMatch(/of vit: there are no tokens/);
  const whisper = await AutoModelForSpeechSeq2Seq.from_pretrained(tiny('whisper/even'));
  const sounds = { hook: 'encoder.*.attn.hook_pattern' } as const;
  expect((await failureOf(() => detectHeads(whisper, sounds))).message).toMatch(/of whisper: there are no tokens/);
  expect((await failureOf(() => detectHeads(whisper))).message).toMatch(/whisper needs inputs/);
  const clip = await AutoModelForZeroShotImageClassification.from_pretrained(tiny('clip/even'));
  const images = { hook: 'vision_model.blocks.*.attn.hook_pattern' } as const;
  expect((await failureOf(() => detectHeads(clip, images))).message).toMatch(/of clip: there are no tokens/);
  expect((await failureOf(() => detectHeads(clip))).message).toMatch(/clip needs inputs/);
  await Promise.all([vit, whisper, clip].map((model) => model.dispose()));
});
