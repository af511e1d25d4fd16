// Labels as transformers takes them for the task of a model, and what it makes of them: the inputs of a decoder.

import type { ModelShape, RunInputs, TensorIn } from '../runtime/border.js';
import { ClearformerError, readable } from '../support/error.js';
import { isA } from '../support/kinds.js';
import { type IntegerInput, integerMatrix } from '../tensor/integer_input.js';
import { floats, integers, type NestedInput, type TensorInput } from '../tensor/tensor_input.js';
import type { LabelInput, ModelInputs } from './inputs.js';

/** @internal Labels for the core. A flat list is one row, except for one class per sequence or image. */
export function labelsIn(labels: LabelInput, task?: string): TensorIn {
  const { dims, data } = (labels ?? {}) as { dims?: readonly number[]; data?: unknown };
  const isFloat = readable('labels', () => isA(data, 'Float32Array') || isFractional(labels));
  if (isFloat) return floats('labels', labels as TensorInput);
  const flat = Array.isArray(labels) ? labels.every((one) => !Array.isArray(one)) : dims?.length === 1;
  const perRow = task === undefined || /^(sequence|image)-classification$/.test(task);
  return flat && perRow ? integers('labels', labels as TensorInput) : integerMatrix('labels', labels as IntegerInput);
}

/** @internal The labels that count: of a Gemma 3 with its vision part not those of tokens that the mask hides. */
export function countedLabels(cfg: ModelShape | undefined, labels: TensorIn, { attention_mask }: RunInputs): TensorIn {
  const mask = attention_mask?.data;
  if (cfg?.model_type !== 'gemma3' || mask?.length !== labels.data.length) return labels;
  return { dims: labels.dims, data: (labels.data as Int32Array).map((id, at) => (mask[at] ? id : -100)) };
}

function isFractional(labels: unknown): boolean {
  if (Array.isArray(labels)) return (labels as NestedInput).some(isFractional);
  return typeof labels === 'number' && Number.isFinite(labels) && !Number.isInteger(labels);
}

/**
 * @internal A model's own text as labels, without what the mask hides; if each word is predicted from the one before,
 * also without those that follow a hidden one, as in TransformerLens. A decoder behind an encoder has the word of the
 * next position as its label, since its labels are not shifted.
 */
export function wordsIn(inputs: ModelInputs, { kind, task }: ModelShape): TensorIn {
  const [side, shift] = kind === 'encoder-decoder' ? (['decoder_', 1] as const) : (['', 0] as const);
  const { dims, data } = integerMatrix(`${side}input_ids`, inputs[`${side}input_ids`] as IntegerInput);
  const given = inputs[`${side}attention_mask`];
  const mask = given == null ? undefined : Array.from(integerMatrix(`${side}attention_mask`, given).data, Number);
  const length = Number(dims[1]);
  const ids = Int32Array.from(data, (_, at) => {
    const column = (at % length) + shift;
    const word = at + shift;
    const follows = task === 'masked-lm' || column === 0 || mask?.[word - 1] !== 0;
    return column < length && mask?.[word] !== 0 && follows ? Number(data[word]) : -100;
  });
  return { dims, data: ids };
}

/**
 * @internal The inputs, with `decoder_input_ids` from the labels if the model writes them and they are missing: shifted
 * by one, behind the token it starts with; padding for -100. mBART's text begins with its language instead, which is the
 * last label. Throws `invalid_argument` if config.json names no such tokens.
 */
export function withDecoderInputs(cfg: ModelShape, inputs: ModelInputs, labels: TensorIn): ModelInputs {
  const given = inputs.decoder_input_ids ?? inputs.decoder_inputs_embeds;
  if (cfg.task !== 'seq2seq-lm' || given != null || labels.dims.length !== 2) return inputs;
  const { pad_token_id: pad, decoder_start_token_id: start } = cfg as { [key: string]: unknown };
  const wraps = cfg.model_type === 'mbart';
  if (typeof pad !== 'number' || (!wraps && typeof start !== 'number')) {
    const missing = typeof pad === 'number' ? 'decoder_start_token_id' : 'pad_token_id';
    const problem = `labels: config.json has no ${missing}: give decoder_input_ids`;
    throw new ClearformerError('invalid_argument', problem, { option: 'decoder_input_ids' });
  }
  const [rows = 0, length = 0] = labels.dims;
  const ids = Int32Array.from(labels.data as Int32Array, (id) => (id === -100 ? pad : id));
  const shifted = new Int32Array(ids.length);
  for (let row = 0; row < rows; row++) {
    const own = ids.subarray(row * length, (row + 1) * length);
    const words = own.reduce((count, id) => count + Number(id !== pad), 0);
    shifted.set(own.subarray(0, -1), row * length + 1);
    shifted[row * length] = wraps ? (own.at(words - 1) ?? pad) : (start as number);
  }
  return { ...inputs, decoder_input_ids: { data: shifted, dims: [rows, length] } };
}
