// What chapter 10 shows: one sentence as input of three kinds of transformer, and the predictions of each.

import { softmax, type Tensor } from 'clearformer';
import { decimals } from 'clearformer/elements';
import { type Book, firstModel, type Sentence } from '../../book/book.js';
import { largest } from '../../book/largest.js';
import { remembered } from '../../book/remembered.js';
import { activation, type Pass, type Shelved } from '../../book/shelf.js';
import type { Piece } from '../../book/token_texts.js';
import { within } from '../../book/within.js';
import { type Empty, type Told, tell } from '../translate/reading.js';

type Floats = Tensor<'float32'>;

export const decoderName = firstModel;
export const encoderName = 'bert-tiny-fill';

interface Candidate {
  readonly piece: Piece;
  readonly probability: number;
}

/** Candidates for a blank, and the position whose logits predict it. */
export interface Filled {
  /** The text with the mask token, or the text that the decoder reads. */
  readonly text: string;
  readonly position: number;
  readonly probabilities: Floats;
  readonly candidates: readonly Candidate[];
}

/** A sentence in one model, with its pass. */
interface Read {
  readonly sentence: Sentence;
  readonly pass: Pass;
}

export interface Kinds {
  readonly words: readonly string[];
  /** The index of the word that is masked. */
  readonly blank: number;
  /** How many words can be: the encoder reads the blank itself, whatever of its text is cut. */
  readonly blanks: number;
  readonly decoder: Read;
  readonly encoder: Read;
  readonly both: Told | Empty;
  /** The decoder's continuation of the sentence. */
  readonly continued: string;
  /** The encoder's candidates for the blank, with the sentence's own right context and with the other one. */
  readonly filled: Filled;
  readonly refilled: Filled;
  /** The decoder's candidates, from the left context alone. */
  readonly fromLeft: Filled;
  /** The same with the other right context, which the causal mask hides. */
  readonly fromLeftOther: Filled;
  readonly left: string;
  /** Whether a word of the sentence is not in the encoder's vocabulary. */
  readonly unknown: boolean;
}

export interface Chosen {
  readonly text: string;
  readonly blank: number;
  /** The other right context. */
  readonly other: string;
}

const shown = 7;
const writtenTokens = 14;
const wordEnd = /[.,;:!?…]+$/;

/** The sentence, split at spaces, in the three models; undefined if it is empty. */
export async function readKinds(book: Book, chosen: Chosen): Promise<Kinds | undefined> {
  const words = chosen.text.split(/\s+/).filter(Boolean);
  if (words.length === 0) return undefined;
  const blanks = await blanksOf(book, words);
  const blank = within(chosen.blank, blanks);
  const left = words.slice(0, blank).join(' ');
  const end = wordEnd.exec(words[blank] ?? '')?.[0] ?? '';
  const right = words.slice(blank + 1).join(' ');
  const [own, other] = [right, chosen.other].map((after) => ({ left, end, after }));
  const encoder = await read(book, encoderName, chosen.text, 'blocks.*.attn.hook_pattern');
  const { tokenizer } = await book.shelf.model(encoderName);
  return {
    words,
    blank,
    blanks,
    decoder: await read(book, decoderName, chosen.text, 'blocks.*.attn.hook_pattern'),
    encoder,
    both: await tell(book, { text: chosen.text, forced: 'none', beams: 4, step: 0 }),
    continued: await continuation(book, chosen.text),
    filled: await fill(book, own ?? { left, end, after: '' }),
    refilled: await fill(book, other ?? { left, end, after: '' }),
    left,
    fromLeft: await guess(book, left, right),
    fromLeftOther: await guess(book, left, chosen.other),
    unknown: encoder.sentence.ids.includes(tokenizer?.unk_token_id ?? -1),
  };
}

export async function read(book: Book, model: string, text: string, names: string): Promise<Read> {
  const sentence = await book.sentence(model, Number.POSITIVE_INFINITY, text);
  return { sentence, pass: await book.shelf.pass(sentence.inputs, { names: [names] }) };
}

/** The encoder's position after these words. */
async function placeAfter(book: Book, words: string): Promise<number> {
  const { tokenizer } = await book.shelf.model(encoderName);
  return (tokenizer?.(words).input_ids.data.length ?? 0) - 1; // without the token that ends a text
}

/** How many of the first words have the blank that replaces them among the tokens that the encoder reads. */
async function blanksOf(book: Book, words: readonly string[]): Promise<number> {
  const { model } = await book.shelf.model(encoderName);
  let [some, tooMany] = [0, words.length]; // `some` words stand before a blank that is read, `tooMany` do not, or are all
  while (tooMany - some > 1) {
    const middle = Math.floor((some + tooMany) / 2);
    if ((await placeAfter(book, words.slice(0, middle).join(' '))) < model.cfg.n_ctx) some = middle;
    else tooMany = middle;
  }
  return some + 1;
}

interface Blank {
  readonly left: string;
  /** Punctuation that is kept after the blank. */
  readonly end: string;
  readonly after: string;
}

/** The encoder's candidates for a blank. */
export async function fill(book: Book, { left, end, after }: Blank): Promise<Filled> {
  const shelved = await book.shelf.model(encoderName);
  const mask = shelved.tokenizer?.mask_token ?? '';
  const text = [left, `${mask}${end}`, after].filter(Boolean).join(' ');
  const { pass } = await read(book, encoderName, text, 'hook_embed');
  return candidates(shelved, text, await placeAfter(book, left), pass.logits);
}

/** The decoder's candidates after `left`, while `after` follows in its input. */
export async function guess(book: Book, left: string, after: string): Promise<Filled> {
  const { ids } = await book.sentence(decoderName, Number.POSITIVE_INFINITY, left);
  const text = [left, after].filter(Boolean).join(' ');
  const { pass } = await read(book, decoderName, text, 'hook_embed');
  return candidates(await book.shelf.model(decoderName), text, ids.length - 1, pass.logits);
}

async function candidates({ texts }: Shelved, text: string, position: number, logits: Floats): Promise<Filled> {
  const probabilities = await softmax(logits.slice(0, position));
  const found = largest(probabilities.data, shown).flatMap((id) => {
    const piece = texts?.alone(id);
    return piece ? [{ piece, probability: probabilities.data[id] ?? 0 }] : [];
  });
  return { text, position, probabilities, candidates: found };
}

const continuations = new Map<string, Promise<string>>();

function continuation(book: Book, text: string): Promise<string> {
  if (continuations.size > 40) continuations.clear();
  return remembered(continuations, text, () => written(book, text));
}

async function written(book: Book, text: string): Promise<string> {
  const { writer, tokenizer } = await book.shelf.model(decoderName);
  const { ids } = await book.sentence(decoderName, Number.POSITIVE_INFINITY, text);
  const room = (writer?.cfg.n_ctx ?? 0) - ids.length;
  if (!writer || !tokenizer || room < 1) return '';
  const max_new_tokens = Math.min(writtenTokens, room);
  const sequences = await writer.generate({ input_ids: [[...ids]] }, { do_sample: false, max_new_tokens });
  return tokenizer.decode(Array.from(sequences.data, Number).slice(ids.length), { skip_special_tokens: true }).trim();
}

/** One head's weights in one block, [query, key]: the nearest that there are. */
export function weights(pass: Pass, stack: string, layer: number, head: number): { numbers: Floats; source: string } {
  const layers = Object.keys(pass.cache).filter(
    (name) => name.startsWith(`${stack}.`) && name.endsWith('.attn.hook_pattern') && !name.includes('cross'),
  ).length;
  return headOf(pass, `${stack}.${within(layer, layers)}.attn.hook_pattern`, head);
}

export function headOf(pass: Pass, hook: string, head: number): { numbers: Floats; source: string } {
  const tensor = activation(pass, hook);
  const at = within(head, tensor.dims[1] ?? 1);
  return { numbers: tensor.slice(0, at), source: `${hook}[0, ${at}]` };
}

/** The largest absolute difference of a probability. */
/** A change of a probability, in percentage points. */
export const points = (share: number): string => decimals(100 * share, 2);

export function change(one: Filled, other: Filled): number {
  return Math.max(
    ...Array.from(one.probabilities.data, (value, id) => Math.abs(value - (other.probabilities.data[id] ?? 0))),
  );
}

/** So many words are shown before and after the one that a text is about. */
const around = 20;

/** Of a long text the words around a mark, by default those at its end. */
export function excerpt(text: string, mark?: string): string {
  const words = text.split(' ');
  const at = mark === undefined ? words.length - 1 : words.findIndex((word) => word.includes(mark));
  const [from, to] = [Math.max(0, at - around), at + around + 1];
  return `${from > 0 ? '… ' : ''}${words.slice(from, to).join(' ')}${to < words.length ? ' …' : ''}`;
}
