// Converts logits to a pipeline's results: probabilities, the best classes, and their labels.

import { checkChoice } from '../support/choices.js';
import { ClearformerError, textOf } from '../support/error.js';
import { refusedOption } from '../support/options.js';
import type { Tensor } from '../tensor/tensor.js';

/** A class and its score. */
export interface LabelScore {
  label: string;
  score: number;
}

/** The function applied to logits. */
export type ScoreFunction = 'softmax' | 'sigmoid' | 'none';

/** exp(x - max) / sum. */
export function softmax(logits: ArrayLike<number>): number[] {
  const values = Array.from(logits);
  const most = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const powers = values.map((value) => Math.exp(value - most));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

/** 1 / (1 + exp(-x)). */
export function sigmoid(logits: ArrayLike<number>): number[] {
  return Array.from(logits, (value) => 1 / (1 + Math.exp(-value)));
}

/** The index of the largest value; ties go to the first. */
export function argmax(values: ArrayLike<number>): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) if ((values[i] as number) > (values[best] as number)) best = i;
  return best;
}

/** Indices of the k largest values (null or 0: all) in descending order; ties keep their order. */
export function topIndices(values: readonly number[], k: number | null): number[] {
  const order = values.map((_, i) => i).sort((a, b) => (values[b] as number) - (values[a] as number) || a - b);
  return order.slice(0, k || order.length);
}

/** Throws `invalid_argument` unless `value` is an integer >= `least`. */
export function checkCount(option: string, value: unknown, least = 1): void {
  if (Number.isSafeInteger(value) && (value as number) >= least) return;
  throw new ClearformerError(
    'invalid_argument',
    `${option} must be a whole number from ${least} up, not ${textOf(value)}`,
    { option },
  );
}

/** The part of a tensor for one row of the batch: a view, not a copy. */
export function rowOf(tensor: Tensor<'float32'>, row: number): Float32Array {
  const size = tensor.size / (tensor.dims[0] ?? 1);
  return tensor.data.subarray(row * size, (row + 1) * size);
}

type Names = Readonly<Record<string, unknown>>;

/** The names of classes in config.json: none where `num_labels` counts others, as in transformers. */
export function namesOf({ id2label, label2id, num_labels: count }: Names): { id2label: Names; label2id: Names } {
  const names = (id2label ?? {}) as Names;
  const others = (id2label ?? null) !== null && Object.keys(names).length !== (count ?? Object.keys(names).length);
  return others ? { id2label: {}, label2id: {} } : { id2label: names, label2id: (label2id ?? {}) as Names };
}

/**
 * The name of a class: from `id2label` of config.json, whose keys are numbers as int() reads them, or LABEL_0, LABEL_1, …
 * without one. Throws `malformed_config` for what is neither text nor number.
 */
export function labelOf(config: Readonly<Record<string, unknown>>, id: number): string {
  const { id2label: labels } = namesOf(config);
  const key = id in labels ? id : Object.keys(labels).find((one) => Number(one) === id);
  const label = key === undefined ? `LABEL_${id}` : labels[key];
  if (typeof label === 'string' || typeof label === 'number') return String(label);
  const message = `config.json: id2label names class ${id} ${textOf(label)}, which is no text`;
  throw new ClearformerError('malformed_config', message, { file: 'config.json' });
}

/**
 * Inserts labels into a template as Python's str.format does: `{}` or `{0}` is the label, `{{` and `}}` are braces. Every
 * `{}` is the same label. Throws `invalid_argument` for a template without a placeholder, or with other braces.
 */
export function sentencesOf(call: string, labels: readonly string[], template: unknown): string[] {
  const [known, braces] = [
    /\{\{|\}\}|\{0?\}/g,
    new Map([
      ['{{', '{'],
      ['}}', '}'],
    ]),
  ];
  const filled = (text: string, label: string) => text.replace(known, (found) => braces.get(found) ?? label);
  if (typeof template !== 'string' || filled(template, '') === filled(template, '-'))
    throw refusedOption(call, 'hypothesis_template', 'must be a text that holds {}');
  if (/[{}]/.test(template.replace(known, '')))
    throw refusedOption(call, 'hypothesis_template', 'has a brace that is not of {}, {0}, {{ or }}');
  return labels.map((label) => filled(template, label));
}

/** Options of classification tasks. */
export interface ClassificationOptions {
  /** Number of classes, best first; null or 0: all. */
  top_k?: number | null | undefined;
  /** Default: according to config.json's problem_type, else sigmoid for one class, softmax for several. */
  function_to_apply?: ScoreFunction | undefined;
}

/** Throws `invalid_argument` for invalid values of these options. */
export function checkClassification({ top_k, function_to_apply }: ClassificationOptions): void {
  if (top_k !== undefined && top_k !== null) checkCount('top_k', top_k, 0);
  if (function_to_apply !== undefined) {
    checkChoice('function_to_apply', function_to_apply, ['softmax', 'sigmoid', 'none']);
  }
}

/** The classes of one row of logits, best first. */
export function classesOf(
  logits: Float32Array,
  config: Readonly<Record<string, unknown>>,
  { top_k, apply }: { top_k: number | null; apply: ScoreFunction },
): LabelScore[] {
  const values = Array.from(logits);
  const scores = apply === 'softmax' ? softmax(values) : apply === 'sigmoid' ? sigmoid(values) : values;
  return topIndices(scores, top_k).map((id) => ({ label: labelOf(config, id), score: scores[id] as number }));
}

/** Upstream's default function. */
export function usualFunction(config: Readonly<Record<string, unknown>>, classes: number): ScoreFunction {
  if (config.problem_type === 'regression') return 'none';
  return config.problem_type === 'multi_label_classification' || classes === 1 ? 'sigmoid' : 'softmax';
}
