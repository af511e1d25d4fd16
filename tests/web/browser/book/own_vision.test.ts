// Chapter 11 with the reader's own image classifier: the digits' checkpoint given as files, and DeiT in colour.

import { readFileSync } from 'node:fs';
import { type ActivationCache, AutoModelForImageClassification, ImageProcessor, softmax, Tensor } from 'clearformer';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenPage, Site, settled } from '../site.js';
import { answerQuestion } from './answers.js';
import { brokenLooks, drawn, numbersOf, shownText } from './reader.js';
import { seenTexts } from './seen_texts.js';

type Files = Record<string, Buffer>;
const read = (folder: string, names: readonly string[]): Files =>
  Object.fromEntries(names.map((name) => [name, readFileSync(`${folder}/${name}`)]));

const digits = read('./web/demo/public/models/vit-mnist', [
  'config.json',
  'preprocessor_config.json',
  'model.safetensors',
]);

const deitFolder = './tests/fixtures/models/deit/even_image_classification';
const deitProcessor = {
  image_processor_type: 'DeiTImageProcessor',
  size: { height: 18, width: 18 },
  crop_size: { height: 16, width: 16 },
  image_mean: [0.485, 0.456, 0.406],
  image_std: [0.229, 0.224, 0.225],
};
const deit: Files = {
  ...read(deitFolder, ['config.json', 'model.safetensors']),
  'preprocessor_config.json': Buffer.from(JSON.stringify(deitProcessor)),
};
/** Sizes of that checkpoint. */
const [side, patch, grid, special] = [16, 4, 4, 2];
const places = grid * grid;

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

/** Opens the files as the reader's own model, and chapter 11 with it. */
async function openOwn(files: Files): Promise<OpenPage> {
  const open = await site.open({}, 'own');
  const list = Object.entries(files).map(([name, buffer]) => ({ name, mimeType: 'application/octet-stream', buffer }));
  await open.page.setInputFiles('figure-own file-pick #files', list);
  await open.page.getByRole('button', { name: /^Load in fp32/ }).click();
  await open.page.locator('figure-own a.chip', { hasText: 'Seeing' }).click();
  await settled(open.page);
  expect(new URL(open.page.url()).hash).toContain('seeing?of=own');
  return open;
}

const scores = async (page: Page): Promise<number[]> => (await numbersOf(page, 'softmax(logits)')).data;

describe('the checkpoint of the digits as own files', () => {
  it('shows the same numbers at every step as the bundled model', async () => {
    const { page, complaints } = await openOwn(digits);
    const bundled = await site.open({}, 'seeing');
    for (const step of ['1&p=17', '2&p=17&k=11', '3&p=17', '4&p=24', '5', '6', '7&hide=11.12', '8&order=none']) {
      await site.go(page, `seeing?of=own&step=${step}`);
      await site.go(bundled.page, `seeing?step=${step}`);
      expect(await drawn(page), step).toEqual(await drawn(bundled.page));
    }
    expect([...complaints, ...bundled.complaints]).toEqual([]);
    await bundled.page.context().close();
    await page.getByRole('button', { name: 'vit-mnist' }).click();
    await settled(page);
    expect(new URL(page.url()).hash).not.toContain('of=own');
    await page.context().close();
  });
});

describe('DeiT in colour', () => {
  let open: OpenPage;
  let pixels: Tensor<'float32'>;
  let logits: Tensor<'float32'>;
  let cache: ActivationCache;
  const hook = (name: string): Tensor => (cache as Record<string, Tensor>)[name] as Tensor;
  const model = AutoModelForImageClassification.from_pretrained(deitFolder, { worker: false });
  const processor = new ImageProcessor(deitProcessor);

  beforeAll(async () => {
    const png = await sharp(Buffer.from(Array.from({ length: 40 * 30 * 3 }, (_, i) => (i * i * 7 + i) % 256)), {
      raw: { width: 40, height: 30, channels: 3 },
    })
      .png()
      .toBuffer();
    pixels = (await processor(png)).pixel_values;
    [logits, cache] = await (await model).run_with_cache({ pixel_values: pixels });
    open = await openOwn(deit);
    await open.page
      .locator('figure-seeing input[type=file]')
      .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: png });
    await open.page.waitForFunction(() => location.hash.includes('d=f1'));
    await settled(open.page);
  });
  afterAll(async () => {
    expect(open.complaints).toEqual([]);
    await open.page.context().close();
    await (await model).dispose();
  });

  const go = (step: string): Promise<void> => site.go(open.page, `seeing?of=own&d=f1&step=${step}`);

  it('reads a picture of the reader through the own processor', async () => {
    expect(await scores(open.page)).toEqual(Array.from((await softmax(logits)).data, Number));
    const shown = await numbersOf(open.page, 'pixel_values[0]');
    expect(shown.dims).toEqual([3, side, side]);
    expect(shown.data).toEqual(Array.from(pixels.data, Number));
    expect(await shownText(open.page)).toContain('makes 3 × 16 × 16 numbers of every picture');
  });

  it('cuts it into patches of three channels', async () => {
    await go('1&p=6');
    const [row, column] = [patch, 2 * patch];
    const at = (channel: number, y: number, x: number): number =>
      Number(pixels.data[channel * side * side + (row + y) * side + column + x]);
    const matrix = await numbersOf(open.page, 'pixel_values[0, :, 4:8, 8:12].permute(1, 0, 2).reshape(4, 12)');
    expect(matrix.data).toEqual(
      Array.from({ length: 48 }, (_, k) => at(Math.floor((k % 12) / 4), Math.floor(k / 12), k % 4)),
    );
    const flat = await numbersOf(open.page, 'pixel_values[0, :, 4:8, 8:12].reshape(48)[:16]');
    expect(flat.data).toEqual(Array.from({ length: 16 }, (_, k) => at(0, Math.floor(k / 4), k % 4)));
  });

  it('measures the kernels that the checkpoint holds', async () => {
    await go('2&p=6&k=3');
    const { data: kernels, dims } = await numbersOf(open.page, 'hook_embed of single pixels');
    expect(dims).toEqual([32, 1, patch, 3 * patch]);
    // The projection by these kernels is that of the model; its bias is what the read-out adds.
    const patchValues = (await numbersOf(open.page, 'pixel_values[0, :, 4:8, 8:12].permute(1, 0, 2).reshape(4, 12)'))
      .data;
    const product = patchValues.reduce((sum, value, k) => sum + value * Number(kernels[3 * 48 + k]), 0);
    const map = (await numbersOf(open.page, `hook_embed[0, ${special}:, 3]`)).data;
    expect(map).toEqual(
      Array.from({ length: places }, (_, at) => Number(hook('hook_embed').slice(0, at + special).data[3])),
    );
    const bias = await zeroEmbedding();
    expect(Math.abs(product + bias - Number(map[6]))).toBeLessThan(1e-5);
  });

  /** Number 3 of the embedding of a patch of zeros. */
  async function zeroEmbedding(): Promise<number> {
    const zeros = new Tensor('float32', new Float32Array(3 * side * side), [1, 3, side, side]);
    const [, zero] = await (await model).run_with_cache({ pixel_values: zeros }, { names_filter: 'hook_embed' });
    return Number((zero as Record<string, Tensor>).hook_embed?.slice(0, special).data[3]);
  }

  it('shows vectors, likeness, heads and rollout with two special tokens', async () => {
    await go('3&p=6');
    expect((await numbersOf(open.page, 'hook_full_embed[0]')).data).toEqual(
      Array.from(hook('hook_full_embed').data, Number),
    );
    expect(await shownText(open.page)).toContain('row 2 the distillation token');
    await go('4&p=6');
    expect((await numbersOf(open.page, 'matmul(p, pᵀ)[6]')).dims).toEqual([grid, grid]);
    await go('5&l=1&h=3');
    const heads = (await drawn(open.page)).filter(({ source }) => source.startsWith('blocks.'));
    expect(new Set(heads.map(({ source }) => source)).size).toBe(8);
    const pattern = await numbersOf(open.page, 'blocks.1.attn.hook_pattern[0, 3, 0, 2:]');
    expect(pattern.data).toEqual(
      Array.from(hook('blocks.1.attn.hook_pattern').slice(0, 3, 0).data, Number).slice(special),
    );
    await go('6');
    expect((await numbersOf(open.page, 'attentionRollout(cache)[1, 0, 0, 2:]')).dims).toEqual([grid, grid]);
  });

  it('hides the middle in black, and mixes an order that its positions undo', async () => {
    await go('7');
    const black = (await processor({ data: new Uint8Array(18 * 18), width: 18, height: 18, channels: 1 })).pixel_values;
    const { data } = await numbersOf(open.page, 'pixel_values[0]');
    for (const channel of [0, 1, 2]) {
      expect(data[channel * side * side + 8 * side + 8]).toBe(Number(black.data[channel * side * side]));
      expect(data[channel * side * side]).toBe(Number(pixels.data[channel * side * side]));
    }
    expect(await scores(open.page)).not.toEqual(Array.from((await softmax(logits)).data, Number));
    await go('8');
    expect((await numbersOf(open.page, 'pixel_values[0]')).data).not.toEqual(Array.from(pixels.data, Number));
    await go('9');
    const whole = Array.from((await softmax(logits)).data, Number);
    (await scores(open.page)).forEach((score, i) => {
      expect(Math.abs(score - Number(whole[i]))).toBeLessThan(1e-6);
    });
  });

  it('checks the questions with the own model', async () => {
    const middle = places / 2;
    await go(`4&p=${middle}`);
    const row = (await numbersOf(open.page, `matmul(p, pᵀ)[${middle}]`)).data;
    row[middle] = -2;
    const question = open.page.locator('[data-question=nearest]');
    await question.scrollIntoViewIfNeeded();
    expect(await question.textContent()).toContain('from 1 to 16');
    await answerQuestion(open.page, 'nearest', String(row.indexOf(Math.max(...row)) + 1), 'right');
    await open.page.locator('[data-question=sharpest] button').nth(1).waitFor();
    expect(await open.page.locator('[data-question=sharpest] button').count()).toBe(2);
  });

  it('fits the page, can be read in class mode, and says when its picture is gone', async () => {
    for (let step = 0; step < 10; step++) {
      await go(String(step));
      expect(await brokenLooks(open.page), `step ${step}`).toEqual([]);
      await go(`${step}&class=1`);
      const texts = await seenTexts(open.page);
      expect(texts.filter(({ size }) => size < 23.99)).toEqual([]);
    }
    await site.go(open.page, 'seeing?of=own&d=f9');
    expect(await shownText(open.page)).toContain('choose the picture again');
    await open.page.getByRole('button', { name: 'vit-mnist' }).click();
    await settled(open.page);
    expect(await scores(open.page)).toHaveLength(10);
  });
});

describe('without an own model of images', () => {
  it('an address that names one says so, and leads back', async () => {
    const { page } = await site.open({}, 'seeing?of=own');
    expect(await shownText(page)).toContain('no model of your own has been opened yet');
    await page.getByRole('button', { name: 'vit-mnist' }).click();
    await settled(page);
    expect(await scores(page)).toHaveLength(10);
    expect(await page.locator('figure-seeing .models').count()).toBe(0);
    await page.context().close();
  });
});
