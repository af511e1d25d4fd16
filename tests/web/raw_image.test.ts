// RawImage: reading, changing and writing images, in Node.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ImageProcessor, load_audio, load_image, RawImage, Tensor } from 'clearformer';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { folderOf } from './support/command.js';
import { failureOf } from './support/failures.js';
import { png } from './support/media_files.js';
import { casesOf, fixturePath } from './support/references.js';

const colours = () =>
  new RawImage(
    Uint8Array.from({ length: 2 * 3 * 3 }, (_, i) => i * 10),
    3,
    2,
    3,
  );
const data = (image: RawImage) => Array.from(image.data);

describe('RawImage', () => {
  it('reads paths, URLs, data URLs and contents, as image processors do', async () => {
    const rgba = Uint8Array.from({ length: 16 }, (_, i) => (i % 4 === 3 ? 255 : i * 15));
    const file = png(rgba, 2, 2);
    const folder = mkdtempSync(join(tmpdir(), 'raw-image-'));
    try {
      const path = join(folder, 'small.png');
      await new RawImage(rgba, 2, 2, 4).save(path);
      const dataUrl = `data:image/png;base64,${Buffer.from(file).toString('base64')}`;
      const all = [path, pathToFileURL(path), pathToFileURL(path).href, dataUrl, new Blob([file as BlobPart]), file];
      for (const source of all) {
        const image = await RawImage.read(source);
        expect([image.size, data(image.rgba())]).toEqual([[2, 2], [...rgba]]);
      }
      expect(data(await RawImage.fromURL(dataUrl))).toEqual(
        data(await RawImage.fromBlob(new Blob([file as BlobPart]))),
      );
      expect(data((await load_image(path)).rgba())).toEqual([...rgba]);
    } finally {
      rmSync(folder, { recursive: true });
    }
    const own = colours();
    expect(await RawImage.read(own)).toBe(own);
    expect((await failureOf(() => RawImage.read('./there/is/none.png'))).code).toBe('file_not_found');
    expect((await failureOf(() => RawImage.read(5 as never))).code).toBe('invalid_argument');
  });

  it.each(['bmp', 'tiff', 'avif', 'svg', 'xyz', 'constructor'])('is not saved as .%s', async (ending) => {
    const folder = folderOf(undefined, {});
    const { code, message } = await failureOf(() => colours().save(join(folder, `own.${ending}`)));
    expect([code, message]).toEqual(['unsupported', expect.stringContaining(`image/${ending} is not written`)]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each([
    ['own', 'png'],
    ['own.PNG', 'png'],
    ['folder.webp/own', 'png'],
    ['own.jpg', 'jpeg'],
    ['own.jpeg', 'jpeg'],
    ['own.WebP', 'webp'],
    ['own.gif', 'gif'],
  ])('is saved as the extension of %s says', async (name, format) => {
    const folder = folderOf(undefined, { 'folder.webp/other': '' });
    await colours().save(join(folder, name));
    expect((await sharp(join(folder, name)).metadata()).format).toBe(format);
  });

  it('tells why it was not written', async () => {
    const folder = folderOf(undefined, {});
    for (const path of [join(folder, 'none', 'own.png'), `${folder}/`]) {
      const { code, message } = await failureOf(() => colours().save(path));
      expect([code, message]).toEqual([
        'invalid_argument',
        expect.stringMatching(/^RawImage.save: could not write \(E/),
      ]);
    }
  });

  it('becomes a tensor and comes back', async () => {
    const tensor = colours().toTensor();
    expect([tensor.type, tensor.dims]).toEqual(['uint8', [3, 2, 3]]);
    expect(Array.from(tensor.data).slice(0, 6)).toEqual([0, 30, 60, 90, 120, 150]);
    expect(data(RawImage.fromTensor(tensor))).toEqual(data(colours()));
    expect(data(RawImage.fromTensor(colours().toTensor('HWC'), 'HWC'))).toEqual(data(colours()));
    expect((await failureOf(() => RawImage.fromTensor(tensor.to('float32')))).code).toBe('dtype_mismatch');
    expect((await failureOf(() => RawImage.fromTensor(new Tensor('uint8', new Uint8Array(1), [1])))).code).toBe(
      'dtype_mismatch',
    );
    expect((await failureOf(() => colours().toTensor('NCHW' as 'CHW'))).code).toBe('unsupported');
  });

  it('changes its channels, itself', () => {
    const image = colours();
    expect(image.rgba()).toBe(image);
    expect(data(image).slice(0, 8)).toEqual([0, 10, 20, 255, 30, 40, 50, 255]);
    expect(data(image.rgb())).toEqual(data(colours()));
    expect(data(image.clone().grayscale())).toEqual(data(image.convert(1))); // ITU-R 601-2 in fixed point
    expect(data(image).slice(0, 2)).toEqual([8, 38]);
    const alpha = new RawImage(Uint8Array.of(1, 2, 3, 4, 5, 6), 3, 2, 1);
    expect(data(colours().putAlpha(alpha)).filter((_, i) => i % 4 === 3)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(colours().split().map(data)[1]).toEqual([10, 40, 70, 100, 130, 160]);
    const both = new RawImage(Uint8Array.of(9, 100), 1, 1, 2);
    expect(data(both.rgba())).toEqual([9, 9, 9, 100]);
  });

  it('has the channels of its data if none are named', async () => {
    const image = new RawImage(colours().data, 3, 2);
    expect([image.channels, image.toTensor().dims, data(image.clone())]).toEqual([3, [3, 2, 3], data(colours())]);
    expect((await image.resize(1, 1)).grayscale().data).toHaveLength(1);
  });

  it('is resized with the numbers of image processors, which are those of Pillow', async () => {
    const bytes = Uint8Array.from({ length: 7 * 5 * 3 }, (_, i) => (i * 37) % 256);
    for (const [resample, name] of [
      [0, 'nearest'],
      [1, 'lanczos'],
      [2, 'bilinear'],
      [3, 'bicubic'],
      [4, 'box'],
      [5, 'hamming'],
    ] as const) {
      const config = {
        image_processor_type: 'ViTImageProcessor',
        size: { height: 4, width: 9 },
        resample,
        do_rescale: false,
        do_normalize: false,
      };
      const { pixel_values } = await new ImageProcessor(config)(new RawImage(bytes, 7, 5, 3));
      const resized = await new RawImage(bytes, 7, 5, 3).resize(9, 4, { resample });
      expect(Array.from(resized.toTensor().data)).toEqual(Array.from(pixel_values.data));
      expect(data(await new RawImage(bytes, 7, 5, 3).resize(9, 4, { resample: name }))).toEqual(data(resized));
    }
    expect((await new RawImage(bytes, 7, 5, 3).resize(14, null)).size).toEqual([14, 10]);
    expect((await new RawImage(bytes, 7, 5, 3).resize(-1, 10)).size).toEqual([14, 10]);
  });

  it('is cropped and padded', async () => {
    const grey = () =>
      new RawImage(
        Uint8Array.from({ length: 12 }, (_, i) => i + 1),
        4,
        3,
        1,
      );
    expect(data(await grey().crop([1, 0, 2, 1]))).toEqual([2, 3, 6, 7]);
    expect((await grey().crop([-5, -5, 99, 99])).size).toEqual([4, 3]);
    expect(data(await grey().center_crop(2, 1))).toEqual([6, 7]);
    expect(data(await grey().center_crop(2, 5))).toEqual([0, 0, 2, 3, 6, 7, 10, 11, 0, 0]);
    const padded = await grey().pad([1, 0, 0, 1]);
    expect([padded.size, data(padded).slice(0, 5), data(padded).slice(-5)]).toEqual([
      [5, 4],
      [0, 1, 2, 3, 4],
      [0, 0, 0, 0, 0],
    ]);
  });

  it.each<[string, () => unknown, string]>([
    ['data of another size', () => new RawImage(new Uint8Array(5), 2, 1, 3), 'shape_mismatch'],
    ['floats', () => new RawImage(new Float32Array(1) as never, 1, 1, 1), 'dtype_mismatch'],
    ['another number of channels', () => colours().convert(2), 'invalid_argument'],
    ['a mask of another size', () => colours().putAlpha(colours()), 'shape_mismatch'],
    ['an unknown filter', () => colours().resize(1, 1, { resample: 'cubic' as 'bicubic' }), 'unsupported'],
    ['no pixels', () => colours().resize(0, 4), 'invalid_argument'],
    ['a part outside', () => colours().crop([5, 5, 9, 9]), 'invalid_argument'],
    ['a part between pixels', () => colours().crop([0.5, 0, 1.5, 1]), 'invalid_argument'],
    ['a box of texts', () => colours().crop(['0', 0, 1, 1] as unknown as [0, 0, 1, 1]), 'invalid_argument'],
    ['a box of five', () => colours().crop([0, 0, 1, 1, 1] as unknown as [0, 0, 1, 1]), 'invalid_argument'],
    ['a size as a text', () => colours().resize('4' as unknown as 4, 4), 'invalid_argument'],
    ['a size that is true', () => colours().resize(4, true as unknown as 4), 'invalid_argument'],
    ['negative padding', () => colours().pad([-1, 0, 0, 0]), 'invalid_argument'],
    ['a canvas in Node', () => colours().toCanvas(), 'unsupported'],
    ['a format that is not written', () => colours().toBlob('image/tiff'), 'unsupported'],
  ])('refuses %s', async (_name, call, code) => {
    expect((await failureOf(async () => call())).code).toBe(code);
  });

  it('says that Node has no canvas', () => {
    expect(() => colours().toCanvas()).toThrow('RawImage.toCanvas: there is no canvas here; use toTensor');
  });

  it('writes image files in Node', async () => {
    for (const type of ['image/png', 'image/webp', 'image/jpeg']) {
      const blob = await colours().toBlob(type, 0.9);
      expect([blob.type, (await RawImage.fromBlob(blob)).size]).toEqual([type, [3, 2]]);
    }
    expect(data((await RawImage.fromBlob(await colours().toBlob())).rgb())).toEqual(data(colours()));
  });
});

describe('load_audio', () => {
  it('reads files as read_audio does', async () => {
    const wave = Uint8Array.from([
      ...Buffer.from('RIFF'),
      40,
      0,
      0,
      0,
      ...Buffer.from('WAVEfmt '),
      16,
      0,
      0,
      0,
      1,
      0,
      1,
      0,
      0x80,
      0x3e,
      0,
      0,
      0,
      0x7d,
      0,
      0,
      2,
      0,
      16,
      0,
      ...Buffer.from('data'),
      4,
      0,
      0,
      0,
      0,
      0x40,
      0,
      0xc0,
    ]);
    expect(Array.from(await load_audio(wave, 16000))).toEqual([0.5, -0.5]);
    const url = `data:audio/wav;base64,${Buffer.from(wave).toString('base64')}`;
    expect(Array.from(await load_audio(url, 16000))).toEqual([0.5, -0.5]);
  });
});

describe('image files', () => {
  it('are named by the errors of their contents, as sounds are', async () => {
    const path = fixturePath('image_files/cases.json');
    const contents = readFileSync(path);
    const data = `data:,${'x'.repeat(300)}`;
    for (const read of [RawImage.read, load_audio]) {
      for (const [file, name] of [
        [path, path],
        [pathToFileURL(path), pathToFileURL(path).href],
        [new File([contents], 'picked.json'), 'picked.json'],
        [data, `${data.slice(0, 100)}…`],
      ] as const) {
        const { code, message, details } = await failureOf(() => read(file));
        expect([code, message]).toEqual([expect.stringMatching(/^(invalid_argument|unsupported)$/), expect.anything()]);
        expect([message.endsWith(`: ${name}`), details.where]).toEqual([true, name]);
      }
      expect((await failureOf(() => read(contents))).details.where).toBeUndefined();
    }
  });

  it('have one size whichever way they are read', async () => {
    for (const { file: _, name } of casesOf('image_files').slice(0, 3)) {
      const path = fixturePath(`image_files/${name}`);
      const [byPath, byContents] = [await RawImage.read(path), await RawImage.read(readFileSync(path))];
      expect([byPath.size, data(byPath)]).toEqual([byContents.size, data(byContents)]);
    }
  });
});
