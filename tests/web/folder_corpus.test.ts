// Invalid folders of every kind: each is refused with a typed error that names the file, the key and the value, and
// validate reports the same. A seed selects the values; a fresh one must not change the result.

import {
  AutoFeatureExtractor,
  AutoImageProcessor,
  AutoModelForCausalLM,
  AutoModelForImageClassification,
  AutoModelForMaskedLM,
  AutoModelForSeq2SeqLM,
  AutoModelForSpeechSeq2Seq,
  AutoTokenizer,
  ClearformerError,
  pipeline,
  validate,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { badEmbeddings, badProcessors, badSmallFiles } from './corpus/companions.js';
import { badConfigs, badGenerationConfigs, contradictoryConfigs } from './corpus/configs.js';
import { type BadFolder, Draw, type Reader } from './corpus/folders.js';
import { badTokenizers, badVocabularies } from './corpus/tokenizers.js';
import { badHeaders, badIndices, badTensors, twoPrefixes } from './corpus/weights.js';
import type { Files } from './support/checkpoints.js';

const kinds = {
  'config.json': badConfigs,
  'generation_config.json': badGenerationConfigs,
  'configs that contradict themselves': contradictoryConfigs,
  headers: badHeaders,
  tensors: badTensors,
  indices: badIndices,
  prefixes: twoPrefixes,
  'small files of tokenizers': badSmallFiles,
  'tokenizer.json': badTokenizers,
  'older tokenizers': badVocabularies,
  processors: badProcessors,
  embeddings: badEmbeddings,
};

const here = { worker: false };
const read: Readonly<Record<Reader, (files: Files) => Promise<unknown>>> = {
  causal: (files) => AutoModelForCausalLM.from_pretrained(files, here),
  masked: (files) => AutoModelForMaskedLM.from_pretrained(files, here),
  seq2seq: (files) => AutoModelForSeq2SeqLM.from_pretrained(files, here),
  speech: (files) => AutoModelForSpeechSeq2Seq.from_pretrained(files, here),
  image: (files) => AutoModelForImageClassification.from_pretrained(files, here),
  tokenizer: (files) => AutoTokenizer.from_pretrained(files),
  picture: (files) => AutoImageProcessor.from_pretrained(files),
  sound: (files) => AutoFeatureExtractor.from_pretrained(files),
  embedding: (files) => pipeline('feature-extraction', files, here),
  validate: async (files) => {
    const { problems, valid } = await validate(files);
    const [first] = problems.filter(({ severity }) => severity === 'error');
    expect(valid).toBe(first === undefined);
    if (first !== undefined) throw new ClearformerError(first.code, first.message);
  },
};

/** What is wrong with the refusal of the folder; undefined if nothing is. */
async function complaint({ title, files, reader, words }: BadFolder): Promise<string | undefined> {
  const thrown = await read[reader](files).then(
    () => 'it was read',
    (error: unknown) => error,
  );
  if (!(thrown instanceof ClearformerError)) return `${title}: ${String(thrown)}`;
  const lacking = words.filter((word) => !thrown.message.includes(word));
  const typed = [
    'malformed_config',
    'malformed_file',
    'unsupported',
    'missing_tensor',
    'shape_mismatch',
    'dtype_mismatch',
    'file_not_found',
  ];
  if (!typed.includes(thrown.code)) return `${title}: the code ${thrown.code}`;
  return lacking.length === 0 ? undefined : `${title}: ${lacking.join(', ')} not in "${thrown.message.slice(0, 300)}"`;
}

/** Whether validate reports the same for a folder with a model's files. */
async function untold({ title, files, words }: BadFolder): Promise<string | undefined> {
  const { valid, problems } = await validate(files);
  const told = problems.map(({ message }) => message);
  if (!valid && told.some((message) => words.every((word) => message.includes(word)))) return undefined;
  return `${title}: validate tells "${told.join('; ').slice(0, 300)}"`;
}

async function complaints(cases: Iterable<BadFolder>, check: (one: BadFolder) => Promise<string | undefined>) {
  const found: string[] = [];
  for (const one of cases) {
    const wrong = await check(one);
    if (wrong !== undefined) found.push(wrong);
  }
  return found;
}

describe('refused by name', () => {
  let count = 0;
  it.each(Object.entries(kinds))(
    '%s',
    async (_, generate) => {
      const cases = [...generate(new Draw(1))];
      count += cases.length;
      expect(await complaints(cases, complaint)).toEqual([]);
    },
    60_000,
  );

  it('450 of them', () => expect(count).toBeGreaterThan(450));
});

describe('told by validate', () => {
  it.each(Object.entries(kinds))(
    '%s',
    async (_, generate) => {
      const draw = new Draw(2);
      const whole = [...generate(draw)].filter(({ files }) => 'config.json' in files && 'model.safetensors' in files);
      expect(await complaints(draw.some(whole, 12), untold)).toEqual([]);
    },
    60_000,
  );
});

const fresh = Date.now() % 2 ** 31;
it(`the seed ${fresh} changes nothing`, async () => {
  const draw = new Draw(fresh);
  const cases = Object.values(kinds).flatMap((generate) => draw.some([...generate(draw)], 8));
  expect(await complaints(cases, complaint)).toEqual([]);
}, 60_000);
