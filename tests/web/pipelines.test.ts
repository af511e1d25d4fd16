// Pipelines: every task against transformers, on both builds; batches equal their members.

import { configure, pipeline } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { withoutOverlaps } from '../../web/src/pipelines/entities.js';
import { sentencesOf } from '../../web/src/pipelines/scores.js';
import { failureOf } from './support/failures.js';
import {
  argumentsOf,
  expectAnswer,
  expectTensor,
  filesOf,
  folderFiles,
  jsonFile,
  type PipelineCase,
  picture,
  pipelineCase,
  pipelineCases,
} from './support/pipeline_cases.js';
import { optionsFor, variants } from './support/variants.js';

type AnyPipeline = ((...given: unknown[]) => Promise<unknown>) & { dispose(): Promise<void> };

const isChat = ([first]: unknown[]) => typeof first === 'object' && first !== null && 'role' in first;

const loaded = async (one: PipelineCase, options: object = {}) =>
  (await pipeline(one.op as 'fill-mask', filesOf(one), options)) as unknown as AnyPipeline;

describe.each(variants)('%s answers as transformers does', (variant) => {
  it.each(pipelineCases)('$op: $name', async (one) => {
    const pipe = await loaded(one, optionsFor(variant));
    for (const [i, call] of one.calls.entries()) {
      const given = argumentsOf(call.arguments) as unknown[];
      const found = await pipe(...given, call.options);
      if (call.tensor !== undefined) expectTensor(one, found, call.tensor);
      else expectAnswer(found, call.answer, `call ${i}`);
    }
    await pipe.dispose();
  });
});

it.each([
  ['image_features', 'pool', false],
  ['answers', 'align_to_words', true],
  ['answers', 'handle_impossible_answer', false],
] as const)('%s: %s is true or false, by default %s', async (name, option, usual) => {
  const one = pipelineCase(name);
  const pipe = await loaded(one, { deterministic: true });
  const given = argumentsOf(one.calls[0]?.arguments ?? []) as unknown[];
  const { code, details } = await failureOf(() => pipe(...given, { [option]: 'false' }));
  expect([code, details.option]).toEqual(['invalid_argument', option]);
  expect(await pipe(...given, { [option]: null })).toEqual(await pipe(...given, { [option]: usual }));
  await pipe.dispose();
});

describe('batches', () => {
  it.each(
    ['classes', 'masks', 'entities', 'translation', 'texts', 'image_classes', 'labels', 'speech'].map(pipelineCase),
  )('$name: one answer for each input, however many go through the model together', async (one) => {
    const pipe = await loaded(one, { deterministic: true });
    const batched = one.calls.filter(
      ({ arguments: [first] }) => Array.isArray(first) && first.length > 1 && !isChat(first),
    );
    expect(batched.length).toBeGreaterThan(0);
    for (const { arguments: given, options } of batched) {
      const [inputs, ...more] = argumentsOf(given) as [unknown[], ...unknown[]];
      const whole = (await pipe(inputs, ...more, options)) as unknown[];
      expect(whole).toHaveLength(inputs.length);
      expect(await pipe(inputs, ...more, { ...options, batch_size: 1 })).toEqual(whole);
      expect(await pipe(inputs, ...more, { ...options, batch_size: 2 })).toEqual(whole);
    }
    expect(await pipe([], ...(argumentsOf(one.calls.at(-1)?.arguments.slice(1)) as unknown[]))).toEqual([]);
    await pipe.dispose();
  });

  it('features of a batch are those of each text, with rows for padding', async () => {
    const one = pipelineCase('features');
    const texts = one.calls.map(({ arguments: [text] }) => text as string);
    const pipe = await pipeline('feature-extraction', filesOf(one), { deterministic: true });
    const whole = await pipe(texts);
    expect((await pipe(texts, { batch_size: 2 })).data).toEqual(whole.data);
    for (const [row, text] of texts.entries()) {
      const [, length = 0, width = 0] = (await pipe(text)).dims;
      expect(whole.dims).toEqual([texts.length, expect.any(Number), width]);
      expect(whole.slice(row, [0, length]).data).toEqual((await pipe(text)).data);
    }
    await pipe.dispose();
  });
});

it('of entities that overlap the one of most characters counts, whatever code units they have', () => {
  const group = (start: number, end: number, score: number) => ({ entity_group: 'LOC', word: '', score, start, end });
  const groups = [group(0, 4, 0.5), group(2, 5, 0.9), group(5, 6, 0.1)]; // 🜀🜁 and 🜁a
  expect(withoutOverlaps(groups, '🜀🜁ab')).toEqual([groups[1], groups[2]]);
});

it('a mask that truncation removed is told from none', async () => {
  await using pipe = await pipeline('fill-mask', filesOf(pipelineCase('masks')), here);
  await expect(pipe('the man is in [MASK].', { max_length: 4 })).rejects.toThrow(
    /no \[MASK\] in what truncation leaves/,
  );
  await expect(pipe('the man is in rome.', { max_length: 4 })).rejects.toThrow(/no \[MASK\]$/);
  await expect(pipe('the [MASK] is [MASK]', { max_length: 5 })).rejects.toThrow(
    /has 1 of 2 \[MASK\] in what truncation leaves of it$/,
  );
});

it('targets are the only candidates for a mask', async () => {
  await using pipe = await pipeline('fill-mask', './web/demo/public/models/bert-tiny-fill', here);
  const text = 'the [MASK] is here .';
  const found = async (targets: string | string[], more = {}) =>
    (await pipe(text, { targets, ...more })).map(({ token, score }) => [token, Number(score.toFixed(6))]);
  // As transformers 5.12: words of the vocabulary, and of another the first token.
  expect(await found(['woman', 'man'])).toEqual([
    [334, 0.005497],
    [1391, 0.000473],
  ]);
  expect(await found('house')).toEqual([[502, 0.012425]]);
  const several = ['man', 'unbelievably', 'man', '##s', '[MASK]'];
  expect((await found(several)).map(([token]) => token)).toEqual([334, 70, 406, 4]);
  expect(await found(several, { top_k: 1 })).toEqual([[334, 0.005497]]);
  for (const targets of [[], [''], ' ', 3 as unknown as string]) {
    const { code, details } = await failureOf(() => pipe(text, { targets }));
    expect([code, details.option]).toEqual(['invalid_argument', 'targets']);
  }
});

it("windows of a tokenizer without a maximum have the model's positions", async () => {
  const name = 'tokenizer_config.json';
  const files = filesOf(pipelineCase('entities'));
  const { model_max_length, ...config } = JSON.parse(new TextDecoder().decode(files[name]));
  await using pipe = await pipeline('token-classification', { ...files, [name]: jsonFile(config) }, here);
  const [text, options] = ['she sings in rome '.repeat(30), { stride: 4, aggregation_strategy: 'simple' }] as const;
  const found = await pipe(text, options);
  expect(found).toEqual(await pipe(text, { ...options, max_length: pipe.model.cfg.n_ctx }));
  expect(found.at(-1)?.end).toBeGreaterThan(text.length / 2);
});

it.each([
  ['letters beyond Latin', 0x561 - 0x61, '##'],
  ['a mark of its own', 0, '@@'],
])('words are put together whatever marks their tokens: %s', async (_, shift, mark) => {
  const one = pipelineCase('entities');
  const other = (letter: string) => String.fromCharCode(letter.charCodeAt(0) + shift);
  const moved = (text: string) => text.toLowerCase().replace(/[a-z]/g, other).replace(/^##/, mark);
  const { model, decoder, ...more } = JSON.parse(new TextDecoder().decode(filesOf(one)['tokenizer.json']));
  const vocab = Object.entries(model.vocab).map(([token, id]) => [/^[[<]/.test(token) ? token : moved(token), id]);
  const changed = { ...model, vocab: Object.fromEntries(vocab), continuing_subword_prefix: mark };
  const tokenizer = { ...more, model: changed, decoder: { ...decoder, prefix: mark } };
  const pipe = await loaded({ ...one, files: { 'tokenizer.json': tokenizer } });
  for (const [i, { arguments: given, options, answer }] of one.calls.entries()) {
    const [text] = given as [string | string[]];
    const wanted = JSON.parse(JSON.stringify(answer), (key, value) => (key === 'word' ? moved(value) : value));
    expectAnswer(await pipe(typeof text === 'string' ? moved(text) : text.map(moved), options), wanted, `call ${i}`);
  }
  await pipe.dispose();
});

it('words of a text are found at their places, in windows as well, whatever code units they have', async () => {
  const one = pipelineCase('entities');
  await using pipe = await pipeline('token-classification', filesOf(one), here);
  const words = ['the', '👩‍👩‍👧', 'man sings', '', 'in', 'rome', 'rome'];
  const options = { is_split_into_words: true, ignore_labels: [] } as const;
  const [whole = [], ...others] = await pipe(words, options);
  const texts = whole.map(({ start, end }) => words.join(' ').slice(start, end));
  expect([others, texts.join('')]).toEqual([[], words.join('').replace(' ', '')]);
  const joined = { ...options, aggregation_strategy: 'first', delimiter: '--' } as const;
  const [near = []] = await pipe([words], { ...joined, max_length: 6, stride: 0 });
  expect(near.at(-1)?.end).toBe(words.join('--').length);
});

describe('pairs of texts', () => {
  it('with an empty second one are single texts, and other members of inputs are refused', async () => {
    await using classifier = await pipeline('text-classification', filesOf(pipelineCase('classes')), here);
    const text = 'the man is in rome.';
    expect(await classifier({ text, text_pair: '' })).toEqual(await classifier(text));
    const refused = await failureOf(() => classifier({ text, textPair: 'she sings' } as never));
    expect([refused.code, refused.message]).toEqual(['unsupported', expect.stringContaining("'textPair'")]);
    await using compare = await pipeline('sentence-similarity', filesOf(pipelineCase('features')), here);
    const other = await failureOf(() => compare({ source_sentence: text, sentences: [text], scores: [1] } as never));
    expect([other.code, other.message]).toEqual(['unsupported', expect.stringContaining("'scores'")]);
  });

  it('long lists of labels and documents go through the model in batches', async () => {
    const [zero, ranking] = [pipelineCase('zero_shot_last'), pipelineCase('ranking')];
    await using classifier = await pipeline('zero-shot-classification', filesOf(zero), { deterministic: true });
    await using ranker = await pipeline('text-ranking', filesOf(ranking), { deterministic: true });
    const labels = Array.from({ length: 37 }, (_, i) => `the ${'abcdefghijklmnopqrstuvwxyz'[i % 26]} ${i}`);
    const options = { hypothesis_template: 'in {}.', truncation: true };
    const whole = await classifier(['she sings', 'the man'], labels, options);
    expect(whole.map(({ labels: { length } }) => length)).toEqual([37, 37]);
    expect(whole[0]?.scores.reduce((a, b) => a + b)).toBeCloseTo(1, 6);
    expect(await classifier(['she sings', 'the man'], labels, { ...options, batch_size: 1 })).toEqual(whole);
    const ranked = await ranker('she sings', labels);
    expect(ranked.map(({ corpus_id }) => corpus_id).sort((a, b) => a - b)).toEqual(labels.map((_, i) => i));
    expect(await ranker('she sings', labels, { batch_size: 5 })).toEqual(ranked);
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    await expect(classifier('she sings', labels, { ...options, signal })).rejects.toBe(reason);
    await expect(ranker('she sings', labels, { signal })).rejects.toBe(reason);
  });

  it('labels are inserted as by str.format', () => {
    const sentence = (template: unknown) => sentencesOf('zero-shot-classification', ['$& {x}'], template)[0];
    expect(sentence('a {}.')).toBe('a $& {x}.');
    expect(sentence('{0} and {}')).toBe('$& {x} and $& {x}');
    expect(sentence('{{}} {{{}}}')).toBe('{} {$& {x}}');
    for (const template of ['{{}}', '', '}}{{', undefined, ['{}']])
      expect(() => sentence(template)).toThrow('must be a text that holds {}');
    for (const template of ['{} {', '} {}', '{}}', '{1} {}', '{label} {}', '{:>9} {}'])
      expect(() => sentence(template)).toThrow('hypothesis_template has a brace');
  });

  it('a label that leaves a text no room is judged with all of it', async () => {
    const name = 'tokenizer_config.json';
    const files = filesOf(pipelineCase('zero_shot_last'));
    const config = { ...JSON.parse(new TextDecoder().decode(files[name])), model_max_length: 9 };
    await using pipe = await pipeline('zero-shot-classification', { ...files, [name]: jsonFile(config) }, here);
    const [text, long] = ['the man is in rome.', 'the man sings in rome'];
    const options = { hypothesis_template: 'in {}.', multi_label: true };
    const scores = async (labels: string[], more: object = {}) => {
      const found = await pipe(text, labels, { ...options, ...more });
      return Object.fromEntries(found.labels.map((label, i) => [label, found.scores[i]]));
    };
    const [cut, whole] = [await scores(['rome']), await scores([long], { truncation: false })];
    expect(cut).not.toEqual(await scores(['rome'], { truncation: false }));
    expect(await scores(['rome', long])).toEqual({ ...cut, ...whole });
    await expect(scores(['rome', long], { max_length: 9 })).rejects.toThrow("truncation 'only_first'");
  });

  it('a classifier without a class named entailment warns', async () => {
    const heard: string[] = [];
    configure({ onWarning: ({ code }) => heard.push(code) });
    await using pipe = await pipeline('zero-shot-classification', filesOf(pipelineCase('zero_shot_unnamed')), here);
    configure({ onWarning: undefined });
    expect([heard, pipe.task]).toEqual([['no_entailment'], 'zero-shot-classification']);
  });

  // BART has three classes unless config.json says otherwise.
  it('the last of the classes that the model has is entailment where config.json names none', async () => {
    const files = filesOf(pipelineCase('zero_shot_bart'));
    const config = { ...JSON.parse(new TextDecoder().decode(files['config.json'])), id2label: undefined };
    const renamed = { 0: 'a', 1: 'b', 2: 'c' };
    const scores = async (id2label: object | undefined) => {
      const source = { ...files, 'config.json': jsonFile({ ...config, label2id: undefined, id2label }) };
      await using pipe = await pipeline('zero-shot-classification', source, here);
      return (await pipe('a man sings', ['rome', 'a song'], { multi_label: true })).scores;
    };
    expect(await scores(undefined)).toEqual(await scores(renamed));
  });

  it('contradiction as the last class leaves the first to be its opposite where none is named entailment', async () => {
    const names = ['neutral', 'other', 'contradiction'];
    const config = { id2label: { ...names }, label2id: Object.fromEntries(names.map((name, id) => [name, id])) };
    const [named, unnamed] = ['zero_shot_last', 'zero_shot_unnamed'].map(pipelineCase) as [PipelineCase, PipelineCase];
    await using pipe = await pipeline('zero-shot-classification', filesOf({ ...named, config }), here);
    await using same = await pipeline('zero-shot-classification', filesOf(unnamed), here);
    expect(await pipe('she sings', ['song'])).toEqual(await same('she sings', ['song']));
  });

  it('sentence-similarity is the cosine of embeddings', async () => {
    const texts = ['the man is in rome.', 'she sings', 'in rome, the man sings'] as const;
    const [source_sentence, ...sentences] = texts;
    const files = {
      ...folderFiles('pipelines/wordpiece_64'),
      ...folderFiles('models/sentence_transformers/mean_normalized'),
    };
    await using pipe = await pipeline('sentence-similarity', files, here);
    await using embed = await pipeline('embeddings', files, here);
    const vectors = (await embed(texts)).tolist() as number[][];
    const dot = (i: number) => vectors[0]?.reduce((sum, x, at) => sum + x * (vectors[i]?.[at] as number), 0) as number;
    const found = await pipe({ source_sentence, sentences });
    expect(found).toEqual([expect.closeTo(dot(1), 6), expect.closeTo(dot(2), 6)]);
    expect(await pipe({ source_sentence, sentences: [source_sentence] })).toEqual([expect.closeTo(1, 6)]);
    expect((await failureOf(() => pipe([...texts] as never))).code).toBe('invalid_argument');
    await using plain = await pipeline('sentence-similarity', filesOf(pipelineCase('features')), here);
    const mean = await plain({ source_sentence, sentences }); // no pooling is configured: the mean
    expect(mean).toEqual(await plain({ source_sentence, sentences }, { pooling: 'mean' }));
  });

  it('bits of embeddings are those above 0, eight in a byte', async () => {
    await using pipe = await pipeline('feature-extraction', filesOf(pipelineCase('features')), here);
    const vectors = await pipe(['the man is in rome.', 'she sings'], { pooling: 'mean' });
    const [texts = 0, size = 0] = vectors.dims;
    const bytes = await pipe(['the man is in rome.', 'she sings'], {
      pooling: 'mean',
      quantize: true,
      precision: 'ubinary',
    });
    const signed = await pipe(['the man is in rome.', 'she sings'], { pooling: 'mean', quantize: true });
    expect([bytes.type, bytes.dims, signed.type, signed.dims]).toEqual([
      'uint8',
      [texts, size / 8],
      'int8',
      [texts, size / 8],
    ]);
    vectors.data.forEach((value, i) => {
      expect(((bytes.data[i >> 3] as number) >> (7 - (i % 8))) & 1).toBe(Number(value > 0));
    });
    expect(Array.from(signed.data)).toEqual(Array.from(bytes.data, (byte) => byte - 128));
    await expect(pipe(['a'], { pooling: 'mean', precision: 'ubinary' })).rejects.toThrow('precision needs quantize');
  });
});

const here = { deterministic: true };

describe('CLIP', () => {
  it('gives one vector for a text or an image, whose products are the similarities', async () => {
    const one = pipelineCase('labels');
    const [text, image, both] = await Promise.all([
      pipeline('feature-extraction', filesOf(one), { deterministic: true }),
      pipeline('image-feature-extraction', filesOf(one), { deterministic: true }),
      pipeline('zero-shot-image-classification', filesOf(one), { deterministic: true }),
    ]);
    const labels = ['a cat', 'a small dog', 'a ship'];
    const shown = [picture(1, 16, 16), picture(2, 31, 24)];
    const [texts, images] = [await text(labels), await image(shown, { batch_size: 1 })];
    expect(Math.hypot(...texts.slice(0).data)).toBeCloseTo(1, 5);
    const { input_ids, attention_mask } = both.tokenizer(labels, { padding: true });
    const { logits_per_image } = await both.model({ input_ids, attention_mask, ...(await both.processor(shown)) });
    const product = (i: number, t: number) =>
      images.slice(i).data.reduce((sum, value, d) => sum + value * (texts.slice(t).data[d] as number), 0);
    const scale = (logits_per_image?.data[0] as number) / product(0, 0);
    logits_per_image?.data.forEach((logit, at) => {
      expect(product(Math.floor(at / 3), at % 3) * scale).toBeCloseTo(logit, 3);
    });
    const pooled = await image(shown, { pool: true });
    const length = Math.hypot(...pooled.slice(0).data);
    expect(Array.from(pooled.slice(0).data, (value) => value / length)).toEqual(
      Array.from(images.slice(0).data, (value) => expect.closeTo(value, 5)),
    );
    expect((await failureOf(() => text(labels, { pooling: 'mean' }))).code).toBe('unsupported');
    await using similar = await pipeline('sentence-similarity', filesOf(one), { deterministic: true });
    const [source_sentence = '', ...sentences] = labels;
    const first = texts.slice(0).data;
    expect(await similar({ source_sentence, sentences })).toEqual(
      sentences.map((_, t) => {
        const vector = texts.slice(t + 1).data;
        return expect.closeTo(
          first.reduce((sum, value, d) => sum + value * (vector[d] as number), 0),
          5,
        );
      }),
    );
    await Promise.all([text, image, both].map((pipe) => pipe.dispose()));
  });
});
