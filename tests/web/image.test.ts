// Images against Pillow and transformers' image processors, bit for bit.

import { describe, expect, it } from 'vitest';
import { WhisperFeatureExtractor } from '../../web/src/audio/feature_extractor.js';
import { resizedTo } from '../../web/src/image/geometry.js';
import {
  AutoImageProcessor,
  ImageProcessor,
  type ImageProcessorCallOptions,
} from '../../web/src/image/image_processor.js';
import { checkedImage, type ImagePixels, type Pixels, withChannels } from '../../web/src/image/pixels.js';
import { RawImage } from '../../web/src/image/raw_image.js';
import { resize } from '../../web/src/image/resampling.js';
import { atOnce } from '../../web/src/support/steps.js';
import { Tensor } from '../../web/src/tensor/tensor.js';
import { type Case, casesOf, fixturePath, type Reference, readReferences } from './support/references.js';

const cases = casesOf('images');
const tensors = readReferences(fixturePath('images/images.safetensors'));
const ofOp = (op: string) => cases.filter((one) => one.op === op);

function reference(key: string | undefined): Reference {
  const found = tensors.get(key ?? '');
  if (found === undefined) throw new Error(`images has no tensor ${key}`);
  return found;
}

/** A stored image [height, width, channels]; `kind` converts it to bytes. */
function imageOf(
  key: string,
  kind: (data: Float32Array) => ImagePixels['data'] = (data) => Uint8Array.from(data),
): Pixels {
  const { dims, data } = reference(key);
  const [height, width, channels] = dims as [number, number, number];
  return { data: kind(data as Float32Array), width, height, channels };
}

const onlyImage = (one: Case) => imageOf(one.inputs.image_0 as string);

/** Checks that all elements are equal, and reports the first that is not. */
function expectSame(found: ArrayLike<number>, wanted: Reference): void {
  expect(found.length).toBe(wanted.data.length);
  const index = Array.from(wanted.data as Float32Array).findIndex((value, i) => !Object.is(found[i], value));
  const report = `[${index}] is ${found[index]}, wanted ${wanted.data[index]}`;
  expect(index, report).toBe(-1);
}

const codeOf = async (work: () => unknown): Promise<{ code: string; message: string }> =>
  (async () => work())().then(
    () => ({ code: 'no error', message: '' }),
    (error) => error,
  );

describe('resampling', () => {
  it.each(ofOp('resize'))('$name', (one) => {
    const { width, height, resample } = one.options as { width: number; height: number; resample: number };
    const found = atOnce(resize(onlyImage(one), width, height, resample));
    expect([found.height, found.width, found.channels]).toEqual(reference(one.outputs.resized).dims);
    expectSame(found.data, reference(one.outputs.resized));
  });

  it.each(ofOp('resize_with_alpha'))('$name', async (one) => {
    const { width, height, resample } = one.options as { width: number; height: number; resample: 0 };
    const { data, ...image } = onlyImage(one);
    const found = new RawImage(data as Uint8Array, image.width, image.height, image.channels as 2 | 4);
    expect((await found.resize(width, height, { resample })).channels).toBe(image.channels);
    expectSame(found.data, reference(one.outputs.resized));
  });

  it('keeps flat images flat, whatever the filter', () => {
    const flat: Pixels = { data: new Uint8Array(13 * 11).fill(200), width: 13, height: 11, channels: 1 };
    for (let resample = 0; resample < 6; resample++) {
      for (const [width, height] of [
        [4, 29],
        [100, 3],
      ] as const) {
        expect(new Set(atOnce(resize(flat, width, height, resample)).data)).toEqual(new Set([200]));
      }
    }
  });
});

it.each(ofOp('convert'))('converts $name', (one) => {
  const found = atOnce(withChannels(onlyImage(one), one.options.channels as 1 | 3));
  expectSame(found.data, reference(one.outputs.converted));
});

/** The processor of a case, loaded from its files. */
function processorOf(one: Case): Promise<ImageProcessor> {
  const { config, model_type } = one.options;
  const text = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  return AutoImageProcessor.from_pretrained({
    'preprocessor_config.json': text(config),
    'config.json': text({ model_type }),
  });
}

describe('image processors', () => {
  it.each(ofOp('image_processor'))('$name', async (one) => {
    const processor = await processorOf(one);
    const kind = one.name.startsWith('float') ? (data: Float32Array) => data : undefined;
    const images = Object.values(one.inputs).map((key) => imageOf(key, kind) as ImagePixels);
    const { pixel_values } = await processor(images);
    expect(pixel_values.dims).toEqual(reference(one.outputs.pixel_values).dims);
    expectSame(pixel_values.data, reference(one.outputs.pixel_values));
    if (one.outputs.resized === undefined) return;
    const whole = await processor(images, { do_rescale: false, do_normalize: false });
    expectSame(whole.pixel_values.data, reference(one.outputs.resized));
    const alone = await processor(images[0] as ImagePixels);
    expect(alone.pixel_values.data).toEqual(pixel_values.data.slice(0, alone.pixel_values.size));
  });

  const digits = {
    image_processor_type: 'ViTImageProcessor',
    do_resize: true,
    size: { height: 28, width: 28 },
    resample: 2,
    do_rescale: true,
    rescale_factor: 1 / 255,
    do_normalize: true,
    image_mean: [0.5],
    image_std: [0.5],
    do_convert_rgb: false,
  };

  it('makes one grey channel of what a canvas gives', async () => {
    const processor = new ImageProcessor(digits);
    expect(processor.image_processor).toBe(processor); // as a pipeline's in transformers.js
    const [width, height] = [60, 56];
    const grey = Uint8Array.from({ length: width * height }, (_, i) => (i * 7919) % 256);
    const rgba = Uint8ClampedArray.from({ length: grey.length * 4 }, (_, i) =>
      i % 4 === 3 ? 255 : (grey[i >> 2] as number),
    );
    const fromCanvas = await processor({ data: rgba, width, height } as ImageData);
    const fromGrey = await processor({ data: grey, width, height });
    expect(fromCanvas.pixel_values.dims).toEqual([1, 1, 28, 28]);
    expect(fromCanvas.pixel_values.data).toEqual(fromGrey.pixel_values.data);
    const [black] = (await processor({ data: new Uint8Array(100), width: 10, height: 10 })).pixel_values.data;
    const [white] = (await processor({ data: new Uint8Array(100).fill(255), width: 10, height: 10 })).pixel_values.data;
    expect([black, white]).toEqual([-1, 1]);
  });

  it('reads the part of processor_config.json that transformers 5 writes, before the older file', async () => {
    const text = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
    const old = text({ ...digits, size: { height: 5, width: 5 } });
    const image = { data: new Uint8Array(16), width: 4, height: 4 };
    const both = { 'processor_config.json': text({ image_processor: digits }), 'preprocessor_config.json': old };
    const rows = async (files: Record<string, Uint8Array>) =>
      (await (await AutoImageProcessor.from_pretrained(files))(image)).pixel_values.dims[2];
    expect(await rows(both)).toBe(28);
    expect(
      await rows({ 'processor_config.json': text({ processor_class: 'X' }), 'preprocessor_config.json': old }),
    ).toBe(5);
    const missing = await codeOf(() => AutoImageProcessor.from_pretrained({ 'config.json': text({}) }));
    expect(missing.code).toBe('file_not_found');
  });

  it('refuses by name what it does not know', () => {
    const failure = (config: Record<string, unknown>) => codeOf(() => new ImageProcessor({ ...digits, ...config }));
    return Promise.all(
      (
        [
          [{ image_processor_type: 'SamImageProcessor' }, 'unsupported', 'SamImageProcessor'],
          ...['toString', 'constructor', '__proto__'].map(
            (type) => [{ image_processor_type: type }, 'unsupported', type] as const,
          ),
          [{ image_processor_type: undefined }, 'unsupported', 'image_processor_type none'],
          [{ do_pad: true }, 'unsupported', "'do_pad'"],
          [{ size_divisor: 32 }, 'unsupported', "'size_divisor'"],
          [{ data_format: 'channels_last' }, 'unsupported', "'data_format'"],
          [{ resample: 6 }, 'malformed_config', 'resample'],
          [{ size: { height: 3 } }, 'malformed_config', 'size must be'],
          [{ size: 0 }, 'malformed_config', 'size must be'],
          [{ size: [1.5, 2] }, 'malformed_config', 'size must be'],
          [{ do_resize: 1 }, 'malformed_config', 'do_resize must be true or false'],
          [{ do_center_crop: true }, 'malformed_config', 'crop_size'],
          [{ do_center_crop: true, crop_size: { shortest_edge: 3 } }, 'malformed_config', 'crop_size'],
          [{ image_std: [0] }, 'malformed_config', 'image_std'],
          [{ image_mean: [0.5, 0.5] }, 'malformed_config', 'image_mean'],
          [{ rescale_factor: '1/255' }, 'malformed_config', 'rescale_factor'],
        ] as const
      ).map(async ([config, code, part]) => {
        const { code: found, message } = await failure(config);
        expect([found, message]).toEqual([code, expect.stringContaining(part)]);
      }),
    );
  });

  it('takes the contents of a file and its name, and nothing else', async () => {
    const wrong = [
      [{ ...digits, foo: 1 }, {}],
      [digits, null],
      [[], 'x'],
    ];
    for (const Made of [ImageProcessor, WhisperFeatureExtractor]) {
      for (const given of wrong) {
        const { code, message } = await codeOf(() => new Made(...(given as [Record<string, unknown>, string])));
        expect([code, message]).toEqual(['invalid_argument', expect.stringMatching(`^${Made.name}: needs the [^[]*$`)]);
      }
    }
    const failure = await codeOf(() =>
      new ImageProcessor(digits)(new RawImage(new Uint8Array(3), 1, 1), { num_channels: {} as 1 }),
    );
    expect(failure.message).toContain('num_channels must be 1 or 3, it is an object');
  });

  it('refuses what is no image, and batches that do not fit', async () => {
    const processor = new ImageProcessor({ ...digits, do_resize: false });
    const one = { data: new Uint8Array(12), width: 4, height: 3 };
    for (const [image, options, code] of [
      [[], undefined, 'invalid_argument'],
      ['cat.png', undefined, 'file_not_found'],
      [null, undefined, 'invalid_argument'],
      [{ ...one, data: [1, 2] }, undefined, 'invalid_argument'],
      [{ ...one, width: 0 }, undefined, 'invalid_argument'],
      [{ ...one, width: 5 }, undefined, 'shape_mismatch'],
      [{ ...one, channels: 3 }, undefined, 'shape_mismatch'],
      [[one, { ...one, width: 3, height: 4 }], undefined, 'shape_mismatch'],
      [one, { sise: 3 }, 'unsupported'],
      [one, { num_channels: 2 }, 'invalid_argument'],
      [one, { num_channels: 3 }, 'invalid_argument'],
      [one, { resample: 9, do_resize: true }, 'invalid_argument'],
      [{ ...one, data: new Float32Array(12).fill(1.5) }, { do_resize: true }, 'invalid_argument'],
      [{ ...one, data: new Float32Array(12).fill(-1) }, { do_resize: true }, 'invalid_argument'],
      [new Blob(['x']), undefined, 'invalid_argument'],
    ] as const) {
      const failure = await codeOf(() => processor(image as never, options as ImageProcessorCallOptions | undefined));
      expect([JSON.stringify(image), failure.code]).toEqual([JSON.stringify(image), code]);
    }
    expect((await processor(one, { num_channels: 3, do_normalize: false })).pixel_values.dims).toEqual([1, 3, 3, 4]);
  });
});

// As transformers' to_pil_image: integer-valued floats are bytes, even if all are zeros and ones.
it('takes float pixels that are all 0 or 1 for bytes, and others between them for parts of 1', async () => {
  const processor = new ImageProcessor({
    image_processor_type: 'ViTImageProcessor',
    size: { height: 6, width: 8 },
    do_normalize: false,
  });
  const whole = Array.from({ length: 12 }, (_, i) => i % 2);
  const of = async (data: Uint8Array | Float32Array) =>
    (await processor({ data, width: 4, height: 3 })).pixel_values.data;
  expect(await of(Float32Array.from(whole))).toEqual(await of(Uint8Array.from(whole)));
  const unit = await of(Float32Array.from(whole, (value) => value * 0.999));
  expect(new Set(unit).size).toBeGreaterThan(2); // between the pixels: not rounded to a byte of 0 or 1
});

it('knows every spelling of a size', () => {
  expect(resizedTo({ longest_edge: 10 }, 20, 50)).toEqual([4, 10]);
  expect(resizedTo({ shortest_edge: 10, longest_edge: 21 }, 20, 50)).toEqual([8, 21]);
  // 25 · 10 / 20 = 12.5: Python rounds half to even.
  expect(resizedTo({ shortest_edge: 20, longest_edge: 25 }, 10, 20)).toEqual([12, 25]);
  expect(checkedImage('test', { data: new Uint8Array(6), width: 1, height: 2 }).channels).toBe(3);
  const tensor = new Tensor('uint8', new Uint8Array(6), [3, 1, 2]);
  expect(() => checkedImage('test', tensor)).toThrow('RawImage.fromTensor');
});
