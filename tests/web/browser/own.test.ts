// One's own model on the page: tiny folders of every kind are told apart, run in the form that fits, and give the answers
// of the references; what is not supported says so.

import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Files } from '../support/checkpoints.js';
import { png } from '../support/media_files.js';
import { filesOf, picture, pipelineCase, sound } from '../support/pipeline_cases.js';
import { fixturePath, readReferences } from '../support/references.js';
import { type OpenPage, Site } from './site.js';
import { StoryPage } from './story_page.js';

interface LabelScore {
  label: string;
  score: number;
}
type Upload = { name: string; mimeType: string; buffer: Buffer };

let site: Site;
let open: OpenPage;
beforeAll(async () => {
  site = await Site.start();
  open = await site.open({ reducedMotion: 'reduce' }, 'own');
});
afterAll(() => site.stop());

const upload = (name: string, bytes: Uint8Array, mimeType = 'application/octet-stream'): Upload => ({
  name,
  mimeType,
  buffer: Buffer.from(bytes),
});

async function give(files: Files): Promise<void> {
  const list = Object.entries(files).map(([name, bytes]) => upload(name, bytes));
  await open.page.setInputFiles('#files', list);
}

/** Loads a reference's folder; the page must tell what it is. */
async function load(name: string, architecture: string, task: string): Promise<void> {
  await give(filesOf(pipelineCase(name)));
  const facts = open.page.locator('#facts');
  await facts.locator('code', { hasText: new RegExp(`^${architecture}$`) }).waitFor();
  expect(await facts.locator('b').textContent()).toBe(task);
  expect(await open.page.locator('error-note').count()).toBe(0);
}

/** The answer that the references have for these options and that first argument. */
function answerOf(name: string, options: object, first: unknown): unknown {
  const { calls } = pipelineCase(name);
  const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
  const call = calls.find((one) => same(one.options, options) && same(one.arguments[0], first));
  if (call === undefined) throw new Error(`no such call of ${name}`);
  return call.answer;
}

async function run(texts: string[], files: Upload[] = []): Promise<void> {
  for (const [i, text] of texts.entries()) await open.page.locator(`#field-${i}`).fill(text);
  if (files.length > 0) await open.page.setInputFiles('#input', files);
  await open.page.locator('#run').click();
  await open.page.locator('task-form form[aria-busy=false]').waitFor();
}

async function bars(): Promise<LabelScore[]> {
  const place = open.page.locator('score-bars');
  await place.waitFor();
  return place.evaluate((one) => {
    const scores = [...(one.shadowRoot?.querySelectorAll<HTMLElement>('.share') ?? [])];
    const labels = [...(one.shadowRoot?.querySelectorAll('dt') ?? [])];
    return labels.map((label, i) => ({ label: label.textContent ?? '', score: Number(scores[i]?.dataset.score) }));
  });
}

function expectScores(found: LabelScore[], wanted: LabelScore[]): void {
  expect(found.slice(0, wanted.length).map(({ label }) => label)).toEqual(wanted.map(({ label }) => label));
  wanted.forEach(({ score }, i) => {
    expect(found[i]?.score).toBeCloseTo(score, 4);
  });
}

async function expectCosine(a: Float64Array | Float32Array, b: Float64Array | Float32Array): Promise<void> {
  const dot = (x: ArrayLike<number>, y: ArrayLike<number>): number =>
    Array.from(x).reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0);
  const said = await open.page.locator('#answer').textContent();
  const wanted = dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
  expect(Number(said?.match(/-?\d\.\d{4}$/)?.[0])).toBeCloseTo(wanted, 3);
}

/** A picture of the references as a PNG file. */
function photo(seed: number, height: number, width: number): Upload {
  const { data } = picture(seed, height, width);
  const rgba = Uint8Array.from({ length: height * width * 4 }, (_, i) =>
    i % 4 === 3 ? 255 : (data[(i >> 2) * 3 + (i % 4)] as number),
  );
  return upload(`picture ${seed}.png`, png(rgba, width, height), 'image/png');
}

/** Mono float32 samples as a WAV file. */
function wav(samples: Float32Array, rate: number): Upload {
  const buffer = Buffer.alloc(44 + samples.byteLength);
  buffer.write('RIFF', 0);
  buffer.writeUInt32LE(36 + samples.byteLength, 4);
  buffer.write('WAVEfmt ', 8);
  buffer.writeUInt32LE(16, 16);
  buffer.writeUInt16LE(3, 20); // float
  buffer.writeUInt16LE(1, 22);
  buffer.writeUInt32LE(rate, 24);
  buffer.writeUInt32LE(rate * 4, 28);
  buffer.writeUInt16LE(4, 32);
  buffer.writeUInt16LE(32, 34);
  buffer.write('data', 36);
  buffer.writeUInt32LE(samples.byteLength, 40);
  samples.forEach((sample, i) => void buffer.writeFloatLE(sample, 44 + i * 4));
  return upload('sound.wav', buffer, 'audio/wav');
}

describe('models of texts', () => {
  it('fill a masked word, and show what the tokens look at', async () => {
    await load('masks', 'BertForMaskedLM', 'filling in a masked word');
    const text = 'the [MASK] is in rome.';
    await run([text]);
    const wanted = answerOf('masks', {}, text) as { token_str: string; score: number }[];
    expectScores(
      await bars(),
      wanted.map(({ token_str, score }) => ({ label: token_str, score })),
    );
    const story = new StoryPage(open.page);
    expect((await story.tokens.allTextContents()).slice(0, 4)).toEqual(['[CLS]', 'the', '[MASK]', ' is']);
    await story.tokens.nth(2).click();
    const { query, sum } = await story.reading();
    expect(query).toBe(2);
    expect(Math.abs(sum - 1)).toBeLessThan(1e-5);
  });

  it('are classified', async () => {
    await load('classes', 'BertForSequenceClassification', 'text classification');
    const text = 'the man is in rome.';
    await run([text]);
    expectScores(await bars(), [answerOf('classes', { top_k: 1 }, text) as LabelScore[]].flat());
    expect((await bars()).length).toBe(3);
  });

  it('have kinds of words', async () => {
    await load('byte_level_entities', 'RobertaForTokenClassification', 'token classification');
    const text = 'i see 4 men in paris';
    await run([text]);
    const wanted = answerOf('byte_level_entities', { aggregation_strategy: 'simple' }, text) as {
      word: string;
      entity_group: string;
      score: number;
    }[];
    expectScores(
      await bars(),
      wanted.map(({ word, entity_group, score }) => ({ label: `${word}: ${entity_group}`, score })),
    );
  });

  it('answer questions with parts of a text', async () => {
    await load('answers', 'BertForQuestionAnswering', 'question answering');
    const context = 'the man lives in rome. she sings.';
    await run(['who lives in rome?', context]);
    const answers = await bars();
    expect(answers.length).toBe(3);
    for (const { label, score } of answers) {
      expect(context).toContain(label);
      expect(score).toBeGreaterThan(0);
    }
  });

  it('are compared', async () => {
    await load('features', 'BertModel', 'sentence similarity');
    await run(['the man is in rome.', 'she sings']);
    const tensors = readReferences(fixturePath('pipelines/features.safetensors'));
    const mean = (key: string): Float64Array => {
      const { data, dims } = tensors.get(key) as { data: Float32Array; dims: number[] };
      const [, rows = 0, width = 0] = dims;
      const sums = new Float64Array(width);
      for (let i = 0; i < rows * width; i++) sums[i % width] = (sums[i % width] as number) + (data[i] as number);
      return sums;
    };
    await expectCosine(mean('features.0'), mean('features.1'));
  });

  it('are continued', async () => {
    await load('texts', 'GPT2LMHeadModel', 'text generation');
    const story = new StoryPage(open.page);
    await story.write('the man is in rome.', 8, 'the likeliest');
    const [wanted] = answerOf('texts', { max_new_tokens: 8, do_sample: false }, 'the man is in rome.') as [
      { generated_text: string },
    ];
    expect(await story.text()).toBe(wanted.generated_text);
  });

  it('become other texts', async () => {
    await load('translation', 'MarianMTModel', 'one text into another (translation, summary)');
    await open.page.locator('#source').fill('the man is in rome.');
    await open.page.getByRole('button', { name: 'greedy' }).click();
    const target = open.page.locator('#target');
    await target.waitFor();
    expect(await target.textContent()).toMatch(/^day day day this/); // as the reference begins
    const { sum } = await new StoryPage(open.page).reading();
    expect(Math.abs(sum - 1)).toBeLessThan(1e-5);
  });
});

describe('models of images', () => {
  it('name what they see', async () => {
    await load('image_classes', 'ViTForImageClassification', 'image classification');
    await open.page.setInputFiles('#image', [photo(0, 20, 18)]);
    const found = await bars();
    const best = [...found].sort((a, b) => b.score - a.score);
    expectScores(best, answerOf('image_classes', {}, { picture: [0, 20, 18] }) as LabelScore[]);
    expect(await open.page.locator('patch-view button').count()).toBe(16);
  });

  it('compare images', async () => {
    await load('image_features', 'ViTModel', 'image similarity');
    await run([], [photo(0, 20, 18), photo(1, 16, 16)]);
    const { data, dims } = readReferences(fixturePath(`pipelines/${pipelineCase('image_features').file}`)).get(
      'image_features.False',
    ) as { data: Float32Array; dims: number[] };
    const [, rows = 0, width = 0] = dims;
    const classToken = (image: number): Float32Array => data.slice(image * rows * width, (image * rows + 1) * width);
    await expectCosine(classToken(0), classToken(1));
  });

  it('fit texts to an image', async () => {
    await load('labels', 'CLIPModel', 'image classification by texts of your own');
    await run(['cat, small dog, ship'], [photo(0, 20, 18)]);
    expectScores(await bars(), answerOf('labels', {}, { picture: [0, 20, 18] }) as LabelScore[]);
  });
});

it('a model of sounds writes what is said', async () => {
  await load('speech', 'WhisperForConditionalGeneration', 'speech recognition');
  await run([], [wav(sound(1, 1600), 1600)]);
  const { text } = answerOf('speech', { num_beams: 1, task: 'transcribe' }, { sound: [1, 1600] }) as { text: string };
  expect(await open.page.locator('#answer').textContent()).toBe(text);
});

describe('what cannot be run', () => {
  const note = (): Locator => open.page.locator('error-note [role=alert]');
  const changed = (name: string, change: object): Files => {
    const files = filesOf(pipelineCase(name));
    const config = JSON.parse(new TextDecoder().decode(files['config.json'])) as object;
    return { ...files, 'config.json': new TextEncoder().encode(JSON.stringify({ ...config, ...change })) };
  };

  it.each<[string, () => Files, RegExp]>([
    [
      'an architecture that is not there',
      () => changed('masks', { model_type: 'mamba', architectures: ['MambaForCausalLM'] }),
      /not supported.*mamba.*Take another model.*unsupported/s,
    ],
    [
      'a head that is not there',
      () => changed('masks', { architectures: ['BertForMultipleChoice'] }),
      /not supported.*BertForMultipleChoice.*unsupported/s,
    ],
    [
      'no tokenizer',
      () => {
        const { 'tokenizer.json': _, ...rest } = filesOf(pipelineCase('masks'));
        return rest;
      },
      /not found.*tokenizer\.json.*Add the file.*file_not_found/s,
    ],
    [
      'weights of another format only',
      () => {
        const { 'model.safetensors': weights = new Uint8Array(), ...rest } = filesOf(pipelineCase('masks'));
        return { ...rest, 'pytorch_model.bin': weights };
      },
      /pytorch_model\.bin.*safetensors.*unsupported/s,
    ],
    [
      'weights of another model',
      () => ({
        ...filesOf(pipelineCase('masks')),
        'model.safetensors': filesOf(pipelineCase('texts'))['model.safetensors'] as Uint8Array,
      }),
      /tensor.*missing_tensor/s,
    ],
  ])('%s is named, and what to do', async (_, files, words) => {
    await give(files());
    await note().waitFor();
    expect(await note().textContent()).toMatch(words);
    await note().getByRole('button').click();
  });

  it('an input that does not fit is named', async () => {
    await load('masks', 'BertForMaskedLM', 'filling in a masked word');
    await run(['no mask in here']);
    expect(await note().textContent()).toMatch(/no \[MASK\].*invalid_argument/s);
    await note().getByRole('button').click();
    await run(['one [MASK]']);
    expect((await bars()).length).toBe(10);
  });

  it('complained of nothing in the console', () => {
    expect(open.complaints).toEqual([]);
  });
});
