// The outputs of a forward pass, with Hugging Face's names.

import type { ForwardValue, TensorOut } from '../runtime/border.js';
import { Tensor } from '../tensor/tensor.js';
import { toTensor } from '../tensor/tensor_output.js';
import type { KeyValueCache } from './key_value_cache.js';

type Floats = Tensor<'float32'>;

/** The outputs of one tower of a dual encoder (CLIP). */
export interface TowerOutput {
  /** [batch, position, d_model] */
  last_hidden_state: Floats;
  /** [batch, embedding] */
  pooler_output: Floats;
  hidden_states?: Floats[];
  attentions?: Floats[];
}

/** The result of a forward pass; its members depend on the model and the task. */
export interface ModelOutput {
  /** The loss of `labels`, a scalar. */
  loss?: Floats;
  /** Scores before softmax: [batch, position, vocabulary or classes] or [batch, classes]. */
  logits?: Floats;
  /** Question answering: [batch, position]. */
  start_logits?: Floats;
  end_logits?: Floats;
  /** [batch, position, d_model] */
  last_hidden_state?: Floats;
  /** [batch, d_model] */
  pooler_output?: Floats;
  encoder_last_hidden_state?: Floats;
  /** DeiT with a teacher: the logits of the two classifiers, of which `logits` is the mean. */
  cls_logits?: Floats;
  distillation_logits?: Floats;
  /** CLIP: unit vectors [texts, embedding], [images, embedding]. */
  text_embeds?: Floats;
  image_embeds?: Floats;
  /** CLIP: similarities [images, texts], [texts, images]. */
  logits_per_image?: Floats;
  logits_per_text?: Floats;
  text_model_output?: TowerOutput;
  vision_model_output?: TowerOutput;
  /** The embedding, then the output of every layer: [batch, position, d_model]. */
  hidden_states?: Floats[];
  /** Per layer [batch, head, query, key]; rows sum to 1. */
  attentions?: Floats[];
  encoder_hidden_states?: Floats[];
  encoder_attentions?: Floats[];
  decoder_hidden_states?: Floats[];
  decoder_attentions?: Floats[];
  /** Per decoder layer [batch, head, query, position of the source]. */
  cross_attentions?: Floats[];
  past_key_values?: KeyValueCache;
}

/** Language models: with logits, unless an encoder-decoder has no decoder inputs, when only its encoder runs. */
export type CausalLMOutput = ModelOutput & { logits: Floats };

/** Stores "text_model_output.pooler_output" as a nested member. */
function place(target: Record<string, unknown>, name: string, value: unknown): void {
  const dot = name.indexOf('.');
  if (dot < 0) {
    target[name] = value;
    return;
  }
  const outer = name.slice(0, dot);
  target[outer] ??= {};
  place(target[outer] as Record<string, unknown>, name.slice(dot + 1), value);
}

export function toOutput(value: ForwardValue, past: KeyValueCache | undefined): ModelOutput {
  const output: Record<string, unknown> = {};
  for (const [name, tensor] of Object.entries(value.outputs)) place(output, name, toTensor(tensor));
  for (const [name, list] of Object.entries(value.lists ?? {})) place(output, name, toTensors(list));
  if (past !== undefined) output.past_key_values = past;
  return output;
}

/** The logits, of CLIP those of the images, else the first output. */
export function mainOutput(output: ModelOutput | TowerOutput): Floats {
  const { logits_per_image, logits = logits_per_image } = output as ModelOutput;
  const [first] = logits === undefined ? Object.values(output) : [logits];
  return first instanceof Tensor ? (first as Floats) : mainOutput(first as TowerOutput);
}

/** Converts lists of tensors, such as hidden_states. */
function toTensors(list: readonly TensorOut<'float32'>[]): Floats[] {
  return list.map((tensor) => toTensor(tensor));
}
