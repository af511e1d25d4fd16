// The subject of the laboratory: a text model, its inputs, and the two answers that are compared.

import { ClearformerError, type GenerativeModel, type PreTrainedModel, softmax } from 'clearformer';
import type { Book } from '../../book/book.js';
import { largest } from '../../book/largest.js';
import type { PassInputs } from '../../book/shelf.js';
import type { Piece, TokenTexts } from '../../book/token_texts.js';

export interface Answer extends Piece {
  readonly probability: number;
}

export interface Subject {
  readonly model: PreTrainedModel;
  readonly writer: GenerativeModel | undefined;
  readonly texts: TokenTexts;
  readonly inputs: PassInputs;
  /** Tokens of the text; in an encoder-decoder, of the source followed by the generated target. */
  readonly tokens: readonly Piece[];
  readonly written: readonly Piece[];
  readonly of: number;
  /** The most probable next tokens. */
  readonly answers: readonly Answer[];
  /** The answer and the one it is compared with: the reader's choice, or the two most probable tokens. */
  readonly right: Answer;
  readonly wrong: Answer;
}

/** Keeps columns of grids and positions of maps legible, and the analyses fast. */
const mostTokens = 48;

export async function subjectOf(book: Book): Promise<Subject> {
  const { model, writer, texts, tokenizer } = await book.shelf.model(book.modelName);
  if (!texts || !tokenizer) {
    throw new ClearformerError(
      'unsupported',
      `the laboratory reads text, and ${model.cfg.model_type} takes none: open it in its own chapter`,
    );
  }
  const sentence = await book.sentence(book.modelName, mostTokens);
  const { inputs, written } = await withDecoder(sentence.inputs, sentence.ids, writer);
  const { logits } = await book.shelf.pass(inputs, { names: [] });
  const { data: odds } = await softmax(logits.slice(0, -1));
  const answer = (id: number): Answer => ({ ...texts.alone(id), probability: odds[id] ?? 0 });
  const best = largest(odds, 12);
  const chosen = (key: string, otherwise: number): number => {
    const id = Number(book.address.get(key) ?? Number.NaN);
    return Number.isInteger(id) && id >= 0 && id < odds.length ? id : otherwise;
  };
  return {
    model,
    writer,
    texts,
    inputs,
    tokens: sentence.tokens,
    written: texts.pieces(written),
    of: sentence.of,
    answers: best.map(answer),
    right: answer(chosen('r', best[0] ?? 0)),
    wrong: answer(chosen('w', best[1] ?? 0)),
  };
}

/** Adds the decoder's input, what it has generated so far. */
async function withDecoder(
  inputs: PassInputs,
  ids: readonly number[],
  writer: GenerativeModel | undefined,
): Promise<{ inputs: PassInputs; written: number[] }> {
  if (writer?.cfg.task !== 'seq2seq-lm') return { inputs, written: [] };
  const sequences = await writer.generate({ input_ids: [[...ids]] }, { do_sample: false, max_new_tokens: mostTokens });
  const written = Array.from(sequences.data, Number).slice(0, -1);
  const key = `${inputs.key}|${written.join()}`;
  return { inputs: { ...inputs, key, inputs: { ...inputs.inputs, decoder_input_ids: [written] } }, written };
}
