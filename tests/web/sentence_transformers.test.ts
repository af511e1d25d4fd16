// Folders of sentence-transformers: their steps, prompts and settings, and texts by the library's rules.

import { inspect, pipeline, Tensor, validate } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { storiesFiles } from './support/checkpoints.js';
import { directory } from './support/directory_handle.js';
import { failureOf } from './support/failures.js';
import {
  expectAnswer,
  filesOf,
  folderFiles,
  jsonFile,
  numberTokenizer,
  type PipelineCase,
  pipelineCase,
} from './support/pipeline_cases.js';
import { casesOf, expectClose, idRows, tensorsOf } from './support/references.js';

const here = { deterministic: true };

describe('feature-extraction of sentence-transformers folders', () => {
  const text = 'the man is in rome.';

  it.each(casesOf('models/sentence_transformers'))('$name pools as its files say', async (one) => {
    const files = { ...folderFiles(`models/sentence_transformers/${one.options.checkpoint}`), ...numberTokenizer };
    const pipe = await pipeline('feature-extraction', files, { deterministic: true });
    const reference = tensorsOf('models/sentence_transformers', one);
    const lengths = idRows(reference('attention_mask')).map((row) => row.reduce((sum, each) => sum + each, 0));
    const texts = idRows(reference('input_ids')).map((row, r) => row.slice(0, lengths[r]).join(' '));
    expectClose('sentence_embedding', await pipe(texts), reference('sentence_embedding'));
    expectClose('sentence_embedding', await pipe(texts, { batch_size: 2 }), reference('sentence_embedding'));
    await pipe.dispose();
  });

  it('a directory that was picked on a page has its subfolders', async () => {
    const files = {
      ...folderFiles('pipelines/wordpiece_64'),
      ...folderFiles('models/sentence_transformers/cls'),
    };
    const answers = [];
    for (const source of [files, directory(files)]) {
      const pipe = await pipeline('feature-extraction', source, { deterministic: true });
      answers.push((await pipe(text)).tolist());
      await pipe.dispose();
    }
    expect(answers[1]).toEqual(answers[0]);
  });

  it.each(['bert', 'roberta', 'distilbert', 'camembert', 'albert', 'xlm-roberta', 'xlnet'])(
    'cuts texts at the max_seq_length of sentence_%s_config.json',
    async (kind) => {
      const files = { ...folderFiles('models/sentence_transformers/cls'), ...numberTokenizer };
      const settings = (max_seq_length: number) => new TextEncoder().encode(JSON.stringify({ max_seq_length }));
      Object.assign(files, { 'sentence_bert_config.json': undefined, [`sentence_${kind}_config.json`]: settings(4) });
      await using pipe = await pipeline('feature-extraction', files, here);
      expect((await pipe('5 6 7 8 9 10')).tolist()).toEqual((await pipe('5 6 7 8')).tolist());
    },
  );

  describe('whose config.json names a head', () => {
    const bert: Record<string, Uint8Array> = { ...folderFiles('models/sentence_transformers/cls'), ...numberTokenizer };
    const withHead = (files: typeof bert, more: object): typeof bert => {
      const config = JSON.parse(new TextDecoder().decode(files['config.json']));
      return { ...files, 'config.json': jsonFile({ ...config, ...more }) };
    };
    const [modules, pooling] = ['modules.json', '1_Pooling/config.json'];
    const steps = { [modules]: bert[modules], [pooling]: jsonFile({ word_embedding_dimension: 64 }) };
    const stories = { ...storiesFiles(), ...steps } as typeof bert;

    it.each([
      ['without the weights of it', withHead(bert, { architectures: ['BertForMaskedLM'] })],
      ['that shares the embedding table', stories],
    ])('%s: they are for embeddings', async (_, files) => {
      for (const { problems, task, pipeline: name } of [await inspect(files), await validate(files)])
        expect([problems, task, name]).toEqual([[], 'base', 'feature-extraction']);
      await using pipe = await pipeline(undefined, files, here);
      expect(pipe.task).toBe('feature-extraction');
    });

    it('and whose outputs it does not pool: they are for what the head is for', async () => {
      const text = new TextDecoder().decode(bert[modules]).replace('models.Pooling', 'models.SpladePooling');
      const found = await inspect({ ...stories, [modules]: new TextEncoder().encode(text) });
      expect(found.pipeline).toBe('text-generation');
      expect((await inspect(stories, { task: 'text-generation' })).pipeline).toBe('text-generation');
    });
  });

  it('dense layers follow pooling, and what is wrong with theirs is named', async () => {
    const files = { ...folderFiles('models/sentence_transformers/embedding_gemma'), ...numberTokenizer };
    const pipe = await pipeline('feature-extraction', files, { deterministic: true });
    expect((await pipe('7 8 9')).dims).toEqual([1, 24]);
    expect((await pipe('7 8 9', { pooling: 'mean' })).dims).toEqual([1, 32]);
    await pipe.dispose();
    const failure = (changed: object) =>
      failureOf(async () => {
        const broken = Object.entries({ ...files, ...changed }).filter(([, file]) => file !== undefined);
        await (await pipeline('feature-extraction', Object.fromEntries(broken) as typeof files))('7 8 9');
      });
    const [weights, pickle] = ['2_Dense/model.safetensors', '2_Dense/pytorch_model.bin'];
    expect(await failure({ [weights]: undefined })).toMatchObject({
      code: 'file_not_found',
      details: { file: weights },
    });
    expect(await failure({ [weights]: undefined, [pickle]: new Uint8Array(4) })).toMatchObject({
      code: 'unsupported',
      details: { file: pickle },
    });
    const sizes = (options: object) => failure({ '3_Dense/config.json': jsonFile({ in_features: 40, ...options }) });
    expect(await sizes({ out_features: 25, bias: true })).toMatchObject({ code: 'shape_mismatch' });
    expect(await sizes({ out_features: 24, activation_function: 'torch.nn.modules.activation.PReLU' })).toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('PReLU'),
    });
    expect(await sizes({ out_features: '24' })).toMatchObject({ details: { file: '3_Dense/config.json' } });
    const normalized = ['Transformer', 'Pooling', 'Normalize', 'Dense'].map((name, i) => {
      return { type: `sentence_transformers.models.${name}`, path: ['', '1_Pooling', '', '2_Dense'][i] };
    });
    expect(await failure({ 'modules.json': jsonFile(normalized) })).toMatchObject({ code: 'unsupported' });
  });

  it('prompts precede texts: the one that is named, or the usual one', async () => {
    const files = {
      ...folderFiles('pipelines/wordpiece_64'),
      ...folderFiles('models/sentence_transformers/mean_normalized'),
    };
    const named = (prompts: object, pooling: object = {}) => ({
      ...files,
      'config_sentence_transformers.json': jsonFile(prompts),
      '1_Pooling/config.json': jsonFile({ pooling_mode_mean_tokens: true, ...pooling }),
    });
    const prompts = { query: 'rome is ', passage: '' };
    const plain = await pipeline('feature-extraction', files, here);
    const [bare, asked] = [await plain(text), await plain(`rome is ${text}`)];
    expect((await plain(text, { prompt: 'rome is ' })).data).toEqual(asked.data);
    const pipe = await pipeline('feature-extraction', named({ prompts, default_prompt_name: 'query' }), here);
    expect((await pipe(text)).data).toEqual(asked.data);
    expect((await pipe(text, { prompt_name: 'passage' })).data).toEqual(bare.data);
    expect((await pipe(text, { prompt: '' })).data).toEqual(bare.data);
    expect((await pipe(text, { pooling: 'mean', normalize: true })).data).toEqual(bare.data);
    const wrong = [
      { prompt_name: 'toString' },
      { prompt_name: 'Query' },
      { prompt_name: 'query', prompt: '' },
      { prompt: 7 as unknown as string },
    ];
    for (const options of wrong) {
      const option = options.prompt_name === undefined ? 'prompt' : 'prompt_name';
      expect(await failureOf(() => pipe(text, options))).toMatchObject({
        code: 'invalid_argument',
        details: { option },
      });
    }
    const usual = await pipeline('feature-extraction', named({ default_prompt_name: 'document' }), here);
    for (const prompt_name of [undefined, 'query'])
      expect((await usual(text, { prompt_name })).data).toEqual(bare.data);
    const without = await pipeline('feature-extraction', named({ prompts }, { include_prompt: false }), here);
    expect((await without(text)).data).toEqual(bare.data);
    // [CLS] rome is | the man is in rome . [SEP], of which the mean leaves out the first three
    const tokens = await plain(`rome is ${text}`, { pooling: 'none' });
    const mean = tokens.slice(null, [3, null]).mean(1).normalize();
    expectClose('include_prompt', await without(text, { prompt_name: 'query' }), { ...mean, dims: [...mean.dims] });
    expect(
      await failureOf(() => pipeline('feature-extraction', named({ default_prompt_name: 'x' }), here)),
    ).toMatchObject({
      code: 'malformed_config',
      message: expect.stringContaining('default_prompt_name'),
    });
  });

  it('pools the mean where no mode is set', async () => {
    const files = { ...folderFiles('pipelines/wordpiece_64'), ...folderFiles('models/sentence_transformers/cls') };
    const pooling = jsonFile({ pooling_mode_cls_token: false, pooling_mode_mean_tokens: false });
    const pipe = await pipeline('feature-extraction', { ...files, '1_Pooling/config.json': pooling }, here);
    expect((await pipe(text)).data).toEqual((await pipe(text, { pooling: 'mean' })).data);
  });

  it('modes in a list keep its order', async () => {
    const files = { ...folderFiles('pipelines/wordpiece_64'), ...folderFiles('models/sentence_transformers/cls') };
    const pooling = jsonFile({ embedding_dimension: 30, pooling_mode: ['mean', 'cls', 'mean'] });
    await using pipe = await pipeline('feature-extraction', { ...files, '1_Pooling/config.json': pooling }, here);
    const [mean, cls] = [await pipe(text, { pooling: 'mean' }), await pipe(text, { pooling: 'cls' })];
    expect((await pipe(text)).data).toEqual(Float32Array.from([...mean.data, ...cls.data, ...mean.data]));
  });

  const ofTransformer = [
    { modality_config: { message: {} } },
    { modality_config: { text: { method: 'forward', method_output_name: 'pooler_output' } } },
    { modality_config: { text: { method: 'get_text_features', method_output_name: 'last_hidden_state' } } },
    { module_output_name: 'sentence_embedding' },
    { transformer_task: 'fill-mask' },
    { processing_kwargs: { text: { add_special_tokens: false } } },
    { processing_kwargs: { common: { padding: 'max_length' } } },
    { processor_kwargs: { padding_side: 'left' } },
    { tokenizer_args: { do_lower_case: true } },
    { model_args: { num_hidden_layers: 1 } },
    { config_kwargs: { num_hidden_layers: 1 } },
  ];

  it.each<[string, object, string?]>([
    ['2_Dense/config.json', { use_residual: true }, 'use_residual'],
    ['2_Dense/config.json', { module_input_name: 'token_embeddings' }, 'module_input_name'],
    ['2_Dense/config.json', { module_output_name: 'scores' }, 'module_output_name'],
    ['4_Normalize/config.json', { module_input_name: 'token_embeddings' }, 'module_input_name'],
    ['2_Dense/config.json', { activation_function: 'my.ReLU' }, 'activation_function'],
    ['1_Pooling/config.json', { pooling_mode: [] }, 'pooling_mode'],
    ...ofTransformer.map((setting): [string, object] => ['sentence_bert_config.json', setting]),
  ])('%s: %j would change embeddings', async (name, setting, option = Object.keys(setting)[0]) => {
    const files = folderFiles('models/sentence_transformers/embedding_gemma') as Record<string, Uint8Array>;
    const held = files[name] === undefined ? {} : JSON.parse(new TextDecoder().decode(files[name]));
    const changed = { ...files, ...numberTokenizer, [name]: jsonFile({ ...held, ...setting }) };
    const expected = { code: 'malformed_config', details: { file: name, option } };
    expect(await failureOf(() => pipeline('feature-extraction', changed, here))).toMatchObject(expected);
    const problem = expect.objectContaining({ code: 'malformed_config', file: name });
    expect((await validate(changed)).problems).toContainEqual(problem);
  });

  it('settings of newer versions that change nothing are read', async () => {
    const fed = { module_input_name: 'sentence_embedding', module_output_name: 'sentence_embedding' };
    const text = { method: 'forward', method_output_name: 'last_hidden_state' };
    const files = folderFiles('models/sentence_transformers/embedding_gemma') as Record<string, Uint8Array>;
    const dense = JSON.parse(new TextDecoder().decode(files['2_Dense/config.json']));
    const newer = {
      ...{ ...files, ...numberTokenizer },
      '2_Dense/config.json': jsonFile({ ...dense, ...fed, use_residual: false }),
      '4_Normalize/config.json': jsonFile(fed),
      'sentence_bert_config.json': jsonFile({
        transformer_task: 'feature-extraction',
        modality_config: { text },
        module_output_name: 'token_embeddings',
        processing_kwargs: { text: { truncation: true, padding: true, max_length: null }, image: { do_resize: false } },
        processor_kwargs: { use_fast: true },
        tokenizer_args: {},
        model_kwargs: { attn_implementation: 'sdpa', torch_dtype: 'float16' },
        config_args: { trust_remote_code: true },
        unpad_inputs: true,
      }),
    };
    await using before = await pipeline('feature-extraction', { ...files, ...numberTokenizer }, here);
    await using now = await pipeline('feature-extraction', newer, here);
    expect((await now('7 8 9')).data).toEqual((await before('7 8 9')).data);
  });

  it('steps whose order leaves one without effect are refused', async () => {
    const files = { ...folderFiles('models/sentence_transformers/embedding_gemma'), ...numberTokenizer };
    const order = (...names: string[]) =>
      jsonFile(
        names.map((name) => ({
          type: `sentence_transformers.models.${name}`,
          path: { Pooling: '1_Pooling', Dense: '2_Dense' }[name] ?? '',
        })),
      );
    for (const names of [
      ['Transformer', 'Normalize', 'Pooling'],
      ['Transformer', 'Pooling', 'Dense', 'Pooling'],
    ]) {
      const failure = await failureOf(() =>
        pipeline('feature-extraction', { ...files, 'modules.json': order(...names) }, here),
      );
      expect(failure).toMatchObject({ code: 'unsupported', message: expect.stringContaining('in this order') });
    }
  });

  it('truncate_dim keeps the first numbers, after a Normalize and before that of a call', async () => {
    const name = 'config_sentence_transformers.json';
    const files = {
      ...folderFiles('pipelines/wordpiece_64'),
      ...folderFiles('models/sentence_transformers/mean_normalized'),
    };
    await using plain = await pipeline('feature-extraction', files, here);
    await using pipe = await pipeline('feature-extraction', { ...files, [name]: jsonFile({ truncate_dim: 8 }) }, here);
    const cut = async (options: object) => (await plain(text, options)).slice(null, [0, 8]);
    for (const options of [{}, { normalize: false }]) expect(await pipe(text, options)).toEqual(await cut(options));
    const unit = (await cut({ normalize: false })).normalize();
    expectClose('unit', await pipe(text, { normalize: true }), { ...unit, dims: [...unit.dims] });
    expect((await pipe(text, { pooling: 'mean' })).dims).toEqual([1, 32]);
    expect((await pipe(text, { quantize: true })).dims).toEqual([1, 1]);
    const metric = { cosine_similarity: Array.from({ length: 8 }, () => 1) };
    const refused = await failureOf(() => pipe.backward(text, { metric }));
    expect([refused.code, refused.message]).toEqual(['unsupported', expect.stringContaining('truncate_dim')]);
    await using compare = await pipeline(
      'sentence-similarity',
      { ...files, [name]: jsonFile({ truncate_dim: 8 }) },
      here,
    );
    const [one, other] = [await pipe(text, { normalize: true }), await pipe('she sings', { normalize: true })];
    const [cosine] = await compare({ source_sentence: text, sentences: ['she sings'] });
    expect(cosine).toBeCloseTo(
      one.data.reduce((sum, value, at) => sum + value * (other.data[at] as number), 0),
      5,
    );
    const whole = { ...files, [name]: jsonFile({ truncate_dim: 0 }) };
    expect(await failureOf(() => pipeline('feature-extraction', whole, here))).toMatchObject({
      code: 'malformed_config',
      message: expect.stringContaining('truncate_dim'),
    });
  });

  it('calls may choose otherwise', async () => {
    const files = {
      ...folderFiles('pipelines/wordpiece_64'),
      ...folderFiles('models/sentence_transformers/mean_normalized'),
    };
    const pipe = await pipeline('feature-extraction', files, { deterministic: true });
    const usual = await pipe(text);
    const length = (values: ArrayLike<number>) => Math.hypot(...Array.from(values));
    expect(length(usual.data)).toBeCloseTo(1, 6);
    const mean = await pipe(text, { pooling: 'mean' });
    expect(length(mean.data)).not.toBeCloseTo(1, 2);
    expect((await pipe(text, { normalize: false })).data).toEqual(mean.data);
    expect((await pipe(text, { pooling: 'mean', normalize: true })).data).toEqual(usual.data);
    const tokens = await pipe(text, { pooling: 'none' });
    expect(tokens.dims).toEqual([1, 8, 32]);
    expect((await pipe(text, { pooling: 'cls' })).data).toEqual(tokens.slice(0, 0).data);
    expect((await pipe(text, { pooling: 'eos' })).data).toEqual(tokens.slice(0, 7).data);
    const [first, weighted] = [
      await pipe(text, { pooling: ['mean', 'cls'] }),
      await pipe(text, { pooling: 'weightedmean' }),
    ];
    expect(first.data).toEqual(Float32Array.from([...tokens.slice(0, 0).data, ...mean.data]));
    const at = (t: number, d: number) => tokens.data[t * 32 + d] as number;
    const sum = Array.from({ length: 8 }, (_, t) => (t + 1) * at(t, 5)).reduce((a, b) => a + b);
    expect(weighted.data[5]).toBeCloseTo(sum / 36, 5);
    await pipe.dispose();
  });
});

describe('texts, by the rules of sentence-transformers', () => {
  it.each(casesOf<PipelineCase>('sentences'))('$op: $name', async (one) => {
    await using pipe = await pipeline(one.op as 'feature-extraction', filesOf(one), here);
    const call = pipe as unknown as (...given: unknown[]) => Promise<unknown>;
    for (const { arguments: given, options, answer } of one.calls) {
      const found = await call(...given, options);
      expectAnswer(found instanceof Tensor ? found.tolist() : found, answer, one.name);
    }
  });
});

describe('cross-encoders, as newer versions of sentence-transformers save them', () => {
  const ranker = filesOf(pipelineCase('ranking'));
  const [query, documents] = ['she sings', ['in rome', 'the man', 'he runs']];
  const ranked = async (settings: object, given = query, options = {}) => {
    const files = { ...ranker, 'config_sentence_transformers.json': jsonFile(settings) };
    await using pipe = await pipeline('text-ranking', files, here);
    return await pipe(given, documents, options);
  };

  it('have their activation beside the prompts', async () => {
    const logits = await ranked({}, query, { function_to_apply: 'none' });
    const [none, sigmoid] = ['torch.nn.modules.linear.Identity', 'torch.nn.modules.activation.Sigmoid'];
    expect(await ranked({ activation_fn: none })).toEqual(logits);
    expect(await ranked({ activation_fn: sigmoid })).toEqual(
      await ranked({ activation_fn: none }, query, { function_to_apply: 'sigmoid' }),
    );
    const other = await failureOf(() => ranked({ activation_fn: 'torch.nn.modules.activation.Tanh' }));
    expect([other.code, other.message]).toEqual(['unsupported', expect.stringContaining('activation.Tanh')]);
  });

  it('are valid', async () => {
    const [score, modules] = [{ text: { method: 'forward', method_output_name: 'logits' } }, 'modules.json'];
    const settings = {
      transformer_task: 'sequence-classification',
      modality_config: score,
      module_output_name: 'scores',
    };
    const type = 'sentence_transformers.base.modules.transformer.Transformer';
    const files = {
      ...ranker,
      [modules]: jsonFile([{ idx: 0, name: '0', path: '', type }]),
      'sentence_bert_config.json': jsonFile(settings),
    };
    const [{ problems }, found] = [await validate(ranker), await validate(files)];
    expect([found.problems, found.pipeline]).toEqual([problems, 'text-classification']);
  });

  it('put a default prompt before queries', async () => {
    const prompts = { prompts: { ask: 'the man ' }, default_prompt_name: 'ask' };
    expect(await ranked(prompts)).toEqual(await ranked({}, `the man ${query}`));
    expect(await ranked({ prompts: prompts.prompts })).toEqual(await ranked({}));
  });
});
