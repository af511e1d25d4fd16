// Deep links of chapter 13: the interpretability features.

import {
  ablateHeads,
  detectHeads,
  logitAttribution,
  logitDifference,
  logitLens,
  type ModelInputs,
  patchActivations,
  softmax,
  type Tensor,
} from 'clearformer';
import type { Library, Subject } from './subject.js';

const text = 'Lily went to the park.';
const link = (view: string, more = ''): string => `laboratory?t=Lily+went+to+the+park.&view=${view}${more}`;
// The page may run another build than Node (relaxed SIMD fuses products and sums): logits differ by some ulps of
// float32.
const tolerance = 2e-4;

async function inputsOf(library: Library, sentence = text): Promise<ModelInputs> {
  return (await library.tokenizer())(sentence);
}

/** The two most probable tokens, which the laboratory compares. */
async function likeliest(library: Library): Promise<[number, number]> {
  const { logits } = await (await library.stories())(await inputsOf(library));
  const row = Array.from(logits.slice(0, -1).data);
  const order = row.map((_, id) => id).sort((a, b) => (row[b] ?? 0) - (row[a] ?? 0));
  return [order[0] ?? 0, order[1] ?? 0];
}

const pick = (tensor: Tensor<'float32'>, places: readonly (readonly number[])[]): number[] =>
  places.map((place) => tensor.slice(...place).item());

const grid = [
  [0, 0],
  [2, 4],
  [4, 7],
];

export const subjects: readonly Subject[] = [
  {
    subject: 'Hooks: any activation by its name',
    address: link('hook', '&hook=blocks.3.attn.hook_pattern&h=5'),
    source: 'blocks.3.attn.hook_pattern[0, 5, :, :]',
    at: [
      [1, 0],
      [5, 2],
      [9, 9],
    ],
    async expected(library) {
      const [, cache] = await (await library.stories()).run_with_cache(await inputsOf(library), {
        names_filter: 'blocks.3.attn.hook_pattern',
      });
      return pick((cache['blocks.3.attn.hook_pattern'] as Tensor<'float32'>).slice(0, 5), this.at);
    },
    tolerance,
  },
  {
    subject: 'Edits: what they change downstream',
    address: link('hook', '&hook=blocks.4.hook_resid_post&edit=blocks.0.attn.hook_z:zero'),
    source: 'blocks.4.hook_resid_post[0, :, :]',
    at: [
      [1, 0],
      [5, 20],
      [9, 63],
    ],
    async expected(library) {
      const edits = [{ hook: 'blocks.0.attn.hook_z', op: 'zero' }] as const;
      const [, cache] = await (await library.stories()).run_with_cache(await inputsOf(library), {
        edits,
        names_filter: 'blocks.4.hook_resid_post',
      });
      return pick((cache['blocks.4.hook_resid_post'] as Tensor<'float32'>).slice(0), this.at);
    },
    tolerance,
  },
  {
    subject: 'Edits in generation and in the odds',
    address: link('edit', '&edit=blocks.0.attn.hook_z:zero'),
    source: 'softmax(run_with_hooks(inputs, { edits })[0, -1])',
    at: [[0], [1], [5]],
    async expected(library) {
      const model = await library.stories();
      const inputs = await inputsOf(library);
      const { logits } = await model(inputs);
      const row = Array.from(logits.slice(0, -1).data);
      const order = row.map((_, id) => id).sort((a, b) => (row[b] ?? 0) - (row[a] ?? 0));
      const edited = await model.run_with_hooks(inputs, { edits: [{ hook: 'blocks.0.attn.hook_z', op: 'zero' }] });
      const odds = await softmax(edited.slice(0, -1));
      return this.at.map(([place = 0]) => odds.slice(order[place] ?? 0).item());
    },
    tolerance,
  },
  {
    subject: 'Logit lens',
    address: link('lens'),
    source: 'max(softmax(logitLens(model, inputs)))',
    at: [
      [0, 9],
      [3, 5],
      [5, 9],
    ],
    async expected(library) {
      const lens = await logitLens(await library.stories(), await inputsOf(library));
      const best = async ([layer = 0, position = 0]: readonly number[]): Promise<number> =>
        Math.max(...(await softmax(lens.slice(layer, 0, position))).data);
      return Promise.all(this.at.map(best));
    },
    tolerance,
  },
  {
    subject: 'Logit attribution',
    address: link('attribution'),
    source: 'logitAttribution(model, inputs, { tokens: 338, incorrect_tokens: 359 })',
    at: [[0], [1], [15]],
    async expected(library) {
      const [tokens, incorrect_tokens] = await likeliest(library);
      const { contributions } = await logitAttribution(await library.stories(), await inputsOf(library), {
        tokens,
        incorrect_tokens,
        pos: -1,
      });
      const strongest = Array.from(contributions.data).sort((a, b) => Math.abs(b) - Math.abs(a));
      return this.at.map(([place = 0]) => strongest[place] ?? 0);
    },
    tolerance: 1e-3,
  },
  {
    subject: 'Ablation of heads',
    address: link('ablation'),
    source: 'ablateHeads(model, inputs, { metric }).changes',
    at: grid,
    async expected(library) {
      const metric = logitDifference(...(await likeliest(library)));
      const { changes } = await ablateHeads(await library.stories(), await inputsOf(library), { metric });
      return pick(changes, this.at);
    },
    tolerance: 1e-3,
  },
  {
    subject: 'Activation patching',
    address: link('patching', '&t2=Tim+went+to+the+park.'),
    source: "patchActivations(model, { clean, corrupted, metric, by: 'position' }).patched",
    at: [
      [0, 1],
      [2, 3],
      [4, 9],
    ],
    async expected(library) {
      const metric = logitDifference(...(await likeliest(library)));
      const [clean, corrupted] = [await inputsOf(library), await inputsOf(library, 'Tim went to the park.')];
      const { patched } = await patchActivations(await library.stories(), { clean, corrupted, metric, by: 'position' });
      return pick(patched, this.at);
    },
    tolerance: 1e-3,
  },
  {
    subject: 'Detectors of heads',
    address: link('detect'),
    source: 'detectHeads(model).scores.previous_token',
    at: grid,
    expected: async (library) => pick((await detectHeads(await library.stories())).scores.previous_token, grid),
    tolerance,
  },
  {
    subject: 'Dtypes compared',
    address: link('compare', '&dt=fp16'),
    source: "max |logits − logits with dtype: 'fp16'|",
    at: [
      [0, 0],
      [0, 4],
      [0, 9],
    ],
    expected: async () => [0, 0, 0], // the bundled weights are float16
    tolerance,
  },
];
