// Image processors with random options, in preprocessor_config.json and in a call, against transformers': on Pillow, bit for
// bit, and DINOv3's, which resizes floats, on torchvision. With CLEARFORMER_IMAGE_CASES and CLEARFORMER_DINOV3_CASES the
// folders of other cases that tests/references/images_random.py and images_dinov3.py wrote.

import { describe, expect, it } from 'vitest';
import { AutoImageProcessor, type ImageProcessorCallOptions } from '../../web/src/image/image_processor.js';
import type { ImagePixels } from '../../web/src/image/pixels.js';
import { jsonFile } from './support/pipeline_cases.js';
import { type Case, casesOf, expectClose, randomGroup, tensorsOf } from './support/references.js';

const groups = {
  Pillow: randomGroup('images_random', 'CLEARFORMER_IMAGE_CASES'),
  torchvision: randomGroup('images_dinov3', 'CLEARFORMER_DINOV3_CASES'),
};

function imagesOf(group: string, one: Case): ImagePixels[] {
  const reference = tensorsOf(group, one);
  return Object.keys(one.inputs).map((name) => {
    const { dims, data } = reference(name);
    const [height, width, channels] = dims as [number, number, 1 | 2 | 3 | 4];
    return { data: Uint8Array.from(data as Float32Array), width, height, channels };
  });
}

describe.each(Object.entries(groups))('random options of image processors mean what they mean on %s', (name, group) => {
  it.each(casesOf(group))('$name', async (one) => {
    const { config, model_type, call } = one.options;
    const processor = await AutoImageProcessor.from_pretrained({
      'preprocessor_config.json': jsonFile(config),
      'config.json': jsonFile({ model_type }),
    });
    const { pixel_values } = await processor(imagesOf(group, one), call as ImageProcessorCallOptions);
    const wanted = tensorsOf(group, one)('pixel_values');
    expect(pixel_values.dims).toEqual(wanted.dims);
    if (name !== 'Pillow') return expectClose('pixel_values', pixel_values, wanted);
    const index = pixel_values.data.findIndex((value, i) => !Object.is(value, wanted.data[i]));
    expect([index, pixel_values.data[index], wanted.data[index]]).toEqual([-1, undefined, undefined]);
  });
});
