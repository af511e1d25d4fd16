// The examples of transformers.js run here with only the import line and the model's id changed, and give results of
// the same shape. Ids stand for small checkpoints with random weights.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as clearformer from 'clearformer';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Files } from './support/checkpoints.js';
import { filesOf, jsonFile, type PipelineCase, pipelineCase } from './support/pipeline_cases.js';
import { casesOf, fixturePath } from './support/references.js';
import { examples } from './support/transformers_js_examples.js';

const stories = fileURLToPath(new URL('../../web/demo/public/models/stories260K/', import.meta.url));
const parsed = (files: Files, name: string) => JSON.parse(new TextDecoder().decode(files[name] as Uint8Array));
const caseWith = (checkpoint: string, tokenizer: string, config: object = {}) =>
  filesOf({ checkpoint: `models/${checkpoint}`, tokenizer, config, op: '', name: '', calls: [] } as PipelineCase);

/** Makes each word one token, so that long hypotheses fit in the positions of a small model. */
function wholeWords(files: Files): Files {
  const tokenizer = parsed(files, 'tokenizer.json');
  return {
    ...files,
    'tokenizer.json': jsonFile({ ...tokenizer, model: { ...tokenizer.model, max_input_chars_per_word: 1 } }),
  };
}

function chatting(): Files {
  const read = (name: string) => new Uint8Array(readFileSync(`${stories}${name}`));
  const names = [
    'config.json',
    'generation_config.json',
    'model.safetensors',
    'tokenizer.json',
    'tokenizer_config.json',
  ];
  const files: Files = Object.fromEntries(names.map((name) => [name, read(name)]));
  const chat_template = '{% for message in messages %}{{ message.content }}\n{% endfor %}';
  return { ...files, 'tokenizer_config.json': jsonFile({ ...parsed(files, 'tokenizer_config.json'), chat_template }) };
}

/** A Whisper with a window of thirty seconds, in forty frames. */
function listening(): Files {
  const files = filesOf(casesOf<PipelineCase>('speech')[0] as PipelineCase);
  const name = 'preprocessor_config.json';
  const frames = { chunk_length: 30, hop_length: 1200, n_fft: 1200 };
  return { ...files, [name]: jsonFile({ ...parsed(files, name), ...frames }) };
}

const languages = [
  'hin_Deva_to_fra_Latn',
  'zh_to_en',
  'hi_IN_to_fr_XX',
  'eng_Latn_to_ell_Grek',
  'ell_Grek_to_eng_Latn',
];
const toText = () =>
  caseWith('t5/odd', 'marian_97', {
    task_specific_params: Object.fromEntries(languages.map((pair) => [`translation_${pair}`, { prefix: 'the ' }])),
  });
const named = (name: string) => filesOf(pipelineCase(name));

/** The files that stand for a model, by task. */
const folders: Readonly<Record<string, () => Files>> = {
  'sentiment-analysis': () => named('classes'),
  'text-classification': () => named('classes'),
  'token-classification': () => named('entities'),
  'question-answering': () => wholeWords(named('answers')),
  'fill-mask': () => named('masks'),
  summarization: toText,
  translation: toText,
  'text2text-generation': toText,
  'text-generation': chatting,
  'zero-shot-classification': () => wholeWords(named('zero_shot_last')),
  'automatic-speech-recognition': listening,
  'feature-extraction': () => named('features'),
  'image-classification': () => named('image_classes'),
  'image-feature-extraction': () => named('image_features'),
  'zero-shot-image-classification': () => named('labels'),
};

const score = expect.any(Number);
const word = expect.any(String);
const listOf = (one: object) => (answer: unknown) => {
  expect(answer).toEqual(expect.arrayContaining([expect.objectContaining(one)]));
};
const tensor = (answer: unknown) => expect(answer).toBeInstanceOf(clearformer.Tensor);

/** The shape of a result, by task, as in the comments below the examples. */
const shapes: Readonly<Record<string, (answer: unknown) => void>> = {
  'sentiment-analysis': listOf({ label: word, score }),
  'text-classification': listOf({ label: word, score }),
  'token-classification': (answer) => expect(Array.isArray(answer)).toBe(true),
  'question-answering': (answer) => expect(answer).toMatchObject({ answer: word, score }),
  'fill-mask': listOf({ score, token: score, token_str: word, sequence: word }),
  summarization: listOf({ summary_text: word }),
  translation: listOf({ translation_text: word }),
  'text2text-generation': listOf({ generated_text: word }),
  'text-generation': listOf({ generated_text: expect.anything() }),
  'zero-shot-classification': (answer) =>
    expect(answer).toEqual({ sequence: word, labels: expect.any(Array), scores: expect.any(Array) }),
  'automatic-speech-recognition': (answer) => {
    const { text, chunks = [] } = answer as { text: string; chunks?: { timestamp: (number | null)[]; text: string }[] };
    expect(text).toMatch(/\S/);
    for (const [i, chunk] of chunks.entries()) {
      const isOpen = i === chunks.length - 1 && chunk.timestamp[1] === null; // it ends after the audio
      expect(chunk).toEqual({ timestamp: [score, isOpen ? null : score], text: word });
    }
  },
  'feature-extraction': tensor,
  'image-feature-extraction': tensor,
  'image-classification': listOf({ label: word, score }),
  'zero-shot-image-classification': listOf({ label: word, score }),
};

const AsyncFunction = (async () => {}).constructor as new (...lines: string[]) => (all: object) => Promise<unknown>;
let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'clearformer-examples-'));
  for (const [task, files] of Object.entries(folders)) {
    for (const [name, bytes] of Object.entries(files())) {
      mkdirSync(dirname(join(root, task, name)), { recursive: true });
      writeFileSync(join(root, task, name), bytes as Uint8Array);
    }
  }
  const sound = readFileSync(fixturePath('real_models/jfk.wav'));
  const image = readFileSync(fixturePath('image_files/RGB.png'));
  const served = async (url: string | URL | Request) =>
    new Response(/\.(wav|mp3|flac)$/.test(String(url)) ? sound : image);
  clearformer.configure({ fetch: served as typeof fetch, deterministic: true });
  vi.spyOn(console, 'log').mockImplementation(() => {});
  vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
});
afterAll(() => {
  clearformer.configure({ fetch: undefined, deterministic: undefined });
  vi.restoreAllMocks();
  rmSync(root, { recursive: true });
});

/** The result of an example, and the pipeline or model. */
async function answerOf(code: string, task: string): Promise<{ answer: unknown; pipe: { dispose(): Promise<void> } }> {
  const lines = code
    .replace(/^import (\{.*\}) from ["']@huggingface\/transformers["'];$/m, 'const $1 = all;')
    .replace(/(["'])(Xenova|onnx-community)\/[\w.-]+\1/, JSON.stringify(join(root, task)));
  const held = code.includes('@huggingface') ? '' : 'const { pipeline } = all;\n';
  const name = (names: string[]) => names.find((each) => new RegExp(`const ${each} =`).test(code)) ?? 'undefined';
  const pipe = /const (\w+) = await pipeline/.exec(code)?.[1];
  const answer = name(['output', 'result', 'features']);
  return (await new AsyncFunction('all', `${held}${lines}\nreturn { answer: ${answer}, pipe: ${pipe} };`)(
    clearformer,
  )) as {
    answer: unknown;
    pipe: { dispose(): Promise<void> };
  };
}

describe('examples of transformers.js', () => {
  const titled = examples.map(([origin, code], i) => {
    const task = /pipeline\(\s*["']([\w-]+)/.exec(code)?.[1] ?? '';
    return [`${i}: ${task}, ${origin}`, task, code] as const;
  });

  it.each(titled)('%s', { timeout: 120_000 }, async (_, task, code) => {
    const { answer, pipe } = await answerOf(code, task);
    try {
      if (answer !== undefined) shapes[task]?.(answer);
      expect(Object.keys(shapes)).toContain(task);
    } finally {
      await pipe.dispose();
    }
  });
});
