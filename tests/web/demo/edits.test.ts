// Edits of the address as the package's edits.

import { Tensor } from 'clearformer';
import { expect, it } from 'vitest';
import { parseEdits, resolveEdits } from '../../../web/demo/book/edits.js';

const hook = 'blocks.0.attn.hook_z';
/** The row 1, 2, 3 of one head, which `zero` and `replace` change. */
const read = async (_: string, edits: readonly { op: string; value?: unknown }[]) => {
  const last = edits.at(-1);
  const row = last === undefined ? [1, 2, 3] : last.op === 'zero' ? [0, 0, 0] : (last.value as number[]);
  return new Tensor('float32', Float32Array.from(row), [1, 1, 1, 3]);
};
const resolved = (...texts: string[]) =>
  resolveEdits(parseEdits(texts.map((text) => `${hook}@h0@p0${text}`).join()), read);

it('elements of one row that are set become one edit', async () => {
  expect(await resolved('@i1:set=9', '@i2:set=30')).toMatchObject([{ op: 'replace', value: [1, 9, 30] }]);
});

it('an element that is set after another operation on its row comes after that', async () => {
  const edits = await resolved('@i1:set=9', ':zero', '@i2:set=30');
  expect(edits).toMatchObject([
    { op: 'replace', value: [1, 9, 3] },
    { op: 'zero' },
    { op: 'replace', value: [0, 0, 30] },
  ]);
});
