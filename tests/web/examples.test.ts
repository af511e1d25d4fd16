// The example pages: their code runs and prints what they say; the tables of ONNX operators are complete.

import { describe, expect, it } from 'vitest';
import { blocksOf, pageText, printed } from './support/pages.js';
import { casesOf } from './support/references.js';

describe.each([
  'attention.md',
  'from_transformers_js.md',
  'gradients.md',
  'loading.md',
  'models.md',
  'onnx.md',
  'probing.md',
  'saliency.md',
  'seeing.md',
  'editing.md',
  'sweeps.md',
  'threads.md',
  'weights.md',
  'training.md',
])('%s', (name) => {
  it('prints what it says', async () => {
    const blocks = blocksOf(pageText(name));
    const found = await printed(blocks);
    expect(found).toEqual(blocks.map(({ output }) => output));
    expect(blocks.length).toBeGreaterThanOrEqual(5);
  });
});

describe('onnx.md', () => {
  const sections = new Map(
    pageText('onnx.md')
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.slice(0, section.indexOf('\n')), section]),
  );
  const cases = casesOf('onnx_operators');

  it.each([...new Set(cases.map(({ op }) => op))])('names every input, output and attribute of %s', (op) => {
    const rows = (sections.get(op) ?? '').split('\n').filter((line) => line.startsWith('|'));
    const left = rows.map((row) => row.split('|')[1] ?? '').join();
    for (const { inputs, outputs, options } of cases.filter((one) => one.op === op)) {
      for (const name of [...Object.keys(inputs), ...Object.keys(outputs), ...Object.keys(options)]) {
        expect(left).toContain(`\`${name.replace(/_boolean$/, '')}\``);
      }
    }
  });
});
