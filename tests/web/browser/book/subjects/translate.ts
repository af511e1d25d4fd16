// Deep links of chapter 9.

import { softmax, type Tensor } from 'clearformer';
import type { Library, Subject } from './subject.js';

const name = 'marian-tiny-en-fr';
const sentence = 'The cat is sleeping under the table.';

/** A forward pass over a text and its translation, continuing a forced prefix. */
async function pass(library: Library, hook: string, { text = sentence, forced = [] as number[], beams = 1 } = {}) {
  const model = await library.translator();
  const { input_ids } = (await library.tokenizer(name))(text);
  const begin = [[Number(model.cfg.decoder_start_token_id), ...forced]];
  const written = await model.generate(
    { input_ids, decoder_input_ids: begin },
    { num_beams: beams, do_sample: false, max_new_tokens: 63 - forced.length },
  );
  const ids = Array.from(written.data, Number).slice(0, -1);
  const [logits, cache] = await model.run_with_cache(
    { input_ids, decoder_input_ids: [ids] },
    { names_filter: hook as 'hook_embed' },
  );
  return { logits, hook: (cache as Record<string, Tensor>)[hook] as Tensor };
}

const cross = 'decoder.2.cross_attn.hook_pattern';

async function odds(library: Library, step: number, forced: number[] = []): Promise<number[]> {
  const { logits } = await pass(library, cross, { forced });
  const row = Array.from((await softmax(logits.slice(0, step))).data, Number);
  return row.sort((one, other) => other - one).slice(0, 3);
}

export const subjects: readonly Subject[] = [
  {
    subject: 'Cross-attention: one text reads the other',
    address: 'translate?step=4&l=2&h=3',
    source: `${cross}[0, 3, :, :]`,
    at: [
      [1, 1],
      [6, 7],
      [0, 0],
    ],
    expected: async (library) => {
      const { data, dims } = (await pass(library, cross)).hook.slice(0, 3);
      return [
        [1, 1],
        [6, 7],
        [0, 0],
      ].map(([row = 0, column = 0]) => Number(data[row * (dims[1] ?? 0) + column]));
    },
  },
  {
    subject: 'Cross-attention: Q of the decoder',
    address: 'translate?step=3&s=1&l=2&h=3',
    source: 'decoder.2.cross_attn.hook_q[0, 1, 3]',
    at: [
      [0, 0],
      [0, 7],
      [0, 31],
    ],
    expected: async (library) => {
      const row = (await pass(library, 'decoder.2.cross_attn.hook_q')).hook.slice(0, 1, 3);
      return [0, 7, 31].map((i) => Number(row.data[i]));
    },
  },
  {
    subject: 'Cross-attention: K of the encoder',
    address: 'translate?step=3&s=1&l=2&h=3',
    source: 'decoder.2.cross_attn.hook_k[0, :, 3]',
    at: [
      [0, 0],
      [1, 7],
      [9, 31],
    ],
    expected: async (library) => {
      const { hook } = await pass(library, 'decoder.2.cross_attn.hook_k');
      return [
        [0, 0],
        [1, 7],
        [9, 31],
      ].map(([pos = 0, i = 0]) => Number(hook.slice(0, pos, 3).data[i]));
    },
  },
  {
    subject: 'Encoder: what it leaves, once',
    address: 'translate?step=1&l=2&h=0',
    source: 'encoder.2.hook_normalized_resid_post[0, :]',
    at: [
      [0, 0],
      [4, 17],
      [9, 127],
    ],
    expected: async (library) => {
      const { hook } = await pass(library, 'encoder.2.hook_normalized_resid_post');
      return [
        [0, 0],
        [4, 17],
        [9, 127],
      ].map(([pos = 0, i = 0]) => Number(hook.slice(0, pos).data[i]));
    },
  },
  {
    subject: 'Decoder: the next token of a translation',
    address: 'translate?step=2&s=2',
    source: 'softmax(logits[0, 2])',
    at: [[0], [1], [2]],
    expected: (library) => odds(library, 2),
  },
  {
    subject: 'Decoder: a forced beginning',
    address: 'translate?step=5&f=507&s=2',
    source: 'softmax(logits[0, 2])',
    at: [[0], [1], [2]],
    expected: (library) => odds(library, 2, [507]),
  },
];
