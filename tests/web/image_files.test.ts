// Image files in Node, by path, URL and contents, against the pixels of transformers' load_image.

import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { AutoImageProcessor, type ImageInput, type ImageProcessor, RawImage } from 'clearformer';
import { beforeAll, describe, expect, test } from 'vitest';

import { casesOf, fixturePath, tensorsOf } from './support/references.js';
import { FileServer } from './support/server.js';

const folder = 'image_files';
const pathOf = (name: string) => fixturePath(`${folder}/${name}`);

/** Returns the pixels unchanged: no resizing, no scaling. */
let plain: ImageProcessor;
beforeAll(async () => {
  const config = {
    do_resize: false,
    do_rescale: false,
    do_normalize: false,
    image_processor_type: 'ViTImageProcessor',
  };
  const files = { 'preprocessor_config.json': new TextEncoder().encode(JSON.stringify(config)) };
  plain = await AutoImageProcessor.from_pretrained(files);
});

/** [height, width, 3] as one array. */
async function pixelsOf(image: ImageInput): Promise<{ dims: number[]; data: number[] }> {
  const { pixel_values } = await plain([image]); // [1, 3, height, width]
  const [, channels = 0, height = 0, width = 0] = pixel_values.dims;
  const area = height * width;
  const data = Array.from({ length: area * channels }, (_, i) => {
    return pixel_values.data[(i % channels) * area + Math.floor(i / channels)] as number;
  });
  return { dims: [height, width, channels], data };
}

describe('files of every kind have the pixels of Pillow', () => {
  for (const one of casesOf(folder)) {
    test(one.name, async () => {
      const wanted = tensorsOf(folder, one)('rgb');
      const found = await pixelsOf(pathOf(one.name));
      expect(found.dims).toEqual(wanted.dims);
      const differences = found.data.map((value, i) => Math.abs(value - Number(wanted.data[i])));
      // JPEG's inverse transform and chroma upsampling may round differently, by 1 each.
      expect(Math.max(...differences)).toBeLessThanOrEqual(one.options.exact ? 0 : 2);
    });
  }
});

test('a JPEG with more bytes before a marker is read as by Pillow, which decoders only warn of; a cut one is not', async () => {
  const bytes = readFileSync(pathOf('RGB.jpg'));
  const scan = bytes.indexOf(Buffer.from([0xff, 0xda]));
  const more = Buffer.concat([bytes.subarray(0, scan), Buffer.from([0, 1, 2]), bytes.subarray(scan)]);
  expect(await pixelsOf(new Uint8Array(more))).toEqual(await pixelsOf(new Uint8Array(bytes)));
  for (const left of [3, 10, 200]) {
    const cut = new Uint8Array(bytes.subarray(0, bytes.length - left));
    await expect(plain([cut])).rejects.toMatchObject({ code: 'invalid_argument' });
  }
});

test.each([
  [640, 480],
  [800, 600],
  [30, 2049],
])('a GIF of %i x %i whose first frame is smaller has that size', async (width, height) => {
  const bytes = readFileSync(pathOf('small_frame.gif'));
  const small = await RawImage.read(bytes);
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  const whole = await RawImage.read(bytes);
  expect(whole.size).toEqual([width, height]);
  const around = small.data.slice(0, small.channels);
  const edge = whole.data.slice(-whole.channels);
  expect(edge).toEqual(around);
  const corner = await whole.crop([0, 0, small.width - 1, small.height - 1]);
  expect([...corner.data]).toEqual([...small.data]);
});

test('a path, a file URL, a web URL, a Blob and the contents are the same image', async () => {
  const path = pathOf('RGBA.png');
  const contents = readFileSync(path);
  const bytes = new Uint8Array(contents);
  const server = await FileServer.start({ 'RGBA.png': bytes });
  try {
    const url = new URL('RGBA.png', server.url);
    const web = [url, url.href, `data:image/png;base64,${contents.toString('base64')}`];
    const wanted = await pixelsOf(path);
    const same = [
      pathToFileURL(path),
      pathToFileURL(path).href,
      ...web,
      new Blob([bytes]),
      contents,
      bytes,
      bytes.buffer,
    ];
    for (const image of same) expect(await pixelsOf(image as ImageInput)).toEqual(wanted);
  } finally {
    await server.stop();
  }
});

function transferred(bytes: Uint8Array): Uint8Array {
  structuredClone(bytes.buffer, { transfer: [bytes.buffer as ArrayBuffer] });
  return bytes;
}

describe('what is no image is refused by name', () => {
  const cases: [string, ImageInput, object][] = [
    [
      'a path that is not there',
      pathOf('none.png'),
      { code: 'file_not_found', message: expect.stringMatching('none.png') },
    ],
    ['a folder', fixturePath(folder), { code: 'file_not_found' }],
    [
      'a text file',
      pathOf('cases.json'),
      { code: 'invalid_argument', message: expect.stringMatching('cannot be read') },
    ],
    ['nothing', new Uint8Array(0), { code: 'invalid_argument' }],
    ['memory that was transferred', transferred(new Uint8Array(9)), { code: 'file_not_found' }],
    ['half a file', readFileSync(pathOf('RGB.png')).subarray(0, 400), { code: 'invalid_argument' }],
    ['half an animation', readFileSync(pathOf('animated.gif')).subarray(0, 30), { code: 'invalid_argument' }],
    [
      'a drawing',
      new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'),
      { code: 'unsupported', message: expect.stringMatching('svg.*png, jpeg, webp, gif') },
    ],
    ...(['bmp', 'ico'] as const).map((format): [string, ImageInput, object] => [
      `a file of format ${format}`,
      Uint8Array.of(...(format === 'bmp' ? [0x42, 0x4d] : [0, 0, 1, 0]), ...new Array(60).fill(1)),
      { code: 'unsupported', message: expect.stringMatching(`${format}.*png, jpeg, webp, gif`) },
    ]),
    [
      'a file of an unknown format',
      new Uint8Array(60).fill(7),
      { code: 'invalid_argument', message: expect.stringMatching('png, jpeg, webp, gif') },
    ],
    ['a scheme that is none', 'ftp://127.0.0.1/a.png', { code: 'network_error' }],
  ];
  for (const [what, image, error] of cases) {
    test(what, () => expect(plain([image])).rejects.toMatchObject(error));
  }
});

test('a URL that gives nothing names its status', async () => {
  const server = await FileServer.start({});
  const where = new URL('none.png', server.url).href;
  await expect(plain([where])).rejects.toMatchObject({ code: 'file_not_found', details: { where, status: 404 } });
  await server.stop();
  await expect(plain([where])).rejects.toMatchObject({ code: 'network_error', details: { where } });
});
