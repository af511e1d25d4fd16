// Deep links of chapter 1.

import { matmul, rms_norm, Tensor } from 'clearformer';
import { fixturePath, readReferences } from '../../../support/references.js';
import type { Library, Subject } from './subject.js';

/** Numbers of a committed reference of PyTorch. */
function reference(file: string, name: string): { dims: number[]; data: ArrayLike<number> } {
  const found = readReferences(fixturePath(file)).get(name);
  if (!found) throw new Error(`no reference ${name} in ${file}`);
  return { dims: found.dims, data: Array.from(found.data as ArrayLike<number | bigint>, Number) };
}

const internals = 'stories260K/prompt_internals.safetensors';

/** hook_embed of every id of the story model: its table. */
async function table(library: Library): Promise<Tensor<'float32'>> {
  const model = await library.stories();
  const ids = Array.from({ length: model.cfg.d_vocab }, (_, id) => id);
  const [, cache] = await model.run_with_cache({ input_ids: [ids] }, { names_filter: 'hook_embed' });
  return cache.hook_embed.slice(0);
}

/** The cosine similarities of a row to its nearest neighbours, in descending order. */
async function nearest(library: Library, id: number): Promise<number[]> {
  const whole = await table(library);
  const [, d = 1] = whole.dims;
  const rows = await rms_norm(whole, d, { eps: 0 });
  const products = await matmul(rows, new Tensor('float32', rows.slice(id).data, [d, 1]));
  const others = Array.from(products.data, (product) => product / d).filter((_, other) => other !== id);
  return others.sort((a, b) => b - a);
}

const places = [0, 17, 63];

export const subjects: readonly Subject[] = [
  {
    subject: 'Tokens and ids',
    address: 'vectors?t=Once+upon+a+time',
    source: 'tokenizer("Once upon a time").input_ids, stories260K',
    at: [[0], [1], [2], [4]],
    async expected() {
      const { data } = reference(internals, 'input_ids');
      return [0, 1, 2, 4].map((at) => Number(data[at]));
    },
    reference: true,
  },
  {
    subject: 'The embedding: a row of the table',
    address: 'vectors?step=3&t=Once+upon+a+time&q=2',
    source: 'hook_embed[0, 2]',
    at: places.map((at) => [at]),
    async expected() {
      const { data, dims } = reference(internals, 'hook_embed');
      return places.map((at) => Number(data[2 * (dims[2] ?? 0) + at]));
    },
    reference: true,
    tolerance: 1e-6,
  },
  {
    subject: 'Neighbours in the table',
    address: 'vectors?step=4&id=358',
    source: 'matmul(rms_norm(model.embed_tokens.weight), rms_norm(model.embed_tokens.weight[358])ᵀ) / 64',
    at: [[0], [1], [7]],
    async expected(library) {
      const found = await nearest(library, 358);
      return [0, 1, 7].map((at) => found[at] ?? Number.NaN);
    },
    tolerance: 1e-6, // sums of 64 products of numbers about 1, divided by 64
  },
  {
    subject: 'Token + position',
    address: 'vectors?step=5&letters=CABBAC&q=2',
    source: 'hook_full_embed[0, 2]',
    at: [[0], [17], [47]],
    async expected(library) {
      const model = await library.writer('gpt-nano-sort');
      const names_filter = ['hook_embed', 'hook_pos_embed'] as const;
      const [, cache] = await model.run_with_cache(
        { input_ids: [[2, 0, 1, 1, 0, 2]] },
        { names_filter: [...names_filter] },
      );
      const at = (name: (typeof names_filter)[number], index: number): number =>
        Number(cache[name].slice(0, 2, index).item());
      return [0, 17, 47].map((index) => Math.fround(at('hook_embed', index) + at('hook_pos_embed', index)));
    },
  },
  {
    subject: 'Token + position of a translator: sinusoids',
    address: 'vectors?step=6&q=1',
    source: 'encoder.hook_pos_embed[0, 1]',
    at: [[0], [64], [2], [66]],
    async expected() {
      const { data } = reference('positions/positions.safetensors', 'sinusoidal_halves_d64.table');
      // Angles are 10000^(-2j / width): pair 2j of 128 columns is pair j of 64, of which row 1 is read.
      return [0, 32, 1, 33].map((at) => Number(data[64 + at]));
    },
    reference: true,
    tolerance: 1.2e-7, // twice the reference's own float32_error
  },
];
