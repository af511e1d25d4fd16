// Generation: greedy tokens against transformers, sampling, streaming, batches, captures, and stopping in the middle.
import {
  AutoModelForCausalLM,
  AutoTokenizer,
  type CausalLM,
  type GenerationStep,
  type PreTrainedTokenizer,
  TextStreamer,
  type TokenizerOutput,
} from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
      expect(idRows({ dims: [...out.sequences.dims], data: out.sequences.data })).toEqual(
        input_ids.map((row, r) => [...row, ...(new_ids[r] ?? [])]),
      );
      const last = out.logits?.at(-1);
      if ('last_step_logits' in one.outputs && last)
        expectClose('last_step_logits', last, reference('last_step_logits'));
      expect(out.logits).toHaveLength(new_ids[0]?.length ?? 0);
      await model.dispose();
    },
  );
});

describe('generation', () => {
  let model: CausalLM;
  let tokenizer: PreTrainedTokenizer;
  let inputs: TokenizerOutput;
  const story = casesOf('stories260K').find((one) => one.name === 'greedy_200') as { new_text?: string; text?: string };
  beforeAll(async () => {
    model = await AutoModelForCausalLM.from_pretrained(storiesPath, { deterministic: true });
    tokenizer = await AutoTokenizer.from_pretrained(storiesPath);
    inputs = tokenizer('Once upon a time');
  });
  afterAll(() => model.dispose());

  const texts = async (options: Parameters<CausalLM['generate']>[1]) =>
    tokenizer.batch_decode(await model.generate(inputs, options as { return_dict_in_generate?: false }), {
      skip_special_tokens: true,
    })[0];

  it('takes its defaults from generation_config.json', async () => {
    expect((await model.generate(inputs)).dims).toEqual([1, 205]);
    expect(await texts({})).toBe(story.text);
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
      expectClose('logits', step.logits as never, { dims: [1, 512], data: logits.data.slice(-512) });
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
    expect((await bare.past_key_values.info()).length).toBe(7); // the last token has not been read
    await bare.past_key_values.dispose();
  });

  it('draws the same tokens for the same seed, others for another', async () => {
    const draw = (seed: number) =>
      texts({ max_new_tokens: 40, do_sample: true, temperature: 0.9, top_k: 40, top_p: 0.95, seed });
    const first = await draw(7);
    expect(await draw(7)).toBe(first);
    expect(await draw(8)).not.toBe(first);
    expect(first).not.toBe(story.text?.slice(0, first?.length));
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

  it('stops between two tokens when the signal aborts', async () => {
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
    for (let i = 0; i < 40; i++) await leave(); // kept, each would hold 650 kB of keys and values
    expect(model.info().heapBytes).toBe(before);
    const both = await Promise.all([texts({ max_new_tokens: 30 }), texts({ max_new_tokens: 40 })]);
    expect(both[1]?.startsWith(both[0] ?? '-')).toBe(true);
  });

  it.each([
    [{ num_beam: 4 }, 'unsupported', 'num_beam'],
    [{ num_beams: 4 }, 'unsupported', 'num_beams'],
    [{ repetition_penalty: 1.2 }, 'unsupported', 'repetition_penalty'],
    [{ stopping_criteria: () => true }, 'unsupported', 'stopping_criteria'],
    [{ max_new_tokens: 0 }, 'invalid_argument', 'max_new_tokens'],
    [{ max_new_tokens: 1.5 }, 'invalid_argument', 'max_new_tokens'],
    [{ max_new_tokens: 508 }, 'invalid_argument', '512'],
    [{ temperature: Number.NaN, do_sample: true }, 'invalid_argument', 'temperature'],
    [{ temperature: 0, do_sample: true }, 'invalid_argument', 'temperature'],
    [{ top_p: 1.5, do_sample: true }, 'invalid_argument', 'top_p'],
    [{ seed: 5n }, 'invalid_argument', 'seed'],
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
