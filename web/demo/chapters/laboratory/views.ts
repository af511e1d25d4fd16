// What each bench of the laboratory computes, with the package's analyses only.

import {
  type ActivationPatching,
  ablateHeads,
  ClearformerError,
  type DetectedHeads,
  detectHeads,
  type HeadAblation,
  type HookPoint,
  type LogitAttribution,
  logitAttribution,
  logitDifference,
  logitLens,
  patchActivations,
  softmax,
  type Tensor,
} from 'clearformer';
import type { Book } from '../../book/book.js';
import { bundled, bundledFiles, isBundled } from '../../book/bundled.js';
import { largest } from '../../book/largest.js';
import { plainSettings } from '../../book/plain_settings.js';
import { activation, type Pass, shelve } from '../../book/shelf.js';
import type { Piece } from '../../book/token_texts.js';
import { type Answer, type Subject, subjectOf } from './subject.js';

export const views = [
  'hook',
  'edit',
  'lens',
  'attribution',
  'ablation',
  'patching',
  'detect',
  'compare',
  'export',
] as const;
export type View = (typeof views)[number];

interface Guess {
  readonly piece: Piece;
  readonly probability: number;
}

interface Effect {
  /** Probabilities of the same tokens without and with the edits. */
  readonly before: readonly Answer[];
  readonly after: readonly number[];
  /** The model's continuation without and with the edits. */
  readonly writes: readonly [string, string];
}

interface Comparison {
  /** The weights' dtype of the page's model, and of the other. */
  readonly here: string;
  readonly dtype: string;
  /** The largest absolute difference of a logit at each position. */
  readonly differences: Float32Array;
  readonly answers: readonly { piece: Piece; here: number; there: number }[];
}

/** The result of a view; all have the subject. */
export type Result = { readonly subject: Subject } & (
  | { view: 'hook'; hook: string; tensor: Tensor<'float32'>; axes: readonly string[]; edited: boolean }
  | { view: 'edit'; effect: Effect }
  | { view: 'lens'; layers: readonly (readonly Guess[])[] }
  | { view: 'attribution'; attribution: LogitAttribution }
  | { view: 'ablation'; ablation: HeadAblation }
  /** No patching if the other sentence has another number of tokens. */
  | { view: 'patching'; patching: ActivationPatching | undefined; other: readonly Piece[] }
  | { view: 'detect'; detected: DetectedHeads }
  | { view: 'compare'; comparison: Comparison }
  | { view: 'export'; hook: string }
);

export interface Request {
  readonly view: View;
  /** The reader's choice. */
  readonly hook: string | undefined;
  /** The default if the model has it. */
  readonly usualHook: string;
  readonly by: 'position' | 'head' | 'layer';
  readonly other: string;
  readonly dtype: 'fp16' | 'q8' | 'q4';
}

export async function look(book: Book, request: Request, signal: AbortSignal): Promise<Result> {
  const subject = await subjectOf(book);
  const metric = logitDifference(subject.right.id, subject.wrong.id);
  const { model, inputs } = subject;
  switch (request.view) {
    case 'hook':
      return { view: 'hook', subject, ...(await hookOf(book, subject, request)) };
    case 'edit':
      return { view: 'edit', subject, effect: await effectOf(book, subject, signal) };
    case 'lens':
      return { view: 'lens', subject, layers: await lensOf(subject, signal) };
    case 'attribution': {
      const tokens = { tokens: subject.right.id, incorrect_tokens: subject.wrong.id };
      return {
        view: 'attribution',
        subject,
        attribution: await logitAttribution(model, inputs.inputs, { ...tokens, pos: -1, signal }),
      };
    }
    case 'ablation':
      return { view: 'ablation', subject, ablation: await ablateHeads(model, inputs.inputs, { metric, signal }) };
    case 'patching': {
      const corrupted = await book.sentence(book.modelName, Number.POSITIVE_INFINITY, request.other);
      const other = corrupted.tokens;
      if (other.length !== subject.tokens.length) return { view: 'patching', subject, patching: undefined, other };
      // A decoder has written the same in both.
      const texts = { clean: inputs.inputs, corrupted: { ...inputs.inputs, ...corrupted.inputs.inputs } };
      const options = { ...texts, metric, by: request.by, signal };
      return { view: 'patching', subject, patching: await patchActivations(model, options), other };
    }
    case 'detect':
      return { view: 'detect', subject, detected: await detectHeads(model, { signal }) };
    case 'compare':
      return { view: 'compare', subject, comparison: await compared(book, subject, request.dtype, signal) };
    default:
      return { view: 'export', subject, hook: chosenHook(subject, request).name };
  }
}

async function hookOf(
  book: Book,
  subject: Subject,
  request: Request,
): Promise<{ hook: string; tensor: Tensor<'float32'>; axes: readonly string[]; edited: boolean }> {
  const { name, axes } = chosenHook(subject, request);
  const { clean, now } = await book.passes(subject.inputs, [name]);
  return { hook: name, tensor: activation(now, name), axes, edited: now !== clean };
}

/** The requested hook; by default the usual one, or the first of a model that has no such hook. */
function chosenHook({ model }: Subject, { hook, usualHook }: Request): HookPoint {
  const points = model.hooks();
  const point = points.find(({ name }) => name === (hook ?? usualHook)) ?? (hook === undefined ? points[0] : undefined);
  if (point) return point;
  const like = points.map(({ name }) => name).filter((name) => name.split('.').at(-1) === hook?.split('.').at(-1));
  const some = (like.length > 0 ? like : points.map(({ name }) => name)).slice(0, 3).join(', ');
  throw new ClearformerError(
    'invalid_argument',
    `this model has no hook '${hook}': undo, or take one of its ${points.length}, as ${some}`,
  );
}

async function effectOf(
  book: Book,
  { inputs, answers, writer, texts, tokens }: Subject,
  signal: AbortSignal,
): Promise<Effect> {
  const { now } = await book.passes(inputs, []);
  const { data: after } = await softmax(now.logits.slice(0, -1));
  const edits = await book.edits(inputs);
  const write = async (edited: boolean): Promise<string> => {
    if (!writer) return '';
    const prompt = { input_ids: inputs.inputs.input_ids };
    const own = { do_sample: false, max_new_tokens: 20, signal, ...(edited && { edits }) };
    const seq2seq = writer.cfg.task === 'seq2seq-lm'; // whose settings name the language, say
    const options = { ...(!seq2seq && plainSettings(writer)), ...own };
    const ids = Array.from((await writer.generate(prompt, options)).data, Number);
    return texts
      .pieces(ids)
      .slice(seq2seq ? 1 : tokens.length)
      .map(({ text }) => text)
      .join('');
  };
  return {
    before: answers,
    after: answers.map(({ id }) => after[id] ?? 0),
    writes: [await write(false), await write(true)],
  };
}

async function lensOf({ model, inputs, texts }: Subject, signal: AbortSignal): Promise<Guess[][]> {
  const lens = await softmax(await logitLens(model, inputs.inputs, { signal }));
  const [layers = 0, , positions = 0] = lens.dims;
  return Array.from({ length: layers }, (_, layer) =>
    Array.from({ length: positions }, (__, position) => {
      const odds = lens.slice(layer, 0, position).data;
      const [best = 0] = largest(odds, 1);
      return { piece: texts.alone(best), probability: odds[best] ?? 0 };
    }),
  );
}

async function compared(
  book: Book,
  { model, inputs, answers }: Subject,
  dtype: Request['dtype'],
  signal: AbortSignal,
): Promise<Comparison> {
  const name = book.modelName;
  if (!isBundled(name)) {
    const why = 'a model is compared with itself by loading it a second time, and the files of your own are not kept';
    throw new ClearformerError('unsupported', `${why}: take a model of the page, or load yours with another dtype`);
  }
  const here = await book.shelf.pass(inputs, { names: [] });
  const other = await shelve(name, bundled[name].task, await bundledFiles(name, signal), { dtype, signal });
  try {
    const [logits] = await other.model.run_with_cache(inputs.inputs, { names_filter: [], signal });
    const { data: one } = await softmax(here.logits.slice(0, -1));
    const { data: two } = await softmax(logits.slice(0, -1));
    const row = answers.slice(0, 8).map((piece) => ({ piece, here: one[piece.id] ?? 0, there: two[piece.id] ?? 0 }));
    return { here: model.dtype, dtype, differences: differencesOf(here, logits), answers: row };
  } finally {
    await other.model.dispose();
  }
}

function differencesOf({ logits }: Pass, other: Tensor<'float32'>): Float32Array {
  const [, positions = 0, words = 1] = logits.dims;
  const differences = new Float32Array(positions);
  logits.data.forEach((value, i) => {
    const at = Math.floor(i / words);
    differences[at] = Math.max(differences[at] ?? 0, Math.abs(value - (other.data[i] ?? 0)));
  });
  return differences;
}
