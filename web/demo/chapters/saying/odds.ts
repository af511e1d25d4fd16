// From the last row of the stream to a sampled token: logits, the effect of temperature, top-k and top-p, and samples.
// Scores and samples are the package's: `generate` with `output_scores` for one token.

import { ClearformerError, type GenerateOptions, matmul, softmax, Tensor } from 'clearformer';
import type { Book } from '../../book/book.js';
import { largest } from '../../book/largest.js';
import { pieceOf } from '../../book/odds.js';
import { plainSettings } from '../../book/plain_settings.js';
import { activation, type PassInputs, type Shelved } from '../../book/shelf.js';
import { transposed } from '../../book/tensors.js';
import type { Piece } from '../../book/token_texts.js';
import { type Weights, weightsOf } from '../../book/weights.js';
import { idsWithin } from '../../book/within.js';

type Row = Tensor<'float32'>;

/** The input: the sentence, and the tokens appended to it. */
export interface Prompt {
  readonly given: PassInputs;
  readonly shelved: Shelved;
  readonly ids: readonly number[];
  readonly tokens: readonly Piece[];
  /** How many of them belong to the sentence. */
  readonly sentence: number;
  readonly of: number;
  /** The tokens appended to it. */
  readonly appended: readonly number[];
}

/** Samples per press. */
export const hundred = 100;
/** Positions of the context reserved for appended tokens. */
const room = 12;

/** The sentence with the tokens of the address (`385.29`) after it. */
export async function promptOf(book: Book, asked: string): Promise<Prompt> {
  const name = book.modelName;
  const shelved = await book.shelf.model(name);
  const { n_ctx: context, d_vocab: vocabulary } = shelved.model.cfg;
  const written = idsWithin(asked, vocabulary);
  const most = context > 0 ? Math.max(1, context - room - written.length) : Number.POSITIVE_INFINITY;
  const sentence = await book.sentence(name, most);
  const ids = [...sentence.ids, ...written];
  const given = { model: name, key: ids.join(), inputs: { input_ids: [ids] } };
  return {
    given,
    shelved,
    ids,
    tokens: shelved.texts?.pieces(ids) ?? [],
    sentence: sentence.ids.length,
    of: sentence.of,
    appended: written,
  };
}

export interface Settings {
  readonly temperature: number;
  /** 0: no limit. */
  readonly top_k: number;
  /** 1: no limit. */
  readonly top_p: number;
}

/** The chosen settings, clamped to the ranges that `generate` accepts. */
export function settingsOf(value: (key: string) => string): Settings {
  const number = (key: string, least: number, most: number): number => {
    const chosen = Number(value(key));
    return Number.isFinite(chosen) ? Math.max(least, Math.min(most, chosen)) : least;
  };
  return { temperature: number('temp', 0.1, 3), top_k: Math.round(number('k', 0, 512)), top_p: number('p', 0.01, 1) };
}

/** The settings that change nothing. */
const plain = { temperature: 1, top_k: 0, top_p: 1 } as const;

export function writerOf({ shelved: { writer, model } }: Prompt): NonNullable<Shelved['writer']> {
  if (!writer) throw new ClearformerError('unsupported', `${model.cfg.model_type} writes no text`);
  return writer;
}

/** The processed scores that sampling uses, [vocabulary]; −∞ for excluded tokens. */
export async function scoresOf(prompt: Prompt, settings: Settings): Promise<Row> {
  const writer = writerOf(prompt);
  const options: GenerateOptions = { ...settings, do_sample: true, max_new_tokens: 1, seed: 1, use_cache: false };
  const out = await writer.generate(prompt.given.inputs, {
    ...plainSettings(writer),
    ...options,
    output_scores: true,
    return_dict_in_generate: true,
  });
  const [scores] = out.scores ?? [];
  if (!scores) throw new TypeError('generate gave no scores');
  return scores.slice(0);
}

export interface Stage {
  readonly id: 'model' | 'temperature' | 'top_k' | 'top_p';
  readonly scores: Row;
  readonly odds: Row;
}

interface Unembedding {
  /** The row of the stream that is the output layer's input, [d_model], and its matrix [d_model, vocabulary]. */
  readonly input: Row;
  readonly inputSource: string;
  readonly weight: Row;
  readonly name: string;
  /** Their product by `matmul`, and its largest absolute difference from the model's logits. */
  readonly product: Row;
  readonly difference: number;
}

export interface Odds {
  readonly logits: Row;
  readonly stages: readonly Stage[];
  /** Ids in descending order of logit. */
  readonly ranked: readonly number[];
  readonly unembedding: Unembedding | undefined;
}

/** At most this many tokens of a larger vocabulary are shown. */
const mostColumns = 1024;

export async function oddsOf(book: Book, prompt: Prompt, { temperature, top_k, top_p }: Settings): Promise<Odds> {
  const hook = 'ln_final.hook_out';
  const hooked = prompt.shelved.model.hooks().some(({ name }) => name === hook);
  const pass = await book.shelf.pass(prompt.given, { names: hooked ? [hook] : [] });
  const logits = pass.logits.slice(0, -1);
  const stage = async (id: Stage['id'], scores: Row): Promise<Stage> => ({ id, scores, odds: await softmax(scores) });
  const stages = [
    await stage('model', logits),
    await stage('temperature', await scoresOf(prompt, { ...plain, temperature })),
    await stage('top_k', await scoresOf(prompt, { ...plain, temperature, top_k })),
    await stage('top_p', await scoresOf(prompt, { temperature, top_k, top_p })),
  ];
  const ranked = largest(logits.data, Math.min(mostColumns, logits.size));
  const weights = await weightsOf(prompt.given.model).catch(() => undefined); // not for the reader's own model
  const unembedding =
    weights && hooked ? await unembed(activation(pass, hook).slice(0, -1), logits, weights) : undefined;
  return { logits, stages, ranked, unembedding };
}

async function unembed(input: Row, logits: Row, weights: Weights): Promise<Unembedding | undefined> {
  const name = ['lm_head.weight', 'model.embed_tokens.weight', 'transformer.wte.weight'].find((one) =>
    weights.has(one),
  );
  if (name === undefined) return undefined;
  const weight = transposed(weights.get(name));
  const width = input.size;
  const product = (await matmul(new Tensor('float32', input.data, [1, width]), weight)).slice(0);
  const difference = product.data.reduce(
    (most, value, id) => Math.max(most, Math.abs(value - (logits.data[id] ?? 0))),
    0,
  );
  return { input, inputSource: 'ln_final.hook_out[0, -1]', weight, name, product, difference };
}

export interface Draws {
  readonly count: number;
  readonly seed: number;
  /** In the order sampled. */
  readonly order: readonly Piece[];
  /** The sampled tokens and the most probable ones, by descending probability. */
  readonly tokens: readonly { readonly piece: Piece; readonly times: number; readonly probability: number }[];
}

/** Independent samples of the next token. */
export async function draws(
  prompt: Prompt,
  settings: Settings,
  { count, seed }: { count: number; seed: number },
): Promise<Draws> {
  const writer = writerOf(prompt);
  const options = {
    ...plainSettings(writer),
    ...settings,
    do_sample: true,
    max_new_tokens: 1,
    num_return_sequences: count,
    seed,
  };
  const sequences = await writer.generate(prompt.given.inputs, options);
  const drawn = Array.from(sequences.slice(null, -1).data, Number);
  const times = new Map<number, number>();
  for (const id of drawn) times.set(id, (times.get(id) ?? 0) + 1);
  const odds = (await softmax(await scoresOf(prompt, settings))).data;
  const expected = largest(odds, 8).filter((id) => (odds[id] ?? 0) > 0);
  const ids = [...new Set([...expected, ...times.keys()])];
  const tokens = ids.map((id) => ({
    piece: pieceOf(prompt.shelved, id),
    times: times.get(id) ?? 0,
    probability: odds[id] ?? 0,
  }));
  const order = drawn.map((id) => pieceOf(prompt.shelved, id));
  return { count, seed, order, tokens: tokens.sort((a, b) => b.probability - a.probability) };
}
