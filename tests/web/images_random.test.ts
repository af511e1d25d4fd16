// Image processors with random options, in preprocessor_config.json and in a call, against transformers' on Pillow, bit
// for bit. With CLEARFORMER_IMAGE_CASES the folder of other cases that tests/references/images_random.py wrote.

import { describe, expect, it } from 'vitest';
import { AutoImageProcessor, type ImageProcessorCallOptions } from '../../web/src/image/image_processor.js';
import type { ImagePixels } from '../../web/src/image/pixels.js';
import { jsonFile } from './support/pipeline_cases.js';
import { type Case, casesOf, randomGroup, tensorsOf } from './support/references.js';

const group = randomGroup('images_random', 'CLEARFORMER_IMAGE_CASES');
const cases = casesOf(group);

function imagesOf(one: Case): ImagePixels[] {
  const reference = tensorsOf(group, one);
  return Object.keys(one.inputs).map((name) => {
    const { dims, data } = reference(name);
    const [height, width, channels] = dims as [number, number, 1 | 2 | 3 | 4];
    return { data: Uint8Array.from(data as Float32Array), width, height, channels };
  });
}

describe('random options of image processors mean what they mean in transformers', () => {
  it.each(cases)('$name', async (one) => {
    const { config, model_type, call } = one.options;
    const processor = await AutoImageProcessor.from_pretrained({
      'preprocessor_config.json': jsonFile(config),
      'config.json': jsonFile({ model_type }),
    });
    const { pixel_values } = await processor(imagesOf(one), call as ImageProcessorCallOptions);
    const wanted = tensorsOf(group, one)('pixel_values');
    expect(pixel_values.dims).toEqual(wanted.dims);
    const index = pixel_values.data.findIndex((value, i) => !Object.is(value, wanted.data[i]));
    expect([index, pixel_values.data[index], wanted.data[index]]).toEqual([-1, undefined, undefined]);
  });
});
