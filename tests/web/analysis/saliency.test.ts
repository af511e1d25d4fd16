// Saliency of a translation and of an image against float64 autograd (tests/references/saliency.py), and the shapes of
// images.

import { fileURLToPath } from 'node:url';
import {
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForImageClassification,
  AutoModelForSeq2SeqLM,
  attributionPatching,
  edgeAttribution,
  integratedGradients,
  logitDifference,
  patchSaliency,
  Tensor,
  tokenSaliency,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from '../support/failures.js';
import { caseOf, expectClose, fixturePath, tensorsOf } from '../support/references.js';

const bundledPath = (name: string) =>
  fileURLToPath(new URL(`../../../web/demo/public/models/${name}`, import.meta.url));
const methods = ['gradient', 'gradient_x_input'] as const;

describe('saliency', () => {
  it('of each token of a translation', async () => {
    const one = caseOf('saliency', 'translation');
    const read = tensorsOf('saliency', one);
    const ids = (name: string) => Array.from(read(name).data as BigInt64Array, Number);
    const [source, written] = [ids('input_ids'), ids('written')];
    const model = await AutoModelForSeq2SeqLM.from_pretrained(bundledPath('marian-tiny-en-fr'), {
      deterministic: true,
    });
    const inputs = { input_ids: [source], decoder_input_ids: [written.slice(0, -1)] };
    for (const method of methods) {
      const rows: number[] = [];
      for (const [pos, token] of written.slice(1).entries()) {
        const found = await tokenSaliency(model, inputs, { method, metric: { logits: [{ pos, token }] } });
        rows.push(...found.data);
      }
      const wanted = read(method);
      expectClose(method, new Tensor('float32', Float32Array.from(rows), wanted.dims), wanted);
    }
    await model.dispose();
  });

  it('of each patch of a digit', async () => {
    const read = tensorsOf('saliency', caseOf('saliency', 'digit'));
    const { data, dims } = read('pixel_values');
    const model = await AutoModelForImageClassification.from_pretrained(bundledPath('vit-mnist'), {
      deterministic: true,
    });
    const pixel_values = new Tensor('float32', data as Float32Array, dims);
    const { logits } = await model({ pixel_values });
    const metric = { logits: [{ token: Number(logits.argmax().item()) }] };
    for (const method of methods) {
      const found = await patchSaliency(model, { pixel_values }, { method, metric });
      expectClose(method, found, read(method));
    }
    await model.dispose();
  });

  it('of each patch of an image that is no square, a tensor or nested arrays', async () => {
    await using model = await AutoModel.from_pretrained(fixturePath('models/vit/rectangle_base'));
    const { image_size, num_channels, patch_size } = model.config as Record<string, number[] | number>;
    const [height = 0, width = 0] = image_size as number[];
    const dims = [1, num_channels as number, height, width];
    const count = dims.reduce((product, extent) => product * extent, 1);
    const pixels = new Tensor(
      'float32',
      Float32Array.from({ length: count }, (_, at) => Math.sin(at)),
      dims,
    );
    const metric = { output: 'last_hidden_state', weights: Math.PI } as const;
    const found = await patchSaliency(model, { pixel_values: pixels }, { metric });
    const [high = 1, wide = high] = [patch_size].flat() as number[];
    expect(found.dims).toEqual([1, Math.floor(height / high), Math.floor(width / wide)]);
    const nested = await patchSaliency(model, { pixel_values: pixels.tolist() as number[][][][] }, { metric });
    expect(nested).toEqual(found);
    const heads = () => patchSaliency(model, { pixel_values: pixels }, { metric, hook: 'blocks.0.attn.hook_q' });
    expect(await failureOf(heads)).toMatchObject({
      code: 'shape_mismatch',
      message: expect.stringContaining('patches'),
    });
  });

  it('of the patches of two towers, whose first output are the logits of the images', async () => {
    await using model = await AutoModel.from_pretrained(fixturePath('models/clip/odd'));
    const { image_size, num_channels = 3 } = model.config.vision_config as Record<string, number>;
    const dims = [1, num_channels, Number(image_size), Number(image_size)];
    const count = dims.reduce((product, extent) => product * extent, 1);
    const data = Float32Array.from({ length: count }, (_, at) => Math.sin(at));
    const inputs = { input_ids: [Array.from({ length: 12 }, (_, at) => 3 + at)], pixel_values: { data, dims } };
    const metric = { output: 'logits_per_image', weights: [[1]] } as const;
    const found = await patchSaliency(model, inputs, { metric });
    expect(found).toEqual(await patchSaliency(model, inputs, { metric, hook: 'vision_model.hook_embed' }));
    const [first] = await model.run_with_cache(inputs, { names_filter: [] });
    expect(first).toEqual((await model(inputs)).logits_per_image);
  });
});

it('a metric of the logits is refused by the function it is given to', async () => {
  const model = await AutoModelForCausalLM.from_pretrained(fixturePath('models/gpt2/odd'), { worker: false });
  const [inputs, metric] = [{ input_ids: [[5, 6, 7]] }, logitDifference(1, 2) as never];
  const pair = { clean: inputs, corrupted: inputs, metric };
  for (const [name, call] of Object.entries({
    attributionPatching: () => attributionPatching(model, pair),
    edgeAttribution: () => edgeAttribution(model, pair),
    integratedGradients: () => integratedGradients(model, inputs, { metric }),
    tokenSaliency: () => tokenSaliency(model, inputs, { metric }),
  })) {
    const message = `${name}: metric is no term, as of logitDifferenceTerm`;
    expect(await failureOf(call)).toMatchObject({ code: 'invalid_argument', message });
  }
  await model.dispose();
});
