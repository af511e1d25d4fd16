// Classifiers with a decoder (BART, mBART, T5), which read where a sequence ends, and answers to questions from one. Their
// outputs, training and pipelines are compared in architectures.test.ts, training_heads.test.ts and pipelines.test.ts.

import {
  AutoModel,
  AutoModelForSequenceClassification,
  BartForQuestionAnswering,
  BartForSequenceClassification,
  inspect,
  MBartForQuestionAnswering,
  MBartForSequenceClassification,
  MT5ForQuestionAnswering,
  MT5ForTokenClassification,
  T5ForQuestionAnswering,
  T5ForSequenceClassification,
  T5ForTokenClassification,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { folderOf, json } from './support/command.js';
import { failureOf } from './support/failures.js';
import { filesOf, folderFiles, jsonFile, type PipelineCall, pipelineCase } from './support/pipeline_cases.js';
import { fixturePath } from './support/references.js';

const bart = fixturePath('models/bart/odd_sequence_classification');
const mbart = fixturePath('models/mbart/odd_sequence_classification');
const [start, end, pad] = [2, 2, 1];
const input_ids = [
  [0, 9, end, 31, end, pad],
  [0, 9, 17, end, 31, end],
];
const attention_mask = input_ids.map((row) => row.map((id) => Number(id !== pad)));

describe('a classifier with a decoder', () => {
  it('reads its input again, behind the token the decoder starts with', async () => {
    await using model = await BartForSequenceClassification.from_pretrained(bart);
    const { logits } = await model({ input_ids, attention_mask });
    const decoder_input_ids = input_ids.map((row) => [start, ...row.slice(0, -1)]);
    expect((await model({ input_ids, attention_mask, decoder_input_ids })).logits.data).toEqual(logits.data);
    const files = folderFiles('models/bart/odd_sequence_classification');
    const config = { ...JSON.parse(new TextDecoder().decode(files['config.json'])), decoder_start_token_id: null };
    await using startless = await BartForSequenceClassification.from_pretrained({
      ...files,
      'config.json': jsonFile(config),
    });
    expect((await startless({ input_ids, attention_mask })).logits.data).toEqual(logits.data); // the last one is the same
    await using languages = await MBartForSequenceClassification.from_pretrained(mbart);
    const score = (await languages({ input_ids, attention_mask })).logits;
    const behind = input_ids.map((row) => [row.findLast((id) => id !== pad) as number, ...row.slice(0, -1)]);
    const given = { input_ids, attention_mask, decoder_input_ids: behind };
    expect([score.dims, (await languages(given)).logits.data]).toEqual([[2, 1], score.data]);
  });

  it('has the hook points of both stacks and of its head, whose weights are parameters', async () => {
    await using model = await AutoModelForSequenceClassification.from_pretrained(bart);
    const names_filter = [
      'decoder.1.hook_resid_post',
      'decoder.0.cross_attn.hook_pattern',
      'classifier.hook_pooler_out',
    ] as const;
    const [logits, cache] = await model.run_with_cache({ input_ids, attention_mask }, { names_filter });
    const dims = names_filter.map((name) => cache[name]?.dims);
    expect(dims).toEqual([
      [2, 6, 30],
      [2, 3, 6, 6],
      [2, 30],
    ]);
    const weight = await model.parameter('classification_head.out_proj.weight');
    const bias = await model.parameter('classification_head.out_proj.bias');
    const pooled = cache['classifier.hook_pooler_out'];
    const class_of = (row: number, id: number) =>
      Array.from({ length: 30 }, (_, at) => Number(pooled.data[row * 30 + at]) * Number(weight.data[id * 30 + at]));
    for (const [at, logit] of logits.data.entries()) {
      const sum = class_of(Math.floor(at / 3), at % 3).reduce((a, b) => a + b, Number(bias.data[at % 3]));
      expect(logit).toBeCloseTo(sum, 5);
    }
    const edits = [{ hook: 'classifier.hook_pooler_out', op: 'zero' }] as const;
    const edited = await model.run_with_hooks({ input_ids, attention_mask }, { edits });
    expect(Array.from(edited.data)).toEqual([...bias.data, ...bias.data]);
    const [residual] = await model.run_with_cache({ input_ids }, { stop_at_layer: -1, names_filter: [] });
    const [, whole] = await model.run_with_cache({ input_ids }, { names_filter: 'decoder.1.hook_resid_pre' });
    expect(residual.data).toEqual(whole['decoder.1.hook_resid_pre']?.data);
  });

  it('has as many classes as config.json names, else as transformers gives the architecture', async () => {
    const {
      id2label: _,
      label2id: __,
      ...config
    } = JSON.parse(new TextDecoder().decode(folderFiles('models/bart/odd_sequence_classification')['config.json']));
    for (const [base, more, classes] of [
      [BartForSequenceClassification, {}, 3],
      [BartForSequenceClassification, { num_labels: 5 }, 5],
      [MBartForSequenceClassification, { model_type: 'mbart' }, 2],
    ] as const) {
      await using model = await base.from_config({ ...config, ...more });
      expect((await model({ input_ids })).logits.dims).toEqual([2, classes]);
    }
    await using trunk = await AutoModel.from_pretrained(bart);
    expect(Object.keys(await trunk({ input_ids }))).toEqual(['encoder_last_hidden_state']);
  });

  it('is what inspect tells of it and the command line classifies with', async () => {
    const { task, pipelines, cfg } = await inspect(bart);
    expect([task, cfg?.kind, pipelines.slice(0, 2)]).toEqual([
      'sequence-classification',
      'encoder-decoder',
      ['text-classification', 'zero-shot-classification'],
    ]);
    const one = pipelineCase('zero_shot_bart');
    const [call] = one.calls as [PipelineCall];
    const { sequence, labels, scores } = call.answer as { sequence: string; labels: string[]; scores: number[] };
    const folder = folderOf(bart, folderFiles(`pipelines/${one.tokenizer}`));
    const words = ['--labels', (call.arguments[1] as string[]).join(), '--hypothesis-template', 'a {}.'];
    const [found] = await json(['classify', folder, sequence, ...words]);
    expect([found.input, found.labels.map(({ label }: { label: string }) => label)]).toEqual([sequence, labels]);
    for (const [at, score] of scores.entries()) expect(found.labels[at].score).toBeCloseTo(score, 5);
  });

  it('refuses what tells it no place to read, or two, and models without such a class', async () => {
    await using model = await AutoModelForSequenceClassification.from_pretrained(bart);
    const [long = []] = input_ids;
    const decoder_input_ids = [[start, 5]];
    const refused: [object, string, RegExp][] = [
      [
        {
          input_ids: [
            [0, 9, end],
            [0, end, end],
          ],
        },
        'invalid_argument',
        /row 1 of input_ids has 2 eos_token_id/,
      ],
      [{ input_ids: [[0, 9, 8]] }, 'invalid_argument', /row 0 of input_ids has 0 eos_token_id/],
      [{ input_ids: [long], decoder_input_ids }, 'shape_mismatch', /6 positions in input_ids, 2 in decoder_input_ids/],
      [{ inputs_embeds: { dims: [1, 2, 30], data: new Float32Array(60) } }, 'unsupported', /needs input_ids/],
      [{ input_ids, labels: [0, 1, 2] }, 'shape_mismatch', /labels/],
    ];
    for (const [inputs, code, message] of refused) {
      const failure = await failureOf(() => model(inputs));
      expect([failure.code, failure.message]).toEqual([code, expect.stringMatching(message)]);
    }
    expect(await failureOf(() => model({ input_ids }, { use_cache: true }))).toMatchObject({ code: 'unsupported' });
    const files = filesOf(pipelineCase('zero_shot_bart'));
    const config = { ...JSON.parse(new TextDecoder().decode(files['config.json'])), model_type: 'pegasus' };
    const pegasus = { ...files, 'config.json': jsonFile(config) };
    expect(await failureOf(() => AutoModelForSequenceClassification.from_pretrained(pegasus))).toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('which has no head for the task sequence-classification'),
    });
  });
});

describe('answers to questions from a decoder', () => {
  const folderOfAnswers = (name: string) => fixturePath(`models/${name}_question_answering`);
  const ids = [[9, 5, 31, 7]];

  it('come from its input, shifted behind the token it starts with, or from what it is given', async () => {
    for (const [Model, folder, first] of [
      [BartForQuestionAnswering, 'bart/odd', 2],
      [MBartForQuestionAnswering, 'mbart/odd', 7], // the last word of the text
      [T5ForQuestionAnswering, 't5/odd', 0],
      [MT5ForQuestionAnswering, 'mt5/even', 0],
    ] as const) {
      await using model = await Model.from_pretrained(folderOfAnswers(folder));
      const { start_logits, end_logits } = await model({ input_ids: ids });
      const given = await model({ input_ids: ids, decoder_input_ids: [[first, 9, 5, 31]] });
      expect([given.start_logits.data, given.end_logits.data]).toEqual([start_logits.data, end_logits.data]);
      expect(start_logits.data).not.toEqual(end_logits.data);
      const shorter = await model({ input_ids: ids, decoder_input_ids: [[first, 9]] });
      expect(shorter.start_logits.dims).toEqual([1, 2]);
      expect(shorter.end_logits.data).toEqual(end_logits.data.subarray(0, 2));
    }
  });

  it('are told by inspect and have the hook points of both stacks', async () => {
    const { task, pipelines, cfg } = await inspect(folderOfAnswers('t5/odd'));
    expect([task, cfg?.kind]).toEqual(['question-answering', 'encoder-decoder']);
    expect(pipelines).toContain('question-answering');
    await using model = await T5ForQuestionAnswering.from_pretrained(folderOfAnswers('t5/odd'));
    const names_filter = ['encoder.0.hook_resid_pre', 'decoder.0.cross_attn.hook_pattern'] as const;
    const [, cache] = await model.run_with_cache({ input_ids: ids }, { names_filter });
    expect(names_filter.map((name) => cache[name]?.dims)).toEqual([
      [1, 4, 30],
      [1, 3, 4, 4],
    ]);
    expect(
      await failureOf(() => model({ inputs_embeds: { dims: [1, 2, 30], data: new Float32Array(60) } })),
    ).toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('needs input_ids'),
    });
  });
});

describe('T5 with a head', () => {
  const folder = fixturePath('models/t5/even_sequence_classification');

  it('reads its input again, which ends with eos_token_id, behind the token that config.json names', async () => {
    await using model = await T5ForSequenceClassification.from_pretrained(folder);
    const ended = [[9, 5, 31, 1]];
    const { logits } = await model({ input_ids: ended });
    expect((await model({ input_ids: ended, decoder_input_ids: [[0, 9, 5, 31]] })).logits.data).toEqual(logits.data);
    expect((await failureOf(() => model({ input_ids: [[9, 5]] }))).message).toMatch(/has 0 eos_token_id/);
    const { decoder_start_token_id: _, ...config } = JSON.parse(
      new TextDecoder().decode(folderFiles('models/t5/even_sequence_classification')['config.json']),
    );
    expect(await failureOf(() => T5ForSequenceClassification.from_config(config))).toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('decoder_start_token_id'),
    });
  });

  it('is new from a config, and saved with the names of transformers', async () => {
    const config = JSON.parse(
      new TextDecoder().decode(folderFiles('models/t5/even_sequence_classification')['config.json']),
    );
    for (const [Model, names] of [
      [T5ForSequenceClassification, ['transformer.shared.weight', 'classification_head.dense.bias']],
      [T5ForQuestionAnswering, ['shared.weight', 'qa_outputs.bias']],
      [T5ForTokenClassification, ['transformer.shared.weight', 'classifier.bias']],
    ] as const) {
      const { architectures: _, ...bare } = config;
      await using model = await (Model as typeof T5ForSequenceClassification).from_config(bare);
      const all = (await model.named_parameters()).map(({ name }) => name);
      expect(all).toEqual(expect.arrayContaining([...names]));
    }
  });

  it('labels tokens by its encoder alone', async () => {
    for (const [Model, name] of [
      [T5ForTokenClassification, 't5'],
      [MT5ForTokenClassification, 'mt5'],
    ] as const) {
      const source = fixturePath(`models/${name}/odd_token_classification`);
      await using model = await Model.from_pretrained(source);
      expect((await model({ input_ids: [[9, 5, 31]] })).logits.dims).toEqual([1, 3, name === 't5' ? 5 : 2]);
      expect((await inspect(source)).cfg?.kind).toBe('encoder-only');
      await using trunk = await AutoModel.from_pretrained(source);
      expect((await trunk({ input_ids: [[9, 5, 31]] })).last_hidden_state?.dims).toEqual([1, 3, 30]);
    }
  });
});
