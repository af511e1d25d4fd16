// What chapter 9 shows: the encoder's input, the decoder's output after a forced prefix, and the cross-attention.

import { type GenerativeModel, log_softmax, softmax, type Tensor } from 'clearformer';
import type { Book } from '../../book/book.js';
import { largest } from '../../book/largest.js';
import { remembered } from '../../book/remembered.js';
import { activation, type Pass, type PassInputs } from '../../book/shelf.js';
import type { Piece, TokenTexts } from '../../book/token_texts.js';
import { idsWithin, within } from '../../book/within.js';

type Floats = Tensor<'float32'>;
export const modelName = 'marian-tiny-en-fr';

export interface Chosen {
  readonly text: string;
  /** Ids of the decoder's forced prefix as in the address: `507.1877`. */
  readonly forced: string;
  readonly beams: number;
  /** The index of the target token in focus. */
  readonly step: number;
}

interface Candidate {
  readonly piece: Piece;
  readonly probability: number;
}

export interface Told {
  readonly kind: 'told';
  readonly source: readonly Piece[];
  /** The decoder's start token. */
  readonly start: Piece;
  /** Tokens of the whole text; more than `source` if it is truncated to the model's context. */
  readonly of: number;
  /** Words of the text with unknown tokens. */
  readonly unknown: readonly string[];
  readonly forced: readonly number[];
  /** The start token and the forced tokens, and how many tokens may follow them. */
  readonly prefix: readonly number[];
  readonly room: number;
  /** The generated tokens; the last is usually the end-of-sequence token. */
  readonly target: readonly Piece[];
  readonly ids: readonly number[];
  readonly sentence: string;
  readonly inputs: PassInputs;
  readonly pass: Pass;
  readonly step: number;
  /** Probabilities at the step. */
  readonly candidates: readonly Candidate[];
  /** Sum of the log-probabilities of the target's tokens. */
  readonly score: number;
}

/** There is no text to translate. */
export interface Empty {
  readonly kind: 'empty';
}

const shownCandidates = 8;
const hooks = [
  'encoder.*.hook_normalized_resid_post',
  'encoder.*.attn.hook_pattern',
  'decoder.*.attn.hook_pattern',
  'decoder.*.cross_attn.hook_q',
  'decoder.*.cross_attn.hook_k',
  'decoder.*.cross_attn.hook_v',
  'decoder.*.cross_attn.hook_pattern',
  'decoder.*.cross_attn.hook_z',
];

export async function tell(book: Book, chosen: Chosen): Promise<Told | Empty> {
  const { text } = chosen;
  if (text.trim() === '') return { kind: 'empty' };
  const { writer, tokenizer, texts } = await book.shelf.model(modelName);
  if (!writer || !tokenizer || !texts) throw new TypeError(`${modelName} translates`);
  const all = Array.from(tokenizer(text).input_ids.data, Number);
  const read = cutTo(all, writer.cfg.n_ctx);
  const forced = chosen.forced === 'none' ? [] : idsWithin(chosen.forced, writer.cfg.d_vocab);
  const written = await writtenFrom(book, writer, { read, forced, beams: chosen.beams });
  const inputs = inputsOf(read, written);
  const { now } = await book.passes(inputs, hooks);
  const step = within(chosen.step, written.length - 1);
  return {
    kind: 'told',
    source: texts.pieces(read),
    start: texts.alone(written[0] ?? 0),
    of: all.length,
    unknown: unknownOf(text, tokenizer),
    forced,
    ...beginningOf(writer, forced),
    target: texts.pieces(written).slice(1),
    ids: written,
    sentence: tokenizer.decode([...written], { skip_special_tokens: true }),
    inputs,
    pass: now,
    step,
    candidates: await candidatesOf(now.logits, step, texts),
    score: await scoreOf(now.logits, written),
  };
}

function inputsOf(read: readonly number[], written: readonly number[]): PassInputs {
  return {
    model: modelName,
    key: `${read.join()}|${written.join()}`,
    inputs: { input_ids: [[...read]], decoder_input_ids: [written.slice(0, -1)] },
  };
}

/** Truncates to the model's context; the end-of-sequence token stays last. */
const cutTo = (ids: readonly number[], room: number): number[] =>
  ids.length <= room ? [...ids] : [...ids.slice(0, room - 1), ...ids.slice(-1)];

interface Wanted {
  readonly read: readonly number[];
  readonly forced: readonly number[];
  readonly beams: number;
}

const texts = new Map<string, Promise<number[]>>();
const keptTexts = 40;

/** The whole target after the decoder's start token: the forced prefix, then the generated tokens. */
function writtenFrom(book: Book, writer: GenerativeModel, wanted: Wanted): Promise<number[]> {
  const key = JSON.stringify([wanted, book.editSpecs]);
  const known = remembered(texts, key, () => write(book, writer, wanted));
  const [oldest] = texts.keys();
  if (texts.size > keptTexts && oldest !== undefined) texts.delete(oldest);
  return known;
}

function beginningOf({ cfg }: GenerativeModel, forced: readonly number[]): { prefix: number[]; room: number } {
  const prefix = [Number(cfg.decoder_start_token_id ?? 0), ...forced].slice(0, cfg.n_ctx - 1);
  const ended = [cfg.eos_token_id]
    .flat()
    .map(Number)
    .includes(prefix.at(-1) ?? -1);
  return { prefix, room: ended ? 0 : cfg.n_ctx - prefix.length };
}

async function write(book: Book, writer: GenerativeModel, { read, forced, beams }: Wanted): Promise<number[]> {
  const { prefix, room } = beginningOf(writer, forced);
  if (room === 0) return prefix;
  const edits = await book.edits(inputsOf(read, [...prefix, 0]));
  const sequences = await writer.generate(
    { input_ids: [[...read]], decoder_input_ids: [prefix] },
    { num_beams: beams, do_sample: false, max_new_tokens: room, edits },
  );
  return Array.from(sequences.data, Number);
}

async function candidatesOf(logits: Floats, step: number, names: TokenTexts): Promise<Candidate[]> {
  const { data } = await softmax(logits.slice(0, step));
  return largest(data, shownCandidates).map((id) => ({ piece: names.alone(id), probability: data[id] ?? 0 }));
}

async function scoreOf(logits: Floats, written: readonly number[]): Promise<number> {
  const logs = await log_softmax(logits);
  const width = logs.dims[2] ?? 0;
  return written.slice(1).reduce((sum, id, step) => sum + (logs.data[step * width + id] ?? 0), 0);
}

type Tokenizer = NonNullable<Awaited<ReturnType<Book['shelf']['model']>>['tokenizer']>;

/** Words of the text with a token that stands for unknown text. */
function unknownOf(text: string, tokenizer: Tokenizer): string[] {
  const { unk_token_id } = tokenizer;
  if (unk_token_id === null || unk_token_id === undefined) return [];
  const words = text.split(/\s+/).filter(Boolean);
  const strange = words.filter((word) => Array.from(tokenizer(word).input_ids.data, Number).includes(unk_token_id));
  return [...new Set(strange)];
}

/** One head of [1, pos, head, d], as [pos, d]. */
export function rowsOf(pass: Pass, hook: string, head: number): Floats {
  return activation(pass, hook).slice(0, null, head);
}

/** One head of [1, head, query, key], as [query, key]. */
export function weightsOf(pass: Pass, hook: string, head: number): Floats {
  return activation(pass, hook).slice(0, head);
}
