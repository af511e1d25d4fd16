// What chapter 2 shows: permuted tokens, the output of each, and its difference from the output before the permutation.

import { layer_norm, nn, softmax, type Tensor } from 'clearformer';
import { type Book, firstModel } from '../../book/book.js';
import { largest } from '../../book/largest.js';
import { once } from '../../book/remembered.js';
import { activation, type Shelved } from '../../book/shelf.js';
import { alphabet, lettersOf, sorter } from '../../book/sorter.js';
import { largestDifference, stacked, transposed } from '../../book/tensors.js';
import type { Piece } from '../../book/token_texts.js';
import { weightsOf } from '../../book/weights.js';

type Float = Tensor<'float32'>;

interface Made {
  readonly source: string;
  readonly numbers: Float;
}

/** Tokens before and after a permutation. */
export interface Moved {
  /** The tokens' labels in the original order. */
  readonly labels: readonly string[];
  /** The token at each position now. */
  readonly order: readonly number[];
  /** The output at each position, [n, d]. */
  readonly now: Made;
  /** The same in the original order. */
  readonly before: Made;
  /** Per token: the largest absolute difference between its outputs now and before. */
  readonly differences: readonly number[];
  readonly difference: number;
}

/** Completes the order in an address to a permutation of `count`: the indices it names first, then the others. */
function orderOf(text: string, count: number): number[] {
  const named = text === '' ? [] : text.split('.').map(Number);
  const first = [...new Set(named)].filter((at) => Number.isInteger(at) && at >= 0 && at < count);
  const others = Array.from({ length: count }, (_, at) => at).filter((at) => !first.includes(at));
  return [...first, ...others];
}

function compared(labels: readonly string[], order: readonly number[], before: Made, now: Made): Moved {
  const differences = order.map((token, place) =>
    largestDifference(now.numbers.slice(place).data, before.numbers.slice(token).data),
  );
  return { labels, order, before, now, differences, difference: Math.max(0, ...differences) };
}

/** Positions in the sorter's context. */
const mostLetters = 11;

interface LettersAsked {
  readonly letters: string;
  readonly order: string;
  readonly positions: boolean;
  readonly causal: boolean;
}

export interface Letters extends Moved {
  /** [n, n], averaged over the heads. */
  readonly weights: Made;
  /** The largest difference between the outputs of two equal letters; undefined if all differ. */
  readonly twins: number | undefined;
}

/** The sorter's first attention as a separate layer, and the embeddings that are its input. */
interface Layer {
  readonly attention: nn.MultiheadAttention;
  readonly tokens: Float;
  readonly places: Float;
  readonly norm: { readonly weight: Float; readonly bias: Float };
}

const layer = once(async (): Promise<Layer> => {
  const weights = await weightsOf(sorter);
  const of = (name: string): Float => weights.get(`transformer.${name}`);
  const tokens = of('wte.weight');
  const attention = new nn.MultiheadAttention(tokens.dims[1] ?? 0, 3);
  await attention.load_state_dict({
    // GPT-2's Conv1D weights are [in, out], those of torch's attention [out, in].
    in_proj_weight: transposed(of('h.0.attn.c_attn.weight')),
    in_proj_bias: of('h.0.attn.c_attn.bias'),
    'out_proj.weight': transposed(of('h.0.attn.c_proj.weight')),
    'out_proj.bias': of('h.0.attn.c_proj.bias'),
  });
  const norm = { weight: of('h.0.ln_1.weight'), bias: of('h.0.ln_1.bias') };
  return { attention, tokens, places: of('wpe.weight'), norm };
});

/** The letters that the sorter reads, at most as many as its context holds. */
export const fittingLetters = (text: string): string => lettersOf(text).slice(0, mostLetters);

async function attend(letters: readonly string[], { positions, causal }: LettersAsked): Promise<[Made, Made]> {
  const { attention, tokens, places, norm } = await layer();
  const rows = letters.map((letter, place) => {
    const row = tokens.slice(alphabet.indexOf(letter)).data;
    const where = places.slice(place).data;
    return positions ? row.map((value, at) => value + (where[at] ?? 0)) : row;
  });
  const x = await layer_norm(stacked(rows), tokens.dims[1] ?? 0, norm);
  const [output, weights] = await attention.forward(x, x, x, { is_causal: causal });
  const input = `layer_norm(wte[${letters.join('')}]${positions ? ` + wpe[0:${letters.length}]` : ''})`;
  const call = `nn.MultiheadAttention(48, 3)(x, x, x${causal ? ', { is_causal: true }' : ''})`;
  return [
    { source: `${call}[0], x = ${input}`, numbers: output },
    { source: `${call}[1], x = ${input}`, numbers: weights },
  ];
}

export async function lettersMoved(asked: LettersAsked): Promise<Letters> {
  const labels = [...fittingLetters(asked.letters)];
  const order = orderOf(asked.order, labels.length);
  const [before] = await attend(labels, asked);
  const moved = order.map((token) => labels[token] ?? '');
  const [now, weights] = await attend(moved, asked);
  const pairs = moved.flatMap((letter, place) =>
    moved.slice(0, place).flatMap((other, at) => (other === letter ? [[at, place] as const] : [])),
  );
  const apart = pairs.map(([a, b]) => largestDifference(now.numbers.slice(a).data, now.numbers.slice(b).data));
  return { ...compared(labels, order, before, now), weights, twins: apart.length > 0 ? Math.max(...apart) : undefined };
}

/** How many outputs differ by more than rounding errors. */
export function distinctRows({ numbers }: Made): number {
  const rows = Array.from({ length: numbers.dims[0] ?? 0 }, (_, at) => numbers.slice(at).data);
  const kinds: (typeof rows)[number][] = [];
  for (const row of rows) if (!kinds.some((kind) => largestDifference(kind, row) < 1e-5)) kinds.push(row);
  return kinds.length;
}

/** Tokens of a sentence that can be permuted. */
export const mostTokens = 12;

export interface Story extends Moved {
  /** Tokens of the whole sentence, without a begin-of-sequence token. */
  readonly of: number;
  /** The most probable next tokens for the original and for the current order. */
  readonly written: readonly Guess[];
  readonly guesses: readonly Guess[];
  readonly read: string;
}

export interface Guess {
  readonly label: string;
  readonly probability: number;
}

const shownGuesses = 5;

/** The sentence with its tokens permuted, in the whole model; a begin-of-sequence token stays first. */
export async function storyMoved(book: Book, text: string, ordered: string): Promise<Story> {
  const { texts, model } = (await book.shelf.model(firstModel)) as Required<Shelved>;
  const { ids: all, tokens } = await book.sentence(firstModel, Number.POSITIVE_INFINITY, text);
  const start = tokens[0]?.special ? 1 : 0;
  const front = all.slice(0, start);
  const ids = all.slice(start, start + mostTokens);
  const order = orderOf(ordered, ids.length);
  const hook = `blocks.${model.cfg.n_layers - 1}.hook_resid_post`;
  const read = async (given: readonly number[]): Promise<{ made: Made; guesses: Guess[] }> => {
    const input_ids = [[...front, ...given]];
    const inputs = { model: firstModel, key: input_ids.join(), inputs: { input_ids } };
    const pass = await book.shelf.pass(inputs, { names: [hook] });
    const odds = await softmax(pass.logits.slice(0, -1));
    const guesses = largest(odds.data, shownGuesses).map((id) => ({
      label: texts.alone(id).label,
      probability: odds.data[id] ?? 0,
    }));
    const numbers = activation(pass, hook).slice(0, [start, null]);
    return {
      made: { source: `${hook}[0, ${start}:] of ${given.map((id) => texts.alone(id).text).join('')}`, numbers },
      guesses,
    };
  };
  const moved = order.map((token) => ids[token] ?? 0);
  const [written, now] = [await read(ids), await read(moved)];
  return {
    ...compared(
      texts
        .pieces(all)
        .slice(start, start + mostTokens)
        .map(({ label }) => label),
      order,
      written.made,
      now.made,
    ),
    of: all.length - start,
    written: written.guesses,
    guesses: now.guesses,
    read: quoted(moved.map((id) => texts.alone(id))),
  };
}

/** A text as it is quoted; blanks alone as their signs. */
const quoted = (pieces: readonly Piece[]): string =>
  pieces
    .map(({ text }) => text)
    .join('')
    .trim() ||
  pieces.map(({ label }) => label).join('') ||
  '∅';
