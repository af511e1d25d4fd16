// web/examples/heat_map: the image contains the attention weights.

import { join } from 'node:path';
import { AutoModelForCausalLM, AutoTokenizer } from 'clearformer';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { modelFolder, Project } from './project.js';

it('draws every head of a layer', async () => {
  const project = await Project.create('heat_map');
  expect(await project.follow()).toContain('attention.png: 8 heads of layer 2 over <s> ▁Lily');
  const { data, info } = await sharp(join(project.folder, 'attention.png')).raw().toBuffer({ resolveWithObject: true });

  const source = modelFolder('stories260K');
  const inputs = (await AutoTokenizer.from_pretrained(source))('Lily went to the park and she saw a big dog.');
  const model = await AutoModelForCausalLM.from_pretrained(source);
  const { attentions = [] } = await model(inputs, { output_attentions: true });
  await model.dispose();
  const [, heads = 0, tokens = 0] = attentions[2]?.dims ?? [];
  expect([info.width, info.height]).toEqual([12 * (heads * (tokens + 1) - 1), 12 * tokens]);
  const wrong = Array.from(attentions[2]?.data ?? [], (weight, i) => {
    const [key, query, head] = [i % tokens, Math.floor(i / tokens) % tokens, Math.floor(i / tokens ** 2)];
    const [x, y] = [12 * (head * (tokens + 1) + key) + 6, 12 * query + 6];
    return Math.abs((data[(y * info.width + x) * info.channels] ?? 0) - 255 * (1 - weight));
  });
  expect(wrong).toHaveLength(heads * tokens ** 2);
  expect(Math.max(...wrong)).toBeLessThanOrEqual(0.51);
});
