// Saliency of a translation and of an image against float64 autograd (tests/references/saliency.py).

import { fileURLToPath } from 'node:url';
import {
  AutoModelForImageClassification,
  AutoModelForSeq2SeqLM,
  patchSaliency,
  Tensor,
  tokenSaliency,
} from 'clearformer';
import { describe, it } from 'vitest';
import { type Case, casesOf, expectClose, tensorsOf } from '../support/references.js';

const bundledPath = (name: string) =>
  fileURLToPath(new URL(`../../../web/demo/public/models/${name}`, import.meta.url));
const cases = casesOf('saliency');
const caseOf = (name: string) => cases.find((one) => one.name === name) as Case;
const methods = ['gradient', 'gradient_x_input'] as const;

describe('saliency', () => {
  it('of each token of a translation', async () => {
    const one = caseOf('translation');
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
    const read = tensorsOf('saliency', caseOf('digit'));
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
});
