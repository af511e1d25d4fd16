// Images and audio from browser objects, in a real Chromium: drawn or decoded contents equal the stored ones.

import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { flac, png, withOrientation } from '../support/media_files.js';
import { FileServer } from '../support/server.js';
import { launchChromium } from './chromium.js';

const [width, height] = [9, 7];
const page = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">';

/** Opaque noise. */
const rgba = Uint8Array.from({ length: width * height * 4 }, (_, i) =>
  i % 4 === 3 ? 255 : (i * 7919 + (i >> 3) * 31) % 256,
);

let browser: Browser;
let server: FileServer;
let other: FileServer;
let tab: Page;

/** The code under test as one script for the page. */
async function script(): Promise<string> {
  const folder = fileURLToPath(new URL('../../../', import.meta.url));
  const contents = `
    export { readImage } from './web/src/image/image_input.js';
    export { ImageProcessor } from './web/src/image/image_processor.js';
    export { read_audio } from './web/src/audio/audio_input.js';`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    bundle: true,
    format: 'iife',
    globalName: 'media',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

beforeAll(async () => {
  const files = {
    'noise.png': png(rgba, width, height),
    'gamma.png': png(rgba, width, height, 100000),
    'wide.png': png(new Uint8Array(4 * 70_000).fill(255), 70_000, 1), // Chromium's canvases end at 65535
  };
  server = await FileServer.start(files, { page });
  other = await FileServer.start(files);
  browser = await launchChromium();
  tab = await browser.newPage();
  await tab.goto(server.url);
  await tab.addScriptTag({ content: await script() });
});
afterAll(async () => {
  await browser?.close();
  await Promise.all([server?.stop(), other?.stop()]);
});

/** The result of `body`, the body of an async function, in the page. */
const inPage = <T>(body: string): Promise<T> => tab.evaluate(`(async () => { ${body} })()`) as Promise<T>;

/** Source code of an expression for each kind of image object. */
const sources: Record<string, string> = {
  'a Blob': "await (await fetch('/noise.png')).blob()",
  'a Blob of another gamma': "await (await fetch('/gamma.png')).blob()",
  'a File': "new File([await (await fetch('/noise.png')).blob()], 'noise.png')",
  'resizable memory': `await fetch('/noise.png').then(async (answer) => {
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const memory = new Uint8Array(new ArrayBuffer(bytes.length, { maxByteLength: 2 * bytes.length }));
    memory.set(bytes);
    return memory; })`,
  'an ImageBitmap': "await createImageBitmap(await (await fetch('/noise.png')).blob())",
  'an image element': "Object.assign(new Image(), { src: '/noise.png' })",
  'an ImageData': `new ImageData(Uint8ClampedArray.from([${rgba}]), ${width}, ${height})`,
  'a canvas': `(() => {
    const canvas = Object.assign(document.createElement('canvas'), { width: ${width}, height: ${height} });
    canvas.getContext('2d').putImageData(new ImageData(Uint8ClampedArray.from([${rgba}]), ${width}, ${height}), 0, 0);
    return canvas; })()`,
  'an OffscreenCanvas': `(() => {
    const canvas = new OffscreenCanvas(${width}, ${height});
    canvas.getContext('2d').putImageData(new ImageData(Uint8ClampedArray.from([${rgba}]), ${width}, ${height}), 0, 0);
    return canvas; })()`,
  'a canvas of another frame': `(() => {
    const frame = document.body.appendChild(document.createElement('iframe'));
    const canvas = Object.assign(frame.contentDocument.createElement('canvas'), { width: ${width}, height: ${height} });
    canvas.getContext('2d').putImageData(new ImageData(Uint8ClampedArray.from([${rgba}]), ${width}, ${height}), 0, 0);
    return canvas; })()`,
};

it.each(Object.keys(sources))('%s gives the pixels it was made of', async (name) => {
  const found = await inPage<{ data: number[] }>(`
    const image = await media.readImage('test', ${sources[name]});
    return { ...image, data: [...image.data] };`);
  expect(found).toEqual({ width, height, channels: 4, data: [...rgba] });
});

it('a processor sees the same in all of them', async () => {
  const config = { image_processor_type: 'ViTImageProcessor', size: { height: 5, width: 6 } };
  const results = await inPage<string[]>(`
    const processor = new media.ImageProcessor(${JSON.stringify(config)});
    const all = [${Object.values(sources).join(', ')}, { data: Uint8Array.from([${rgba}]), width: ${width}, height: ${height} }];
    const { pixel_values } = await processor(all);
    return all.map((_, i) => pixel_values.data.slice(i * 90, i * 90 + 90).join());`);
  expect(new Set(results).size).toBe(1);
});

it('photos are turned upright', async () => {
  const jpeg = await inPage<number[]>(`
    const canvas = new OffscreenCanvas(32, 16);
    const context = canvas.getContext('2d');
    context.fillStyle = '#fff'; context.fillRect(0, 0, 32, 16);
    context.fillStyle = '#000'; context.fillRect(0, 0, 16, 8);
    return [...new Uint8Array(await (await canvas.convertToBlob({ type: 'image/jpeg', quality: 1 })).arrayBuffer())];`);
  const photos = [1, 3, 6, 8].map((orientation) => [...withOrientation(Uint8Array.from(jpeg), orientation)]);
  const turned = await inPage<{ sizes: number[][]; corners: number[][] }>(`
    const sizes = [], corners = [];
    for (const photo of ${JSON.stringify(photos)}) {
      const { data, width, height } = await media.readImage('test', new Blob([Uint8Array.from(photo)]));
      const at = (x, y) => (data[(y * width + x) * 4] < 128 ? 1 : 0);
      sizes.push([width, height]);
      corners.push([at(2, 2), at(width - 3, 2), at(2, height - 3), at(width - 3, height - 3)]);
    }
    return { sizes, corners };`);
  expect(turned.sizes).toEqual([
    [32, 16],
    [32, 16],
    [16, 32],
    [16, 32],
  ]);
  // The dark corner: top left, bottom right, top right, bottom left.
  expect(turned.corners).toEqual([
    [1, 0, 0, 0],
    [0, 0, 0, 1],
    [0, 1, 0, 0],
    [0, 0, 1, 0],
  ]);
});

it('what cannot be read is a typed error', async () => {
  const codes = await inPage<string[]>(`
    const foreign = Object.assign(new Image(), { src: ${JSON.stringify(`${other.url}/noise.png`)} });
    await foreign.decode();
    const tainted = Object.assign(document.createElement('canvas'), { width: 3, height: 3 });
    tainted.getContext('2d').drawImage(foreign, 0, 0);
    const empty = document.createElement('canvas');
    empty.width = 0;
    const wide = await (await fetch('/wide.png')).blob();
    const all = [new Blob(['no image']), wide, Object.assign(new Image(), { src: '/nothing.png' }), new Image(), foreign, tainted, empty];
    return Promise.all(all.map((one) => media.readImage('test', one).then(() => 'no error', (error) => error.code)));`);
  expect(codes).toEqual(new Array(7).fill('invalid_argument'));
});

it('sound files other than WAV are decoded at the rate that is asked for', async () => {
  const samples = Int16Array.from({ length: 16000 }, (_, i) =>
    Math.round(16000 * Math.sin((2 * Math.PI * 440 * i) / 16000)),
  );
  const [own = [], low = []] = await inPage<number[][]>(`
    const file = new Blob([Uint8Array.from([${flac(samples)}])]);
    return Promise.all([16000, 2000].map(async (rate) => [...await media.read_audio(file, rate)]));`);
  expect(own.length).toBe(samples.length);
  const worst = own.reduce((most, x, i) => Math.max(most, Math.abs(x - (samples[i] ?? 0) / 32768)), 0);
  expect(worst).toBeLessThanOrEqual(2 ** -16);
  expect(low.length).toBe(samples.length / 8); // a rate that the engine's decoder does not take
  expect(Math.max(...low.slice(500, 1500))).toBeCloseTo(16000 / 32768, 2);
  const codes = await inPage<string[]>(`
    return Promise.all([16000, 0].map((rate) =>
      media.read_audio(new Blob(['no sound']), rate).then(() => 'no error', (error) => error.code)));`);
  expect(codes).toEqual(['unsupported', 'invalid_argument']);
});

it('an AudioBuffer is averaged and resampled', async () => {
  const found = await inPage<{ length: number; middle: number }>(`
    const buffer = new AudioBuffer({ numberOfChannels: 2, length: 4800, sampleRate: 48000 });
    buffer.getChannelData(0).fill(0.5);
    const sound = await media.read_audio(buffer);
    return { length: sound.length, middle: sound[800] };`);
  expect(found.length).toBe(1600);
  expect(found.middle).toBeCloseTo(0.25, 6);
});
