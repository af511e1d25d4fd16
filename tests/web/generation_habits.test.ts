// generate() as used with transformers.js: options among the inputs, criteria and processors as functions, passed-on
// caches; in this thread and in a worker, compared with the core's own options.

import {
  AutoModelForCausalLM,
  AutoTokenizer,
  DynamicCache,
  EosTokenCriteria,
  type GenerateInputs,
  type GenerativeModel,
  InterruptableStoppingCriteria,
  LogitsProcessor,
  LogitsProcessorList,
  MaxLengthCriteria,
  type PreTrainedTokenizer,
  StoppingCriteria,
  StoppingCriteriaList,
  Tensor,
  TextStreamer,
} from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { storiesPath } from './support/references.js';

const max_new_tokens = 12;
const list = (found: Tensor | { sequences: Tensor }): number[] => {
  const ids = 'sequences' in found ? found.sequences : found;
  return Array.from(ids.data as BigInt64Array, Number);
};
let tokenizer: PreTrainedTokenizer;
beforeAll(async () => {
  tokenizer = await AutoTokenizer.from_pretrained(storiesPath);
});

/** Excludes a token, like transformers.js' own processors: in place, row by row. */
class Without extends LogitsProcessor {
  constructor(readonly token: number) {
    super();
  }
  override _call(input_ids: bigint[][], scores: Tensor<'float32'>): Tensor<'float32'> {
    input_ids.forEach((_, row) => {
      const data = scores[row]?.data as Float32Array;
      data[this.token] = Number.NEGATIVE_INFINITY;
    });
    return scores;
  }
}

describe.each([
  ['in this thread', false],
  ['in a worker', true],
])('%s', (_, worker) => {
  let model: GenerativeModel;
  let inputs: { input_ids: Tensor<'int64'>; attention_mask: Tensor<'int64'> };
  let plain: number[];
  beforeAll(async () => {
    model = await AutoModelForCausalLM.from_pretrained(storiesPath, { worker });
    inputs = tokenizer('Once upon a time');
    plain = list(await model.generate(inputs, { max_new_tokens }));
  });
  afterAll(() => model.dispose());

  it.each<[string, () => GenerateInputs]>([
    ['options among the inputs', () => ({ ...inputs, max_new_tokens })],
    ['the main input as inputs', () => ({ inputs: inputs.input_ids, max_new_tokens })],
    ['a generation_config', () => ({ ...inputs, generation_config: { max_new_tokens } })],
    [
      'options over a generation_config',
      () => ({ ...inputs, max_new_tokens, generation_config: { max_new_tokens: 2 } }),
    ],
    ['no functions', () => ({ ...inputs, max_new_tokens, stopping_criteria: null, logits_processor: [] })],
  ])('takes %s', async (_name, given) => {
    expect(list(await model.generate(given()))).toEqual(plain);
    const ids: number[] = [];
    for await (const { token_id } of model.generate_stream(given())) ids.push(token_id);
    expect(ids).toEqual(plain.slice(-max_new_tokens));
  });

  it('takes ids alone, and the dict that is asked for among the inputs', async () => {
    const found = await model.generate({
      ...inputs,
      max_new_tokens,
      return_dict_in_generate: true,
      output_scores: true,
    });
    expect([list(found.sequences), found.scores?.length]).toEqual([plain, max_new_tokens]);
    await found.past_key_values?.dispose();
  });

  it.each<[string, () => GenerateInputs, string, string]>([
    ['an unknown key', () => ({ ...inputs, max_new_token: 3 }) as GenerateInputs, 'unsupported', 'max_new_token'],
    [
      'an input of other models',
      () => ({ ...inputs, pixel_values: inputs.input_ids }) as GenerateInputs,
      'unsupported',
      'pixel_values',
    ],
    [
      'a criterion that is none',
      () => ({ ...inputs, stopping_criteria: 5 as never }),
      'invalid_argument',
      'stopping_criteria',
    ],
    [
      'a processor that is none',
      () => ({ ...inputs, logits_processor: ['x' as never] }),
      'invalid_argument',
      'logits_processor',
    ],
    [
      'criteria for beams',
      () => ({ ...inputs, num_beams: 2, stopping_criteria: () => true }),
      'unsupported',
      'stopping_criteria',
    ],
    [
      'a streamer for beams',
      () => ({ ...inputs, num_beams: 2, streamer: new TextStreamer(tokenizer) }),
      'unsupported',
      'streamer',
    ],
    [
      'scores of other dims',
      () => ({ ...inputs, logits_processor: (_ids, scores) => scores.view(-1) }),
      'invalid_argument',
      'logits_processor',
    ],
  ])('refuses %s by name', async (_name, given, code, option) => {
    for (const call of [() => model.generate(given()), () => model.generate_stream(given()).next()]) {
      const failure = await failureOf(call);
      expect([failure.code, failure.message.includes(option)]).toEqual([code, true]);
    }
  });

  it('refuses what is given twice, and passes on what a function throws', async () => {
    const twice = await failureOf(() => model.generate({ ...inputs, max_new_tokens }, { max_new_tokens: 3 }));
    expect([twice.code, twice.message]).toEqual(['invalid_argument', 'generate: max_new_tokens is given twice']);
    const broken = new Error('of the caller');
    const throws = () => {
      throw broken;
    };
    await expect(model.generate({ ...inputs, logits_processor: throws })).rejects.toBe(broken);
    await expect(model.generate({ ...inputs, stopping_criteria: throws })).rejects.toBe(broken);
    expect(list(await model.generate({ ...inputs, max_new_tokens }))).toEqual(plain);
  });

  it('leaves a cache as it was where a processor throws or the signal aborts in it', async () => {
    const first = { input_ids: [[1, 403]] };
    const abort = new AbortController();
    const processors: (() => void)[] = [
      () => {
        throw new Error('of the caller');
      },
      () => abort.abort(),
    ];
    for (const logits_processor of processors) {
      const past_key_values = (await model(first, { use_cache: true })).past_key_values as DynamicCache;
      const given = { input_ids: [[1, 403, 407]], past_key_values, max_new_tokens: 3 };
      await expect(model.generate({ ...given, logits_processor, signal: abort.signal })).rejects.toThrow();
      expect(await past_key_values.get_seq_length()).toBe(2);
      expect(list(await model.generate(given))).toEqual(
        list(await model.generate({ ...given, past_key_values: null })),
      );
    }
  });

  it('stops where criteria say so', async () => {
    const length = (count: number) => async (given: GenerateInputs) =>
      expect(list(await model.generate(given)).length).toBe(count);
    await length(8)({ ...inputs, max_new_tokens, stopping_criteria: new MaxLengthCriteria(8) });
    const all = new StoppingCriteriaList();
    all.push(new MaxLengthCriteria(11));
    all.extend([new MaxLengthCriteria(9)]);
    await length(9)({ ...inputs, max_new_tokens, stopping_criteria: all });
    await length(9)({ ...inputs, max_new_tokens, stopping_criteria: new StoppingCriteriaList(all) });
    await length(10)({ ...inputs, max_new_tokens, stopping_criteria: [(ids) => ids.map((row) => row.length === 10)] });
    const end = plain[7] as number;
    await length(plain.indexOf(end) + 1)({ ...inputs, max_new_tokens, stopping_criteria: new EosTokenCriteria([end]) });
    await length(7)({ ...inputs, max_new_tokens, stopping_criteria: async (ids) => ids[0]?.length === 7 });
  });

  it('ends one sequence of a batch and lets the others go on', async () => {
    const row = [...inputs.input_ids.data];
    const batch = { input_ids: [row, row] };
    const seen: number[] = [];
    class First extends StoppingCriteria {
      override _call(input_ids: bigint[][]): boolean[] {
        seen.push(input_ids[0]?.length ?? 0);
        return input_ids.map((ids, row) => row === 0 && ids.length >= 8);
      }
    }
    const found = await model.generate({ ...batch, max_new_tokens, pad_token_id: 0, stopping_criteria: new First() });
    const [first, second] = found.tolist() as bigint[][];
    expect(first?.map(Number)).toEqual([...plain.slice(0, 8), ...new Array(max_new_tokens - 3).fill(0)]);
    expect(second?.map(Number)).toEqual(plain);
    expect(seen).toEqual(Array.from({ length: max_new_tokens }, (_, i) => inputs.input_ids.size + i + 1));
  });

  it.each(['text', null, 5, [[1]]])('refuses %o in place of inputs', async (given) => {
    for (const call of [() => model(given as never), () => model.generate(given as never)]) {
      const failure = await failureOf(call);
      expect([failure.code, failure.message]).toEqual(['invalid_argument', expect.stringMatching(/: needs an object/)]);
    }
  });

  it('names a class without a _call()', async () => {
    class Empty extends StoppingCriteria {}
    class Nothing extends LogitsProcessor {}
    for (const more of [{ stopping_criteria: new Empty() }, { logits_processor: new Nothing() }]) {
      const failure = await failureOf(() => model.generate({ ...inputs, max_new_tokens, ...more }));
      expect(failure.code).toBe('invalid_argument');
      expect(failure.message).toMatch(/^(Empty|Nothing): its class has no _call\(\)$/);
    }
  });

  it('takes what a criterion gives as a list or a tensor, and refuses anything else', async () => {
    const rows = { input_ids: [plain.slice(0, 5), plain.slice(0, 5)] };
    const [no, yes] = [Uint8Array.of(0, 0), Uint8Array.of(1, 1)];
    const length = async (given: unknown, listed = false) => {
      const criteria = new StoppingCriteriaList();
      criteria.push(() => given as boolean);
      const stopping_criteria = listed ? criteria : () => given as boolean;
      return (await model.generate({ ...rows, max_new_tokens, stopping_criteria })).dims[1];
    };
    for (const given of [false, [false, false], no, new Tensor('uint8', no, [2])]) {
      expect([await length(given), await length(given, true)]).toEqual([plain.length, plain.length]);
    }
    for (const given of [true, [true, true], yes, new Tensor('uint8', yes, [2])]) {
      expect([await length(given), await length(given, true)]).toEqual([6, 6]);
    }
    for (const given of ['no', [true], undefined, {}, new Tensor('uint8', no, [1, 2, 1]).slice(0, 0)]) {
      for (const listed of [false, true]) {
        const { code, message } = await failureOf(() => length(given, listed));
        expect([code, message]).toEqual(['invalid_argument', expect.stringContaining('each of 2 rows')]);
      }
    }
  });

  it('refuses promises of the members of a list', async () => {
    const criteria = new StoppingCriteriaList();
    criteria.push((async () => true) as never);
    const processors = new LogitsProcessorList();
    processors.push((async () => undefined) as never);
    for (const given of [{ stopping_criteria: criteria }, { logits_processor: processors }]) {
      const failure = await failureOf(() => model.generate({ ...inputs, max_new_tokens, ...given }));
      expect([failure.code, failure.message]).toEqual(['invalid_argument', expect.stringContaining('at once')]);
    }
  });

  it('can be interrupted, and then goes on again', async () => {
    const stop = new InterruptableStoppingCriteria();
    const given = { ...inputs, max_new_tokens, stopping_criteria: stop };
    const lengths: number[] = [];
    const interrupt = (ids: bigint[]) => lengths.push(ids.length) === 4 && stop.interrupt();
    const quiet = () => {};
    const streamer = new TextStreamer(tokenizer, { callback_function: quiet, token_callback_function: interrupt });
    expect((await model.generate({ ...given, streamer })).dims[1]).toBeLessThan(plain.length);
    stop.reset();
    expect(list(await model.generate(given))).toEqual(plain);
  });

  it('lets processors change the scores, as the core would', async () => {
    const token = plain[inputs.input_ids.size] as number;
    const wanted = list(await model.generate({ ...inputs, max_new_tokens, suppress_tokens: [token] }));
    expect(wanted).not.toEqual(plain);
    const processors = new LogitsProcessorList();
    processors.extend([new Without(token)]);
    for (const logits_processor of [new Without(token), processors, [new Without(token), new Without(token)]]) {
      expect(list(await model.generate({ ...inputs, max_new_tokens, logits_processor }))).toEqual(wanted);
    }
    const own = list(
      await model.generate({
        ...inputs,
        max_new_tokens,
        logits_processor: (_ids, scores) => scores.map((s, i) => (i === token ? -1e30 : s)),
      }),
    );
    expect(own).toEqual(wanted);
  });

  it('processes before temperature and what follows, the same draws, beams and several sequences', async () => {
    const keep = (_ids: bigint[][], scores: Tensor<'float32'>) => scores;
    for (const options of [
      { do_sample: true, seed: 5, temperature: 0.8, top_k: 12, top_p: 0.9, num_return_sequences: 3 },
      { num_beams: 3, num_return_sequences: 2, repetition_penalty: 1.3 },
      { no_repeat_ngram_size: 2, min_new_tokens: 4, output_scores: true, return_dict_in_generate: true as const },
    ]) {
      const given = { ...inputs, max_new_tokens, ...options };
      const [with_, without] = [
        await model.generate({ ...given, logits_processor: keep }),
        await model.generate(given),
      ];
      expect(list(with_)).toEqual(list(without));
    }
    // Scores before the temperature: doubling them equals half the temperature.
    const draw = { ...inputs, max_new_tokens, do_sample: true, seed: 3 };
    const doubled = await model.generate({
      ...draw,
      temperature: 1,
      logits_processor: (_ids, scores) => scores.mul(2),
    });
    expect(list(doubled)).toEqual(list(await model.generate({ ...draw, temperature: 0.5 })));
  });

  it('tells processors the sequences that beams follow', async () => {
    const told: bigint[][][] = [];
    const logits_processor = (ids: bigint[][]) => void told.push(ids);
    const steps: { ids: number[]; parents: number[] }[] = [];
    for await (const step of model.generate_stream({ ...inputs, max_new_tokens: 5, num_beams: 3, logits_processor })) {
      steps.push({ ids: step.token_ids, parents: step.beam_indices ?? [] });
    }
    let rows = [0, 1, 2].map(() => list(inputs.input_ids));
    for (const [i, step] of steps.entries()) {
      expect(told[i]?.map((row) => row.map(Number))).toEqual(rows);
      rows = step.ids.map((id, row) => [...(rows[step.parents[row] as number] as number[]), id]);
    }
    expect(told.length).toBe(5);
  });

  it('leaves in a cache what the steps that were handled read, when its loop is left', async () => {
    const past_key_values = new DynamicCache();
    const leave = async (steps: number) => {
      const ids: number[] = [];
      for await (const { token_id } of model.generate_stream({ ...inputs, past_key_values, max_new_tokens })) {
        ids.push(token_id);
        await new Promise((later) => setTimeout(later, 30));
        if (ids.length === steps) break;
      }
      return ids;
    };
    const first = await leave(3);
    expect(await past_key_values.get_seq_length()).toBe(inputs.input_ids.size + 2);
    const input_ids = [[...list(inputs.input_ids), ...first]];
    const rest = await model.generate({ input_ids, past_key_values, max_new_tokens: max_new_tokens - 3 });
    expect(list(rest)).toEqual(plain);
    await past_key_values.dispose();
  });

  it('gives no step after an abort in its loop', async () => {
    const abort = new AbortController();
    const ids: number[] = [];
    const given = { ...inputs, max_new_tokens, signal: abort.signal };
    const stream = async () => {
      for await (const { token_id } of model.generate_stream(given)) {
        ids.push(token_id);
        await new Promise((later) => setTimeout(later, 30));
        if (ids.length === 2) abort.abort(new Error('enough'));
      }
    };
    await expect(stream()).rejects.toThrow('enough');
    expect(ids).toHaveLength(2);
  });

  it('fills an empty cache and goes on from it', async () => {
    const past_key_values = new DynamicCache();
    expect(await past_key_values.get_seq_length()).toBe(0);
    const first = await model.generate({
      ...inputs,
      past_key_values,
      max_new_tokens: 5,
      return_dict_in_generate: true,
    });
    expect(first.past_key_values).toBe(past_key_values);
    expect(await past_key_values.get_seq_length()).toBe(inputs.input_ids.size + 4);
    const second = await model.generate({
      inputs: first.sequences,
      past_key_values,
      max_new_tokens: max_new_tokens - 5,
    });
    expect(list(second)).toEqual(plain);
    await past_key_values.dispose();
    const empty = new DynamicCache();
    const { past_key_values: same } = await model({ ...inputs, past_key_values: empty });
    expect(same).toBe(empty);
    expect((await empty.info()).length).toBe(inputs.input_ids.size);
    await empty.dispose();
    const gone = new DynamicCache();
    await gone.dispose();
    expect(await failureOf(() => model({ input_ids: [[1]], past_key_values: gone }))).toMatchObject({
      code: 'disposed',
    });
    // Calls that are not awaited: the first fills it, the others extend it.
    const shared = new DynamicCache();
    const parts = [[1, 2], [3], [4, 5]].map((ids) => model({ input_ids: [ids], past_key_values: shared }));
    const [, , end] = await Promise.all(parts);
    expect(await shared.get_seq_length()).toBe(5);
    const whole = await model({ input_ids: [[1, 2, 3, 4, 5]] });
    expect(end?.logits).toEqual(whole.logits.slice(null, [3, 5]));
    await shared.dispose();
  });
});
