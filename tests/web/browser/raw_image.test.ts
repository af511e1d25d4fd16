// RawImage with canvases: reading them, encoding image files, and saving.

import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from './chromium.js';
import { serveProject } from './project_page.js';

const [width, height] = [5, 3];
const noise = (count: number): number[] => Array.from({ length: count }, (_, i) => (i * 7919 + (i >> 2) * 31) % 256);

/** Images of 1 to 4 channels, and the corresponding RGBA. If alpha is not 255 or 0, a canvas rounds colours. */
const images = [1, 2, 3, 4].map((channels) => {
  const data = noise(width * height * channels);
  const isAlpha = (i: number) => channels % 2 === 0 && i % channels === channels - 1;
  for (const i of data.keys()) if (isAlpha(i)) data[i] = 255;
  const rgba = Array.from({ length: width * height }, (_, i) => {
    const pixel = data.slice(i * channels, (i + 1) * channels);
    const colours = channels < 3 ? [pixel[0], pixel[0], pixel[0]] : pixel.slice(0, 3);
    return [...colours, 255];
  }).flat();
  return { channels, data, rgba };
});

let browser: Browser;
let tab: Page;
let stop: () => void;
beforeAll(async () => {
  const { server, url } = await serveProject({});
  stop = () => server.close();
  browser = await launchChromium();
  tab = await browser.newPage();
  await tab.goto(url);
});
afterAll(async () => {
  await browser.close();
  stop();
});

/**
 * The result of an async function's body in the page, with `RawImage`, `made(data, channels)` and `codeOf(work)`
 * available.
 */
const inPage = <T>(body: string): Promise<T> =>
  tab.evaluate(`(async () => {
    const { RawImage } = await import('/dist/index.js');
    const made = (data, channels) => new RawImage(Uint8Array.from(data), ${width}, ${height}, channels);
    const codeOf = (work) => work().then(() => 'no error', ({ code }) => code);
    ${body}
  })()`) as Promise<T>;

describe('toCanvas', () => {
  it.each(images)('shows an image of $channels channels, which stays as it is', async ({ channels, data, rgba }) => {
    const found = await inPage<Record<string, unknown>>(`
      const image = made(${JSON.stringify(data)}, ${channels});
      const canvas = image.toCanvas();
      const shown = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      const back = RawImage.fromCanvas(canvas);
      return { kind: canvas.constructor.name, size: [canvas.width, canvas.height], shown: [...shown.data],
        back: [...back.data], backChannels: back.channels, channels: image.channels, data: [...image.data] };`);
    expect(found).toEqual({
      kind: 'OffscreenCanvas',
      size: [width, height],
      shown: rgba,
      back: rgba,
      backChannels: 4,
      channels,
      data,
    });
  });

  it('keeps what is transparent', async () => {
    const alpha = noise(width * height).map((value) => (value < 128 ? 0 : 255));
    const shown = await inPage<number[]>(`
      const image = made(${JSON.stringify(images[2]?.data)}, 3);
      image.putAlpha(made(${JSON.stringify(alpha)}, 1));
      return [...RawImage.fromCanvas(image.toCanvas()).data];`);
    expect(shown.filter((_, i) => i % 4 === 3)).toEqual(alpha);
    const opaque = images[2]?.rgba.map((value, i) => (alpha[i >> 2] === 255 ? value : 0));
    expect(shown).toEqual(opaque);
  });
});

describe('fromCanvas', () => {
  it('reads canvases of other contexts and colour spaces', async () => {
    const [shown, own, read] = await inPage<number[][]>(`
      const bitmap = Object.assign(document.createElement('canvas'), { width: ${width}, height: ${height} });
      const source = made(${JSON.stringify(images[2]?.data)}, 3).toCanvas();
      bitmap.getContext('bitmaprenderer').transferFromImageBitmap(source.transferToImageBitmap());
      const shown = RawImage.fromCanvas(bitmap);
      const wide = Object.assign(document.createElement('canvas'), { width: 2, height: 2 });
      const context = wide.getContext('2d', { colorSpace: 'display-p3' });
      context.fillStyle = 'rgb(100 50 20)';
      context.fillRect(0, 0, 2, 2);
      return [shown, RawImage.fromCanvas(wide), await RawImage.read(wide)].map(({ data }) => [...data]);`);
    expect(shown).toEqual(images[2]?.rgba);
    expect(own).toEqual(read);
  });

  it('and sizes that canvases do not have are typed errors', async () => {
    const codes = await inPage<string[]>(`
      const sized = (width, height) => Object.assign(document.createElement('canvas'), { width, height });
      const long = new RawImage(new Uint8Array(70000), 70000, 1); // Chromium's canvases end at 65535
      const works = [() => RawImage.fromCanvas(sized(0, 0)), () => RawImage.fromCanvas(sized(1e5, 1e5)),
        () => long.toCanvas(), () => long.toBlob()];
      return Promise.all(works.map((work) => codeOf(async () => work())));`);
    expect(codes).toEqual(['invalid_argument', 'invalid_argument', 'unsupported', 'unsupported']);
  });
});

describe('toBlob', () => {
  it.each(images)('writes a PNG of $channels channels without loss', async ({ channels, data, rgba }) => {
    const { type, bytes } = await inPage<{ type: string; bytes: number[] }>(`
      const blob = await made(${JSON.stringify(data)}, ${channels}).toBlob();
      return { type: blob.type, bytes: [...new Uint8Array(await blob.arrayBuffer())] };`);
    expect(type).toBe('image/png');
    expect([...(await sharp(Uint8Array.from(bytes)).ensureAlpha().raw().toBuffer())]).toEqual(rgba);
  });

  it('writes JPEG and WebP with a quality, and no other format under their names', async () => {
    const sizes = await inPage<[string, number][]>(`
      const image = await made(${JSON.stringify(images[2]?.data)}, 3).resize(160, 96);
      const blobs = [['image/jpeg', 1], ['image/jpeg', 0.1], ['image/webp', 1], ['image/webp', 0.1]];
      return Promise.all(blobs.map(async ([type, quality]) => {
        const blob = await image.toBlob(type, quality);
        const { width, height } = await RawImage.fromBlob(blob);
        return [[blob.type, width, height].join(' '), blob.size];
      }));`);
    expect(sizes.map(([kind]) => kind)).toEqual([
      'image/jpeg 160 96',
      'image/jpeg 160 96',
      'image/webp 160 96',
      'image/webp 160 96',
    ]);
    for (const i of [0, 2]) expect(sizes[i]?.[1]).toBeGreaterThan(2 * (sizes[i + 1]?.[1] ?? Number.NaN));
    const codes = await inPage<string[]>(`
      const image = made(${JSON.stringify(images[2]?.data)}, 3);
      return Promise.all(['image/tiff', 'image/gif', 'text/plain'].map((type) => codeOf(() => image.toBlob(type))));`);
    expect(codes).toEqual(['unsupported', 'unsupported', 'unsupported']);
  });
});

describe('save', () => {
  it.each([
    ['noise.png', 'noise.png', 'png'],
    ['pictures/noise.webp', 'noise.webp', 'webp'],
    ['C:\\pictures\\noise.JPG', 'noise.JPG', 'jpeg'],
    ['noise', 'noise', 'png'],
  ])('%s is downloaded as %s', async (path, name, format) => {
    const waiting = tab.waitForEvent('download');
    await inPage(`await made(${JSON.stringify(images[2]?.data)}, 3).save(${JSON.stringify(path)});`);
    const download = await waiting;
    const bytes = await readFile(await download.path());
    const picture = sharp(bytes);
    expect([download.suggestedFilename().replace(/\.png$/, ''), (await picture.metadata()).format]).toEqual([
      name.replace(/\.png$/, ''),
      format,
    ]);
    if (format === 'png') expect([...(await picture.ensureAlpha().raw().toBuffer())]).toEqual(images[2]?.rgba);
  });

  it('a format that is not written is refused, and nothing comes', async () => {
    const waiting = tab.waitForEvent('download', { timeout: 500 }).then(
      () => 'a file',
      () => 'nothing',
    );
    const code = await inPage<string>(
      `return codeOf(() => made(${JSON.stringify(images[2]?.data)}, 3).save('noise.gif'));`,
    );
    expect([code, await waiting]).toEqual(['unsupported', 'nothing']);
  });

  it('a worker is told what to do instead', async () => {
    const code = await inPage<string>(`
      const script = \`import { RawImage } from '\${location.origin}/dist/index.js';
        new RawImage(new Uint8Array(3), 1, 1, 3).save('x.png').then(() => postMessage('no error'), ({ code }) => postMessage(code));\`;
      const worker = new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })), { type: 'module' });
      return new Promise((done) => { worker.onmessage = ({ data }) => done(data); });`);
    expect(code).toBe('unsupported');
  });
});
