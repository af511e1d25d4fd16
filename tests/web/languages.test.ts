// Tokenizers with languages (NLLB, mBART, M2M100), translation with them, and zero-shot classification with SigLIP.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  AutoModelForSeq2SeqLM,
  AutoModelForZeroShotImageClassification,
  AutoTokenizer,
  ImageProcessor,
  pipeline,
  RawImage,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { filesOf, pipelineCase } from './support/pipeline_cases.js';
import { fixturePath } from './support/references.js';
import { wordTokenizer } from './support/word_tokenizer.js';

const here = { worker: false } as const;

function blobs(files: Record<string, string | Uint8Array<ArrayBuffer>>): Record<string, Blob> {
  return Object.fromEntries(Object.entries(files).map(([name, content]) => [name, new Blob([content])]));
}

function checkpoint(folder: string): Record<string, Uint8Array<ArrayBuffer>> {
  const names = ['config.json', 'model.safetensors'];
  return Object.fromEntries(names.map((name) => [name, new Uint8Array(readFileSync(join(fixturePath(folder), name)))]));
}

const [the, cat, end] = [4, 5, 2];

describe('src_lang places the token of the language as transformers’ classes do', () => {
  // class, languages, ids of "the cat" in the second language
  const cases: readonly [object, readonly string[], string, (language: number) => number[]][] = [
    [{ tokenizer_class: 'NllbTokenizer' }, ['eng_Latn', 'fra_Latn'], 'fra_Latn', (id) => [id, the, cat, end]],
    [
      { tokenizer_class: 'NllbTokenizerFast', legacy_behaviour: true },
      ['eng_Latn', 'fra_Latn'],
      'fra_Latn',
      (id) => [the, cat, end, id],
    ],
    [{ tokenizer_class: 'MBartTokenizer' }, ['en_XX', 'ro_RO'], 'ro_RO', (id) => [the, cat, end, id]],
    [{ tokenizer_class: 'MBart50TokenizerFast' }, ['en_XX', 'ro_RO'], 'ro_RO', (id) => [id, the, cat, end]],
    [{ tokenizer_class: 'M2M100Tokenizer' }, ['__en__', '__fr__'], 'fr', (id) => [id, the, cat, end]],
  ];

  it.each(cases)('%j', async (config, languages, language, placed) => {
    const tokenizer = await AutoTokenizer.from_pretrained(blobs(wordTokenizer(20, languages, config)));
    expect(tokenizer.encode('the cat')).toEqual(placed(18)); // the class's own language
    tokenizer.src_lang = language;
    expect(tokenizer.src_lang).toBe(language);
    expect(tokenizer.encode('the cat')).toEqual(placed(19));
    expect(tokenizer.num_special_tokens_to_add()).toBe(2);
    expect(tokenizer.decode(tokenizer.encode('the cat'), { skip_special_tokens: true })).toBe('the cat');
    for (const unknown of ['the', 'xx_XX']) {
      const failure = await failureOf(() => {
        tokenizer.src_lang = unknown;
      });
      expect(failure).toMatchObject({ code: 'invalid_argument', details: { option: 'src_lang' } });
    }
  });

  it('begins with the language of the file', async () => {
    const config = { tokenizer_class: 'NllbTokenizer', src_lang: 'fra_Latn' };
    const files = wordTokenizer(20, ['eng_Latn', 'fra_Latn'], config);
    expect((await AutoTokenizer.from_pretrained(blobs(files))).encode('cat')).toEqual([19, cat, end]);
  });

  it('is absent from other tokenizers', async () => {
    const tokenizer = await AutoTokenizer.from_pretrained(blobs(wordTokenizer(20, ['en_XX'], {})));
    expect('src_lang' in tokenizer).toBe(false);
  });
});

describe('translation between named languages', () => {
  const folder = 'models/mbart/odd';
  const config = { tokenizer_class: 'MBart50Tokenizer' };
  const files = { ...checkpoint(folder), ...wordTokenizer(97, ['en_XX', 'ro_RO'], config) };
  const options = { max_new_tokens: 6, num_beams: 2 };

  it('begins with the target language', async () => {
    const translate = await pipeline('translation', blobs(files), here);
    const found = await translate('the cat', { ...options, src_lang: 'ro_RO', tgt_lang: 'en_XX' });
    const model = await AutoModelForSeq2SeqLM.from_pretrained(fixturePath(folder), here);
    const ids = await model.generate({ input_ids: [[96, the, cat, end]] }, { ...options, forced_bos_token_id: 95 });
    expect(Number(ids.data[1])).toBe(95);
    const text = translate.tokenizer.batch_decode(ids, { skip_special_tokens: true })[0];
    expect(found).toEqual([{ translation_text: text }]);
    const [other] = await translate('the cat', { ...options, src_lang: 'en_XX', tgt_lang: 'ro_RO' });
    expect(other?.translation_text).not.toBe(text);
    await translate.dispose();
    await model.dispose();
  });

  it('needs both languages, as options or in the task', async () => {
    const translate = await pipeline('translation', blobs(files), here);
    const cases: readonly [object, string][] = [
      [{}, 'tgt_lang'],
      [{ tgt_lang: 'en_XX' }, 'src_lang'],
      [{ src_lang: 'en_XX', tgt_lang: 'de_DE' }, 'tgt_lang'],
    ];
    for (const [languages, option] of cases) {
      const failure = await failureOf(() => translate('the cat', { ...options, ...languages }));
      expect(failure).toMatchObject({ code: 'invalid_argument', details: { option } });
    }
    await translate.dispose();
    const named = await pipeline('translation_en_XX_to_ro_RO', blobs(files), here);
    expect(await named('the cat', options)).toHaveLength(1);
    await named.dispose();
  });

  it('a model of one pair of languages names those that were given', async () => {
    await using translate = await pipeline('translation', filesOf(pipelineCase('translation')), here);
    for (const [languages, words] of [
      [{ src_lang: 'en' }, 'src_lang: without tgt_lang'],
      [{ tgt_lang: 'fr' }, 'tgt_lang: the tokenizer has no >>fr<<'],
      [{ src_lang: 'en', tgt_lang: 'fr' }, 'config.json has no translation_en_to_fr and the tokenizer no >>fr<<'],
    ] as const)
      expect((await failureOf(() => translate('a', languages))).message).toContain(words);
  });
});

describe('SigLIP', () => {
  it('gives each label a probability of its own', async () => {
    const words = wordTokenizer(97, [], { model_input_names: ['input_ids'] });
    const processor = { image_processor_type: 'SiglipImageProcessorFast', size: { height: 22, width: 22 } };
    const folder = 'models/siglip/odd';
    const files = { ...checkpoint(folder), ...words, 'preprocessor_config.json': JSON.stringify(processor) };
    const classify = await pipeline('zero-shot-image-classification', blobs(files), here);
    const image = new RawImage(
      Uint8ClampedArray.from({ length: 30 * 26 * 3 }, (_, i) => (i * 37) % 251),
      30,
      26,
      3,
    );
    const labels = ['cat', 'the sat'];
    const found = await classify(image, labels, { hypothesis_template: '{}' });
    const model = await AutoModelForZeroShotImageClassification.from_pretrained(fixturePath(folder), here);
    const { pixel_values } = await new ImageProcessor(processor)(image);
    const row = (...ids: number[]) => [...ids, ...Array<number>(64 - ids.length).fill(1)];
    const { logits_per_image } = await model({ input_ids: [row(5), row(4, 6)], pixel_values });
    const scores = [...(logits_per_image?.data ?? [])].map((logit) => 1 / (1 + Math.exp(-logit)));
    const wanted = labels.map((label, i) => ({ label, score: scores[i] as number }));
    expect(found).toEqual(wanted.sort((a, b) => b.score - a.score));
    await classify.dispose();
    await model.dispose();
  });
});

describe('image processors', () => {
  const image = new RawImage(
    Uint8ClampedArray.from({ length: 40 * 31 * 3 }, (_, i) => (i * 53) % 256),
    40,
    31,
    3,
  );
  const pixels = async (config: object) => (await new ImageProcessor({ ...config })(image)).pixel_values;
  const clip = { image_processor_type: 'CLIPImageProcessor' };
  const square = { image_processor_type: 'ViTImageProcessor', resample: 3, do_convert_rgb: true };

  it.each([
    ['BitImageProcessor', clip],
    ['BitImageProcessorFast', clip],
    ['SiglipImageProcessor', square],
    ['SiglipImageProcessorFast', square],
  ])('%s has its class’s defaults', async (image_processor_type, same) => {
    const [found, wanted] = [await pixels({ image_processor_type }), await pixels(same)];
    expect(found.dims).toEqual(wanted.dims);
    expect(found.data.findIndex((value, i) => value !== wanted.data[i])).toBe(-1);
  });
});
