// Deep links of chapter 10.

import { softmax, type Tensor } from 'clearformer';
import type { Library, Subject } from './subject.js';

const sentence = 'She went to school.';
const encoder = 'bert-tiny-fill';

/** The encoder's three best tokens for a text's mask. */
async function filled(library: Library, text: string): Promise<number[]> {
  const tokenizer = await library.tokenizer(encoder);
  const inputs = tokenizer(text);
  const at = Array.from(inputs.input_ids.data, Number).indexOf(tokenizer.mask_token_id ?? -1);
  const { logits } = (await (await library.filler(encoder))(inputs)) as unknown as { logits: Tensor };
  const odds = await softmax(logits.slice(0, at));
  return Array.from(odds.data, Number)
    .sort((one, other) => other - one)
    .slice(0, 3);
}

const at = [[0], [1], [2]];

export const subjects: readonly Subject[] = [
  {
    subject: 'Encoder-only: fill a blank',
    address: 'kinds?step=4&w=1',
    source: 'softmax(bert-tiny-fill("She [MASK] to school.").logits[0, 2])',
    at,
    expected: (library) => filled(library, 'She [MASK] to school.'),
  },
  {
    subject: 'Encoder-only: both sides are read',
    address: 'kinds?step=5&w=1&alt=going+to+school.',
    source: 'softmax(bert-tiny-fill("She [MASK] going to school.").logits[0, 2])',
    at,
    expected: (library) => filled(library, 'She [MASK] going to school.'),
  },
  {
    subject: 'Decoder-only: the causal mask',
    address: 'kinds?step=1&l=0&h=0',
    source: 'blocks.0.attn.hook_pattern[0, 0, :, :]',
    at: [
      [0, 0],
      [3, 1],
      [9, 9],
    ],
    async expected(library) {
      const [, cache] = await (await library.stories()).run_with_cache((await library.tokenizer())(sentence), {
        names_filter: 'blocks.0.attn.hook_pattern',
      });
      const { data, dims } = (cache['blocks.0.attn.hook_pattern'] as Tensor).slice(0, 0);
      return [
        [0, 0],
        [3, 1],
        [9, 9],
      ].map(([row = 0, column = 0]) => Number(data[row * (dims[1] ?? 0) + column]));
    },
  },
  {
    subject: 'Encoder-decoder: cross-attention is not square',
    address: 'kinds?step=3&l=2&h=3',
    source: 'decoder.2.cross_attn.hook_pattern[0, 3, :, :]',
    at: [
      [0, 0],
      [1, 1],
      [2, 2],
    ],
    async expected(library) {
      const model = await library.translator();
      const { input_ids } = (await library.tokenizer('marian-tiny-en-fr'))(sentence);
      const written = await model.generate({ input_ids }, { num_beams: 4, do_sample: false, max_new_tokens: 63 });
      const decoder_input_ids = [Array.from(written.data, Number).slice(0, -1)];
      const [, cache] = await model.run_with_cache(
        { input_ids, decoder_input_ids },
        { names_filter: 'decoder.2.cross_attn.hook_pattern' },
      );
      const { data, dims } = (cache['decoder.2.cross_attn.hook_pattern'] as Tensor).slice(0, 3);
      return [0, 1, 2].map((i) => Number(data[i * (dims[1] ?? 0) + i]));
    },
  },
];
