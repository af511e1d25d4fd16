// Deep links of chapter 8.

import { logitAttribution, logitLens, softmax } from 'clearformer';
import { fixturePath, readReferences } from '../../../support/references.js';
import type { Library, Subject } from './subject.js';

const text = 'Once upon a time';
const once = 't=Once+upon+a+time';
/** PyTorch's logits after the prompt, [vocabulary]. */
const logits = (): Float32Array => {
  const found = readReferences(fixturePath('stories260K/prompt.safetensors')).get('logits');
  if (!(found?.data instanceof Float32Array)) throw new Error('no reference logits');
  return found.data.slice(-512);
};
const descending = (row: ArrayLike<number>): number[] => Array.from(row).sort((a, b) => b - a);
const inputs = async (library: Library) => (await library.tokenizer())(text);

/** The tokens that remain after the sampling filters, most probable first. */
async function sampled(
  library: Library,
  settings: { temperature: number; top_k: number; top_p: number },
): Promise<number[]> {
  const options = { ...settings, do_sample: true, max_new_tokens: 1, output_scores: true } as const;
  const out = await (await library.stories()).generate(await inputs(library), {
    ...options,
    return_dict_in_generate: true,
  });
  const [scores] = out.scores ?? [];
  if (!scores) throw new Error('no scores');
  return descending((await softmax(scores.slice(0))).data);
}

export const subjects: readonly Subject[] = [
  {
    subject: 'Output layer: logits',
    address: `saying?${once}`,
    source: 'logits[0, -1]',
    at: [
      [0, 0],
      [0, 1],
      [0, 100],
      [0, 511],
    ],
    async expected() {
      const sorted = descending(logits());
      return [0, 1, 100, 511].map((i) => sorted[i] ?? Number.NaN);
    },
    reference: true,
    tolerance: 6e-5, // ten times float32_error of the reference
  },
  {
    subject: 'Output layer: logits by token',
    address: `saying?${once}&sort=id`,
    source: 'logits[0, -1]',
    at: [
      [0, 3],
      [0, 338],
      [0, 511],
    ],
    async expected() {
      const row = logits();
      return [3, 338, 511].map((id) => row[id] ?? Number.NaN);
    },
    reference: true,
    tolerance: 6e-5,
  },
  {
    subject: 'Temperature, top-k, top-p',
    address: `saying?${once}&temp=0.8&k=20&p=0.9`,
    source: 'softmax(generate({ output_scores }).scores[0])',
    at: [
      [3, 0],
      [3, 1],
      [3, 30],
      [2, 0],
    ],
    async expected(library) {
      const all = await sampled(library, { temperature: 0.8, top_k: 20, top_p: 0.9 });
      const k = await sampled(library, { temperature: 0.8, top_k: 20, top_p: 1 });
      return [all[0] ?? 0, all[1] ?? 0, all[30] ?? 0, k[0] ?? 0];
    },
    tolerance: 1e-6,
  },
  {
    subject: 'Logit lens',
    address: `saying?${once}&view=lens`,
    source: 'max(softmax(logitLens(model, inputs)))',
    at: [
      [0, 0],
      [3, 2],
      [5, 4],
    ],
    async expected(library) {
      const odds = await softmax(await logitLens(await library.stories(), await inputs(library)));
      const most = (layer: number, pos: number): number => Math.max(...odds.slice(layer, 0, pos).data);
      return [most(0, 0), most(3, 2), most(5, 4)];
    },
    tolerance: 1e-5,
  },
  {
    subject: 'Logit attribution',
    address: 'saying?view=who',
    source: 'logitAttribution(model, inputs, { tokens: 338, incorrect_tokens: 359 }).contributions',
    at: [
      [4, 2],
      [0, 0],
      [3, 1],
    ],
    async expected(library) {
      const lily = (await library.tokenizer())('Lily went to the park.');
      const choice = { tokens: 338, incorrect_tokens: 359 };
      const { labels, contributions } = await logitAttribution(await library.stories(), lily, choice);
      return ['L4H2', 'L0H0', 'L3H1'].map((label) => contributions.data[labels.indexOf(label)] ?? Number.NaN);
    },
    tolerance: 1e-4,
  },
  {
    subject: 'Beam search',
    address: `saying?${once}&view=beams`,
    source: 'generate_stream({ num_beams: 3 }).beam_scores',
    at: [
      [0, 0],
      [2, 1],
      [5, 2],
    ],
    async expected(library) {
      const found: number[][] = [];
      const options = { num_beams: 3, do_sample: false, max_new_tokens: 7 };
      for await (const { beam_scores } of (await library.stories()).generate_stream(await inputs(library), options)) {
        found.push(beam_scores ?? []);
      }
      return [found[0]?.[0] ?? 0, found[2]?.[1] ?? 0, found[5]?.[2] ?? 0];
    },
    tolerance: 1e-4,
  },
];
