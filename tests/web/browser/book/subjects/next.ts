// Deep links of chapter 0.

import { softmax, type Tensor } from 'clearformer';
import type { Library, Subject } from './subject.js';

async function odds(library: Library, text: string): Promise<Tensor> {
  const model = await library.stories();
  const { logits } = await model((await library.tokenizer())(text));
  return softmax(logits.slice(0, -1));
}

/** In descending order of probability. */
const likeliest = (row: Tensor): number[] => Array.from(row.data, Number).sort((a, b) => b - a);

export const subjects: readonly Subject[] = [
  {
    subject: 'Next token',
    address: 'next?t=Lily+went+to+the+park.',
    source: 'softmax(logits[0, -1])',
    at: [[0], [1], [7]],
    async expected(library) {
      const row = likeliest(await odds(library, 'Lily went to the park.'));
      return [0, 1, 7].map((i) => row[i] ?? 0);
    },
    tolerance: 1e-6, // the page's softmax is in double precision, the library's in single
  },
];
