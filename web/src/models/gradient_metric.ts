// What is differentiated: a metric as data, terms that are added up, or a function of captured tensors that also gives
// its gradient; and with respect to what.

import type { GradientArguments, HookPoint, ModelShape, RunInputs, TensorIn } from '../runtime/border.js';
import type { HookName } from '../runtime/hook_names.js';
import { ClearformerError, textOf } from '../support/error.js';
import { checkOptions, expectArgument } from '../support/options.js';
import type { ActivationCache } from '../tensor/activation_cache.js';
import type { Tensor } from '../tensor/tensor.js';
import { floatsOrNumber, integers, type TensorInput } from '../tensor/tensor_input.js';
import { type NamesFilter, resolveHooks } from './hooks.js';
import type { LabelInput } from './inputs.js';
import { countedLabels, labelsIn } from './labels.js';
import type { ModelOutput } from './outputs.js';
import type { Pooling, PoolingMode } from './pooling.js';

/** What a metric is differentiated with respect to. */
export interface WithRespectTo {
  /** Activations: the gradient of each value after its edits. */
  hooks?: NamesFilter | undefined;
  /**
   * Inputs: `pixel_values`, `input_features`, `residual`, and `inputs_embeds` or `decoder_inputs_embeds`, which are the
   * token embeddings also where the ids are given.
   */
  inputs?: GradientInput | readonly GradientInput[] | undefined;
  /**
   * Weights by their names in the checkpoint or TransformerLens' names; in strings of the former `*` matches any run. A
   * token embedding has no gradient from looking up the padding token, as in transformers.
   */
  weights?: string | readonly string[] | undefined;
  /** The indices of `edits` with a value: the gradients of these values, in order. */
  edits?: readonly number[] | undefined;
}

/** An input that has a gradient. */
export type GradientInput =
  | 'pixel_values'
  | 'input_features'
  | 'input_values'
  | 'inputs_embeds'
  | 'decoder_inputs_embeds'
  | 'residual';

/** A logit, or with a weight a multiple of it. */
export interface LogitTerm {
  /** The sequence of the batch. Default 0; null: the mean over all. */
  row?: number | null | undefined;
  /** Default: the last position. Negative ones count from the end. Not read where a sequence has one row of logits. */
  pos?: number | undefined;
  /** The token or class. */
  token: number;
  /** Default 1. */
  weight?: number | undefined;
}

/** The loss that transformers computes from a model's outputs and labels. */
export interface LossTerm {
  /**
   * As transformers expects them for the model's task: -100 is not counted. Masked positions are, as in all its classes but
   * Gemma 3's of images and texts. Without `decoder_input_ids` a decoder's are made of them.
   */
  labels: LabelInput;
  /** Default 0; only of labels that are classes or tokens. */
  label_smoothing?: number | undefined;
  /** Default 1. */
  weight?: number | undefined;
}

/** The sum of an output or an activation times weights, which are broadcast to it. */
export interface ReadOutTerm {
  /** The name of an output, such as `logits`, `last_hidden_state`, `pooler_output`, … */
  output?: string | undefined;
  /** Or that of a hook point; its value after edits. */
  hook?: HookName | undefined;
  weights: number | TensorInput;
}

/** A term of a metric. */
export type MetricTerm = LossTerm | { logits: readonly LogitTerm[] } | ReadOutTerm;

/**
 * A function of activations and outputs that gives its value and its gradients with respect to them, under their names.
 * The model runs twice: once to capture, once to differentiate.
 */
export interface MetricFunction {
  /** The activations that it reads. Default: none, outputs alone. */
  names_filter?: NamesFilter | undefined;
  /** Its value for a pass, and the gradients there. */
  compute(activations: ActivationCache, outputs: ModelOutput): ComputedMetric | Promise<ComputedMetric>;
}

/** The value of a metric and its gradients, by the names of hook points and outputs; each of the tensor's dims. */
export interface ComputedMetric {
  value: number;
  gradients: Readonly<Record<string, TensorInput>>;
}

/** What is differentiated of embeddings [batch, size]; one of them. */
export interface EmbeddingTerm {
  /** Σ weights ⊙ embeddings: [size], or [batch, size]. */
  weights?: number | TensorInput | undefined;
  /** The cosine similarity with this vector [size], added up over the batch, or with one each [batch, size]. */
  cosine_similarity?: TensorInput | undefined;
  /** A function that gives its value and its gradient, of the embeddings' dims. */
  score?(embeddings: Tensor<'float32'>): ComputedTerm | Promise<ComputedTerm>;
}

/** The value of a function of embeddings and its gradient there. */
export interface ComputedTerm {
  value: number;
  gradient: TensorInput;
}

/** A metric of embeddings. The model runs twice, as for any function. */
export interface EmbeddingMetric extends EmbeddingTerm {
  /** How they are pooled from the last hidden states; `none` for models whose output is one vector per sequence. */
  pooling: Pooling | readonly PoolingMode[];
  /** Whether they are scaled to unit length. Default false. */
  normalize?: boolean | undefined;
}

/** What is differentiated: a term, several that are added up, a function, or a metric of embeddings. */
export type DifferentiableMetric = MetricTerm | readonly MetricTerm[] | MetricFunction | EmbeddingMetric;

/** The terms for the core. */
export type MetricIn = Pick<
  GradientArguments,
  'losses' | 'logit_places' | 'logit_weights' | 'output_terms' | 'hook_terms'
>;

/**
 * The logits of tokens `right` minus those of `wrong` at a position (default: the last), averaged over the batch: the
 * metric of Wang et al. 2022, arXiv 2211.00593, to be differentiated. Lists have one token for each sequence; `batch` is
 * for the average over so many sequences, the first ones. Throws `invalid_argument` for what is no token.
 */
export function logitDifferenceTerm(
  right: number | readonly number[],
  wrong: number | readonly number[],
  pos = -1,
  batch?: number,
): { logits: LogitTerm[] } {
  const call = 'logitDifferenceTerm';
  const plain = (one: unknown) => (typeof one === 'bigint' ? Number(one) : one) as number;
  const lists = [right, wrong].filter((tokens) => Array.isArray(tokens));
  const count = plain(batch ?? lists[0]?.length ?? 1);
  expectArgument(call, Number.isSafeInteger(count) && count > 0, 'a number of sequences', count);
  const fits = batch != null || lists.every(({ length }) => length === count);
  expectArgument(call, fits, 'lists of equal length', lists.join(' and '));
  const averaged = batch === undefined && lists.length === 0;
  const logits = Array.from({ length: count }, (_, row) =>
    [right, wrong].map((tokens, at) => ({
      row: averaged ? null : row,
      pos,
      token: plain(Array.isArray(tokens) ? tokens[row] : tokens),
      weight: (at === 0 ? 1 : -1) / count,
    })),
  ).flat();
  return { logits: [...checkedLogits(call, logits)] };
}

/** Whether a metric is a function. */
export function isFunction(metric: Exclude<DifferentiableMetric, EmbeddingMetric>): metric is MetricFunction {
  return typeof (metric as MetricFunction)?.compute === 'function';
}

/**
 * Converts the terms of a metric, a logit's mean to logits of all of `inputs`' sequences. Throws `invalid_argument` for
 * no terms and for what is none.
 */
export function termsIn(
  call: string,
  metric: MetricTerm | readonly MetricTerm[],
  hooks: readonly HookPoint[],
  model?: ModelShape,
  inputs: RunInputs = {},
): MetricIn {
  const terms = [metric].flat() as MetricTerm[];
  if (metric === undefined || metric === null || terms.length === 0) throw invalid(`${call}: there is no metric`);
  const found: Required<MetricIn> = {
    losses: [],
    logit_places: none,
    logit_weights: none,
    output_terms: [],
    hook_terms: [],
  };
  const logits: LogitTerm[] = [];
  terms.forEach((term, index) => {
    const what = `${call}: metric[${index}]`;
    if (typeof term !== 'object' || term === null) throw invalid(`${what} is no term, as of logitDifferenceTerm`);
    if ('labels' in term) {
      checkOptions(what, term, ['labels', 'label_smoothing', 'weight']);
      found.losses.push(lossIn(term, model, inputs));
    } else if ('logits' in term) {
      checkOptions(what, term, ['logits']);
      for (const logit of checkedLogits(what, term.logits)) {
        const { row = 0, weight = 1 } = logit;
        const rows = row === null ? Array.from({ length: batchOf(inputs) }, (_, at) => at) : [row];
        for (const one of rows) logits.push({ ...logit, row: one, weight: weight / rows.length });
      }
    } else {
      checkOptions(what, term, ['logits', 'labels', 'hook', 'output', 'weights']);
      readOutIn(what, term as ReadOutTerm, hooks, found);
    }
  });
  if (logits.length === 0)
    return { losses: found.losses, output_terms: found.output_terms, hook_terms: found.hook_terms };
  const places = logits.flatMap(({ row = 0, pos = -1, token }) => [row, pos, token]);
  found.logit_places = integers('logits', { data: Int32Array.from(places), dims: [logits.length, 3] });
  found.logit_weights = { data: Float32Array.from(logits, ({ weight = 1 }) => weight), dims: [logits.length] };
  return found;
}

/** How many sequences or images there are, each with logits of its own. */
function batchOf({ input_ids, inputs_embeds, residual, input_features, pixel_values }: RunInputs): number {
  return (input_ids ?? inputs_embeds ?? residual ?? input_features ?? pixel_values)?.dims[0] ?? 1;
}

const none: TensorIn = { data: new Float32Array(0), dims: [0] };

function lossIn(
  { labels, label_smoothing = 0, weight = 1 }: LossTerm,
  model: ModelShape | undefined,
  inputs: RunInputs,
): NonNullable<MetricIn['losses']>[number] {
  return { labels: countedLabels(model, labelsIn(labels, model?.task), inputs), label_smoothing, weight };
}

function checkedLogits(what: string, logits: readonly LogitTerm[]): readonly LogitTerm[] {
  if (!Array.isArray(logits)) throw invalid(`${what}: logits must be a list of { token, row, pos, weight }`);
  for (const logit of logits) {
    checkOptions(`${what}: logits`, logit ?? null, ['row', 'pos', 'token', 'weight']);
    const { row, pos = -1, token, weight = 1 } = logit as LogitTerm;
    if (typeof weight !== 'number') throw invalid(`${what}: weight ${textOf(weight)} is no number`);
    // All of them are sent as int32.
    const indices = [row ?? 0, token, pos];
    if (indices.every((one, at) => Number.isInteger(one) && one === (one | 0) && (one >= 0 || at === 2))) continue;
    throw invalid(
      `${what}: there is no logit of row ${textOf(row ?? 0)}, position ${textOf(pos)}, token ${textOf(token)}`,
    );
  }
  return logits;
}

function readOutIn(what: string, term: ReadOutTerm, hooks: readonly HookPoint[], found: Required<MetricIn>): void {
  const { hook, output, weights } = term;
  const values = floatsOrNumber(`${what}.weights`, weights);
  if ((hook === undefined) === (output === undefined)) throw invalid(`${what}: needs a hook or an output`);
  if (output !== undefined) {
    found.output_terms.push({ name: output, weights: values });
    return;
  }
  const names = resolveHooks(`${what}.hook`, hooks, hook as HookName).map(({ name }) => name);
  for (const name of names) found.hook_terms.push({ name, weights: values });
}

/** The terms that have the gradients a function computed. */
export function computedIn(
  call: string,
  { gradients }: ComputedMetric,
  hooks: readonly HookPoint[],
  outputs: object,
): MetricIn {
  const terms = Object.entries(gradients ?? {}).map(([name, weights]): ReadOutTerm => {
    return name in outputs ? { output: name, weights } : { hook: name as HookName, weights };
  });
  return termsIn(call, terms, hooks);
}

function invalid(message: string): ClearformerError {
  return new ClearformerError('invalid_argument', message, { option: 'metric' });
}
