// The cost of captures: the layers of GPT-2 over a prompt, with and without captures. The output layer, which is not
// captured and would take a third of the time, is omitted.

import { shapes } from '../models/shapes.js';
import type { Contender, Item, Setting } from '../types.js';
import { ours } from './contenders.js';

const capturedNames = { patterns: 'blocks.*.attn.hook_pattern', residuals: 'blocks.*.hook_resid_post' };

/** One model per build, which runs without captures and then with each kind of capture. */
function contenders(setting: Setting): Contender[] {
  const input = { length: 128, vocabulary: shapes.gpt2.vocabulary };
  return ours({ task: 'watch', model: 'gpt2', input, dtypes: ['fp32'] }, setting).flatMap((plain) => {
    const spec = { ...plain.spec, share: `see-through ${plain.variant}` };
    const watched = Object.entries(capturedNames).map(([captured, names]) => {
      const watching = { ...spec, input: { ...input, names } };
      return { ...plain, name: `${plain.name}, all ${captured}`, captured, spec: watching };
    });
    return [{ ...plain, spec }, ...watched];
  });
}

export const seeThroughItems: readonly Item[] = [
  {
    id: 'see-through',
    part: 'see-through',
    title: 'GPT-2, 128 tokens, capturing',
    engines: ['chromium', 'node'],
    contenders,
  },
];
