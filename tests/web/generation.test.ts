// Generation: greedy tokens against transformers, sampling, streaming, batches, captures, and stopping in the middle.

import {
  AutoModelForCausalLM,
  AutoTokenizer,
  type GenerationStep,
  type GenerativeModel,
  type PreTrainedTokenizer,
  Tensor,
  TextStreamer,
  type TokenizerOutput,
} from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storiesFiles } from './support/checkpoints.js';
import { failureOf } from './support/failures.js';
import { casesOf, expectClose, fixturePath, idRows, storiesPath, tensorsOf } from './support/references.js';
import { optionsFor, variants } from './support/variants.js';

const cases = ['stories260K', 'llama_tiny'].flatMap((folder) =>
  casesOf(folder).map((one) => ({ folder, one, name: `${folder}/${one.name}` })),
);

describe.each(variants)('%s writes the tokens that transformers writes', (variant) => {
  it.each(cases.filter(({ one }) => one.op === 'causal_lm_greedy' || 'new_ids' in one.outputs))(
    '$name',
    async ({ folder, one }) => {
      const path = folder === 'stories260K' ? storiesPath : fixturePath(`${folder}/${one.options.checkpoint}`);
      const model = await AutoModelForCausalLM.from_pretrained(path, optionsFor(variant));
      const reference = tensorsOf(folder, one);
      const input_ids = idRows(reference('input_ids'));
      const mask = 'attention_mask' in one.inputs ? { attention_mask: idRows(reference('attention_mask')) } : {};
      const new_ids = idRows(reference('new_ids'));
      const out = await model.generate(
        { input_ids, ...mask },
        {
          max_new_tokens: new_ids[0]?.length,
          eos_token_id: null,
          do_sample: false,
          return_dict_in_generate: true,
          output_logits: true,
        },
      );
      expect(out.sequences.type).toBe('int64');
      expect(idRows(out.sequences)).toEqual(input_ids.map((row, r) => [...row, ...(new_ids[r] ?? [])]));
      const last = out.logits?.at(-1);
      if ('last_step_logits' in one.outputs && last)
        expectClose('last_step_logits', last, reference('last_step_logits'));
      expect(out.logits).toHaveLength(new_ids[0]?.length ?? 0);
      await model.dispose();
    },
  );
});

describe('generation', () => {
  let model: GenerativeModel;
  let tokenizer: PreTrainedTokenizer;
  let inputs: TokenizerOutput;
  const story = casesOf('stories260K').find((one) => one.name === 'greedy_200') as { new_text?: string; text?: string };
  beforeAll(async () => {
    model = await AutoModelForCausalLM.from_pretrained(storiesPath, { deterministic: true });
    tokenizer = await AutoTokenizer.from_pretrained(storiesPath);
    inputs = tokenizer('Once upon a time');
  });
  afterAll(() => model.dispose());

  const texts = async (options: Parameters<GenerativeModel['generate']>[1]) =>
    tokenizer.batch_decode(await model.generate(inputs, options as { return_dict_in_generate?: false }), {
      skip_special_tokens: true,
    })[0];

  it('takes its defaults from generation_config.json', async () => {
    expect((await model.generate(inputs)).dims).toEqual([1, 205]);
    expect(await texts({})).toBe(story.text);
  });

  it('honours every key of generation_config.json, under what the caller says', async () => {
    const withConfig = async (config: object) => {
      const generation_config = new TextEncoder().encode(JSON.stringify(config));
      return AutoModelForCausalLM.from_pretrained({ ...storiesFiles(), 'generation_config.json': generation_config });
    };
    const settings = { max_new_tokens: 9, num_beams: 3, no_repeat_ngram_size: 2, suppress_tokens: [432] };
    const own = await withConfig({ ...settings, stop_strings: ['a li'], transformers_version: '5.12.1' });
    const given = { num_beams: 1, suppress_tokens: null };
    const expected = await model.generate(inputs, { ...settings, ...given, stop_strings: ['a li'] });
    expect((await own.generate(inputs, given)).data).toEqual(expected.data);
    expect((await failureOf(() => own.generate(inputs))).message).toContain('stop_strings');
    const searched = await own.generate(inputs, { stop_strings: null });
    expect(searched.data).toEqual((await model.generate(inputs, settings)).data);
    await own.dispose();
    const failure = await failureOf(() => withConfig({ penalty_alpha: 0.6, top_k: 4 }));
    expect(failure.message).toContain('generation_config.json: "penalty_alpha"');
    expect(failure.code).toBe('unsupported');
  });

  it('streams the same text piece by piece', async () => {
    const steps: GenerationStep[] = [];
    for await (const step of model.generate_stream(inputs, { max_new_tokens: 200 })) steps.push(step);
    expect(steps).toHaveLength(200);
    expect(steps.map((step) => step.text).join('')).toBe(story.new_text);
    expect(steps[0]).toEqual({ token_id: 432, token_ids: [432], text: ',', texts: [','] });
  });

  it('equals a forward pass without cache at every step', async () => {
    let ids = [1, 403, 407, 261, 378];
    for await (const step of model.generate_stream({ input_ids: [ids] }, { max_new_tokens: 12, output_logits: true })) {
      const { logits } = await model({ input_ids: [ids] });
      expectClose('logits', step.logits, { dims: [1, 512], data: logits.data.slice(-512) });
      ids = [...ids, step.token_id];
    }
    expect(ids).toHaveLength(17);
  });

  it('gives what was asked for in every step, and nothing else', async () => {
    const all = { output_scores: true, output_logits: true, output_attentions: true, output_hidden_states: true };
    const steps: GenerationStep[] = [];
    for await (const step of model.generate_stream(inputs, { max_new_tokens: 3, ...all })) steps.push(step);
    const [prompt, second] = steps as [GenerationStep, GenerationStep];
    expect(prompt.scores?.dims).toEqual([1, 512]);
    expect(prompt.logits?.dims).toEqual([1, 512]);
    expect(prompt.attentions?.map((map) => map.dims)).toEqual(new Array(5).fill([1, 8, 5, 5]));
    expect(second.attentions?.map((map) => map.dims)).toEqual(new Array(5).fill([1, 8, 1, 6]));
    expect(second.hidden_states?.map((state) => state.dims)).toEqual(new Array(6).fill([1, 1, 64]));
    const out = await model.generate(inputs, { max_new_tokens: 3, return_dict_in_generate: true, ...all });
    expect(out.attentions?.[1]?.[4]?.data).toEqual(second.attentions?.[4]?.data);
    expect(out.scores?.map((scores) => scores.data)).toEqual(steps.map((step) => step.scores?.data));
    const bare = await model.generate(inputs, { max_new_tokens: 3, return_dict_in_generate: true });
    expect(Object.keys(bare)).toEqual(['sequences', 'past_key_values']);
    expect((await bare.past_key_values?.info())?.length).toBe(7); // the last token has not been processed
    await bare.past_key_values?.dispose();
  });

  it('draws the same tokens for the same seed, others for another', async () => {
    const draw = (seed: number) =>
      texts({ max_new_tokens: 40, do_sample: true, temperature: 0.9, top_k: 40, top_p: 0.95, seed });
    const first = await draw(7);
    expect(await draw(7)).toBe(first);
    expect(await draw(8)).not.toBe(first);
    expect(first).not.toBe(story.text?.slice(0, first?.length));
  });

  // generation_test.cpp expects the same samples from native code.
  it.each(variants)('draws what every platform draws: %s', async (variant) => {
    const other = await AutoModelForCausalLM.from_pretrained(storiesPath, optionsFor(variant));
    const drawn = async (options: object) =>
      Array.from(
        (await other.generate(inputs, { do_sample: true, eos_token_id: null, ...options })).data.slice(5),
        Number,
      );
    expect(await drawn({ max_new_tokens: 60, seed: 2024, top_k: 0 })).toEqual([
      432, 383, 286, 261, 298, 315, 421, 395, 317, 426, 317, 401, 396, 311, 298, 420, 412, 264, 423, 412, 284, 316, 404,
      424, 374, 419, 426, 385, 328, 432, 317, 439, 419, 357, 343, 267, 341, 311, 344, 363, 289, 411, 322, 311, 357, 343,
      426, 385, 328, 432, 263, 415, 290, 411, 337, 299, 432, 358, 284, 425,
    ]);
    expect(await drawn({ max_new_tokens: 30, seed: 7, num_beams: 3, temperature: 1.3 })).toEqual([
      432, 383, 286, 261, 376, 298, 315, 421, 395, 317, 426, 338, 401, 396, 267, 337, 410, 408, 419, 292, 411, 322, 265,
      282, 295, 433, 426, 385, 328, 432,
    ]);
    await other.dispose();
  });

  it('draws only what top_k leaves, with -inf scores for the rest', async () => {
    const options = { max_new_tokens: 20, do_sample: true, top_k: 3, seed: 1, output_scores: true };
    for await (const { scores, token_id } of model.generate_stream(inputs, options)) {
      const finite = Array.from(scores?.data ?? []).flatMap((score, id) =>
        score === Number.NEGATIVE_INFINITY ? [] : [id],
      );
      expect(finite).toHaveLength(3);
      expect(finite).toContain(token_id);
    }
  });

  it('ends at an end token, and pads the rows that end first', async () => {
    const [, second] = (await model.generate(inputs, { max_new_tokens: 2 })).data.slice(5);
    const eos_token_id = Number(second);
    const alone = await model.generate(inputs, { max_new_tokens: 50, eos_token_id });
    expect(alone.dims).toEqual([1, 7]);
    tokenizer.pad_token = '<unk>';
    tokenizer.padding_side = 'left';
    const batch = tokenizer(['Once upon a time', 'Lily and Tom went'], { padding: true });
    const steps: GenerationStep[] = [];
    for await (const step of model.generate_stream(batch, { max_new_tokens: 6, eos_token_id, pad_token_id: 403 }))
      steps.push(step);
    expect(steps[1]?.token_ids[0]).toBe(eos_token_id);
    expect(steps.slice(2).every((step) => step.token_ids[0] === 403 && step.texts?.[0] === '')).toBe(true);
    expect(steps.slice(2).some((step) => step.texts?.[1] !== '')).toBe(true);
  });

  it('tells a streamer the prompt and every token', async () => {
    const seen: string[] = [];
    const streamer = new TextStreamer(tokenizer, { skip_prompt: true, callback_function: (text) => seen.push(text) });
    await model.generate(inputs, { max_new_tokens: 30, streamer });
    expect(seen.length).toBeGreaterThan(20);
    expect(story.new_text?.startsWith(seen.join(''))).toBe(true);
    const puts: bigint[][][] = [];
    await model.generate(inputs, {
      max_new_tokens: 2,
      streamer: { put: (value) => puts.push(value), end: () => puts.push([]) },
    });
    expect(puts).toEqual([[[1n, 403n, 407n, 261n, 378n]], [[432n]], [[383n]], []]);
  });

  it('stops when the signal aborts', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    setTimeout(() => controller.abort(reason), 20);
    await expect(
      model.generate(inputs, { max_new_tokens: 500, eos_token_id: null, signal: controller.signal }),
    ).rejects.toBe(reason);
    const other = new AbortController();
    let count = 0;
    const stream = model.generate_stream(inputs, { max_new_tokens: 100, signal: other.signal });
    await expect(async () => {
      for await (const _ of stream) if (++count === 3) other.abort(reason);
    }).rejects.toBe(reason);
    expect(count).toBe(3);
  });

  it('may be left in the middle, and two may run at once', async () => {
    const leave = async () => {
      const long = { input_ids: new Array(300).fill(403) };
      for await (const step of model.generate_stream(long, { max_new_tokens: 100, tokenizer: null })) {
        expect(step.text).toBe(undefined);
        break;
      }
    };
    await leave();
    const before = model.info().heapBytes;
    for (let i = 0; i < 40; i++) await leave(); // retained, each would hold 650 kB of keys and values
    expect(model.info().heapBytes).toBe(before);
    const both = await Promise.all([texts({ max_new_tokens: 30 }), texts({ max_new_tokens: 40 })]);
    expect(both[1]?.startsWith(both[0] ?? '-')).toBe(true);
  });

  it('follows several beams, and says what each of them did', async () => {
    const beams = { max_new_tokens: 12, num_beams: 3, num_return_sequences: 2, eos_token_id: null };
    const all = { output_scores: true, output_attentions: true, output_hidden_states: true };
    const out = await model.generate(inputs, { ...beams, ...all, return_dict_in_generate: true });
    expect(out.sequences.dims).toEqual([2, 17]);
    expect(out.beam_indices?.dims).toEqual([2, 12]);
    expect(out.scores).toHaveLength(12);
    expect(out.attentions?.map((layers) => layers[0]?.dims)).toEqual([
      [3, 8, 5, 5], // the prompt, returned once per beam
      ...Array.from({ length: 11 }, (_, step) => [3, 8, 1, 6 + step]),
    ]);
    // A sequence's score is the mean of its tokens' scores in the beams they were chosen in.
    for (const row of [0, 1]) {
      const total = out.scores?.reduce((sum, { data, dims }, step) => {
        const token = Number(out.sequences.data[row * 17 + 5 + step]);
        const beam = Number(out.beam_indices?.data[row * 12 + step]);
        return sum + (data[beam * (dims[1] ?? 0) + token] ?? Number.NaN);
      }, 0);
      expect(out.sequences_scores?.data[row]).toBeCloseTo((total ?? 0) / 12, 5);
    }
    expect((await out.past_key_values?.info())?.batch).toBe(3);
    await out.past_key_values?.dispose();
    const rows: number[][] = [[], [], []];
    for await (const step of model.generate_stream(inputs, beams)) {
      expect(step.text).toBe(undefined);
      const parents = rows.map((row) => [...row]);
      step.beam_indices?.forEach((parent, beam) => {
        rows[beam] = [...(parents[parent] ?? []), step.token_ids[beam] as number];
      });
      expect([...(step.beam_scores ?? [])].sort((a, b) => b - a)).toEqual(step.beam_scores);
    }
    expect(rows[0]).toEqual(Array.from(out.sequences.data.slice(5, 17), Number));
  });

  it('draws several continuations of one prompt', async () => {
    const options = { max_new_tokens: 10, do_sample: true, seed: 4, eos_token_id: null };
    const three = await model.generate(inputs, { ...options, num_return_sequences: 3 });
    expect(three.dims).toEqual([3, 15]);
    const rows = idRows(three);
    expect(new Set(rows.map(String)).size).toBe(3);
    const one = await model.generate(inputs, options);
    expect(rows[0]).toEqual(Array.from(one.data, Number));
    const steps: GenerationStep[] = [];
    for await (const step of model.generate_stream(inputs, { ...options, num_return_sequences: 3 })) steps.push(step);
    expect(steps[0]?.texts).toHaveLength(3);
  });

  it('ends a sequence at a stop string, wherever its tokens end', async () => {
    const whole = story.new_text ?? '';
    const options = { max_new_tokens: 100, tokenizer };
    for (const stop_strings of ['was', ['xyz', 'a li'], ' time,', '.']) {
      const [stop = '', first] = [stop_strings]
        .flat()
        .map((text) => [text, `Once upon a time${whole}`.indexOf(text)] as const)
        .filter(([, at]) => at >= 0)
        .sort(([, a], [, b]) => a - b)[0] as [string, number];
      const pieces: string[] = [];
      for await (const { text } of model.generate_stream(inputs, { ...options, stop_strings })) pieces.push(text ?? '');
      const text = `Once upon a time${pieces.join('')}`;
      expect(text).toContain(stop);
      expect(`Once upon a time${pieces.slice(0, -1).join('')}`).not.toContain(stop);
      expect(text.length - (first + stop.length)).toBeLessThan(8); // the rest of the token that ended it
      const ids = await model.generate(inputs, { ...options, stop_strings });
      expect(ids.dims[1]).toBe(5 + pieces.length);
    }
  });

  it('finds no stop string in the prompt alone, however long the others are', async () => {
    const prompt = tokenizer('Lily said hello.\nMom:');
    const length = async (stop_strings: string[]) =>
      (await model.generate(prompt, { max_new_tokens: 12, tokenizer, stop_strings })).dims[1];
    const whole = (prompt.input_ids.dims[1] ?? 0) + 12;
    expect(await length(['\n', 'Human:'])).toBe(whole);
    expect(await length(['hello.', '\n'])).toBe(whole);
    const first = tokenizer.decode((await model.generate(prompt, { max_new_tokens: 1 })).slice(0));
    expect(await length(['Human:', first.slice(first.lastIndexOf('om:'))])).toBe(whole - 11);
  });

  it('pads the rows that met a stop string and says no more of them', async () => {
    tokenizer.pad_token = '<unk>';
    tokenizer.padding_side = 'left';
    const batch = tokenizer(['Once upon a time', 'Lily and Tom went'], { padding: true });
    const steps: GenerationStep[] = [];
    const options = { max_new_tokens: 30, stop_strings: ['there was'], pad_token_id: 403, eos_token_id: null };
    for await (const step of model.generate_stream(batch, options)) steps.push(step);
    const end = steps.findIndex((step) => step.token_ids[0] === 403);
    expect(end).toBeGreaterThan(1);
    expect(steps.slice(end).every((step) => step.token_ids[0] === 403 && step.texts?.[0] === '')).toBe(true);
    expect(steps.map((step) => step.texts?.[0]).join('')).toBe(', there was');
    expect(steps.map((step) => step.texts?.[1]).join('').length).toBeGreaterThan(40);
  });

  it('goes on in a cache that holds the first positions of the prompt', async () => {
    const expected = await model.generate(inputs, { max_new_tokens: 6 });
    const { past_key_values } = await model({ input_ids: [[1, 403, 407]] }, { use_cache: true });
    const out = await model.generate(
      { ...inputs, past_key_values },
      { max_new_tokens: 6, return_dict_in_generate: true },
    );
    expect(out.sequences.data).toEqual(expected.data);
    expect(out.past_key_values).toBe(past_key_values);
    expect((await past_key_values?.info())?.length).toBe(10);
    const full = await failureOf(() => model.generate({ ...inputs, past_key_values }));
    expect(full.message).toContain('crop');
    await past_key_values?.crop(5);
    const longer = { input_ids: Array.from(expected.data, Number), past_key_values };
    const rest = await model.generate(longer, { max_new_tokens: 3, return_dict_in_generate: true, use_cache: false });
    expect(Object.keys(rest)).toEqual(['sequences']);
    await past_key_values?.dispose();
  });

  it('begins with the bos token where there is no prompt', async () => {
    const out = await model.generate({} as never, { max_new_tokens: 8 });
    expect(out.data).toEqual((await model.generate({ input_ids: [[1]] }, { max_new_tokens: 8 })).data);
  });

  it.each([
    [{ num_beam: 4 }, 'unsupported', 'num_beam'],
    [{ num_beam_groups: 2 }, 'unsupported', 'num_beam_groups'],
    [{ penalty_alpha: 0.6, top_k: 4 }, 'unsupported', 'penalty_alpha'],
    [{ assistant_model: {} }, 'unsupported', 'assistant_model'],
    [{ prompt_lookup_num_tokens: 3 }, 'unsupported', 'prompt_lookup_num_tokens'],
    [{ force_words_ids: [[1]] }, 'unsupported', 'force_words_ids'],
    [{ guidance_scale: 1.5 }, 'unsupported', 'guidance_scale'],
    [{ watermarking_config: {} }, 'unsupported', 'watermarking_config'],
    [{ num_beams: 2, num_return_sequences: 3 }, 'invalid_argument', 'num_return_sequences'],
    [{ num_beams: 2, streamer: { put() {}, end() {} } }, 'unsupported', 'streamer'],
    [{ num_beams: 2, stop_strings: 'the' }, 'unsupported', 'stop_strings'],
    [{ stop_strings: [''] }, 'invalid_argument', 'stop_strings'],
    [{ stop_strings: 'the', tokenizer: null }, 'unsupported', 'tokenizer'],
    [{ early_stopping: 'always' }, 'invalid_argument', 'early_stopping'],
    [{ bad_words_ids: [[1, 1.5]] }, 'invalid_argument', 'bad_words_ids'],
    [{ bad_words_ids: [[512]] }, 'invalid_argument', '512'],
    [{ repetition_penalty: 0 }, 'invalid_argument', 'repetition_penalty'],
    [{ stopping_criteria: 'soon' }, 'invalid_argument', 'stopping_criteria'],
    [{ max_new_tokens: 0 }, 'invalid_argument', 'max_new_tokens'],
    [{ max_new_tokens: 1.5 }, 'invalid_argument', 'max_new_tokens'],
    [{ max_new_tokens: 2 ** 21 }, 'invalid_argument', '1048576'],
    [{ temperature: Number.NaN, do_sample: true }, 'invalid_argument', 'temperature'],
    [{ temperature: 0, do_sample: true }, 'invalid_argument', 'temperature'],
    [{ top_p: 1.5, do_sample: true }, 'invalid_argument', 'top_p'],
    [{ seed: 5n }, 'invalid_argument', 'seed'],
    [{ max_new_tokens: 2n }, 'invalid_argument', '2n'],
    [{ eos_token_id: 10n ** 400n }, 'invalid_argument', 'eos_token_id'],
    [{ bad_words_ids: [[512n]] }, 'invalid_argument', '512'],
    [{ eos_token_id: Float32Array.of(2.5) }, 'invalid_argument', 'eos_token_id'],
    [{ eos_token_id: new DataView(new ArrayBuffer(4)) }, 'invalid_argument', 'DataView'],
    [{ suppress_tokens: new Tensor('int32', Int32Array.of(2), [1, 1]) }, 'invalid_argument', 'suppress_tokens'],
    [{ suppress_tokens: new Set([5]) }, 'invalid_argument', 'Set'],
    [{ prefix_allowed_tokens_fn: () => [1] }, 'unsupported', 'prefix_allowed_tokens_fn'],
    [{ output_scores: true }, 'invalid_argument', 'return_dict_in_generate'],
  ])('refuses %o: %s', async (options, code, word) => {
    const failure = await failureOf(() => model.generate(inputs, options as never));
    expect(failure.message).toContain(word);
    expect(failure.code).toBe(code);
  });

  it('refuses unknown options and inputs of a stream', async () => {
    const first = (options: object, given: object = inputs) => model.generate_stream(given as never, options).next();
    expect((await failureOf(() => first({ max_tokens: 3 }))).code).toBe('unsupported');
    expect((await failureOf(() => first({ streamer: {} }))).message).toContain('streamer');
    expect((await failureOf(() => first({}, { input_ids: [[1]], labels: [[1]] }))).message).toContain('labels');
    expect((await failureOf(() => first({}, { input_ids: [[1, 0]], attention_mask: [[1, 0]] }))).message).toContain(
      'left',
    );
  });
});
