// Validates a model's inputs and converts them for the core, which knows the inputs that a model accepts.

import type { RunInputs, TensorIn } from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import { isObject } from '../support/kinds.js';
import { checkOptions, refusedOption, withInherited } from '../support/options.js';
import { type IntegerInput, integerMatrix } from '../tensor/integer_input.js';
import { Tensor } from '../tensor/tensor.js';
import { floats, type TensorInput } from '../tensor/tensor_input.js';
import { expectCache, type KeyValueCache } from './key_value_cache.js';

/**
 * Labels of a loss. Tokens [batch, pos] (-100 is not counted) for language models, for causal ones the `input_ids`
 * themselves, which are shifted; classes [batch, pos] of tokens, [batch] of sequences and images; first and last
 * positions [batch, 2] of answers; as floats the numbers of a regression, or 0 to 1 for each of several labels
 * (of DeBERTa: a share of each class) [batch, label].
 */
export type LabelInput = IntegerInput | TensorInput;

/**
 * Inputs of a generation, with Hugging Face's names. Ids and masks have dims [batch, position]; a single row may be
 * flat. A call may read its inputs and options until it settles: change them later, or copies of them.
 */
export interface PromptInputs {
  /** Tokens of the prompt; for an encoder-decoder, the source. */
  input_ids?: IntegerInput | undefined;
  /** 1 for tokens, 0 for padding. Default: no padding. That of frames is ignored, as in transformers. */
  attention_mask?: IntegerInput | undefined;
  /** Log-mel spectrograms [batch, mel bin, frame], for Whisper. */
  input_features?: TensorInput | undefined;
  /**
   * The prefix of the decoder's text. Default: `decoder_start_token_id`; `generate` adds a Whisper's language and task.
   * For classes or answers (BART, T5) by default `input_ids`, shifted right; a classifier's is as long as these.
   */
  decoder_input_ids?: IntegerInput | undefined;
  decoder_attention_mask?: IntegerInput | undefined;
  /** Keys and values of a prefix of `input_ids`; the call extends them in place. */
  past_key_values?: KeyValueCache | null | undefined;
}

/**
 * Inputs of a forward pass. Each kind of model accepts some of them and rejects the others by name. A call may read them,
 * and its options, until it settles: change them later, or copies of them.
 */
export interface ModelInputs extends PromptInputs {
  /** The segment (of two texts) of each token. Default: zeros. An encoder without segments (DistilBERT) ignores them. */
  token_type_ids?: IntegerInput | undefined;
  /**
   * Default: the architecture's; one row holds for all. They hide nothing: where they restart, tokens attend to those before,
   * as in transformers with its cache (without one it takes them for packed sequences). A text model without places of
   * its own (BLOOM, MPT, T5) ignores them.
   */
  position_ids?: IntegerInput | undefined;
  decoder_position_ids?: IntegerInput | undefined;
  /**
   * Samples of sound [batch, sample], for wav2vec 2.0 and HuBERT; `attention_mask` has the same dims. Spectrograms
   * [batch, frame, mel bin], for AST.
   */
  input_values?: TensorInput | undefined;
  /** Images [batch, channel, height, width]. */
  pixel_values?: TensorInput | undefined;
  /**
   * Token embeddings [batch, position, width of the embedding] in place of `input_ids`; as in transformers, before
   * positions and token types are added, and multiplied by the model's factor only where transformers does so
   * (Granite).
   */
  inputs_embeds?: TensorInput | undefined;
  /** The same in place of `decoder_input_ids` (Marian and Pegasus multiply them). */
  decoder_inputs_embeds?: TensorInput | undefined;
  /**
   * The residual stream [batch, position, d_model] in place of the tokens or images; needs the option `start_at_layer` of
   * `run_with_cache` and `run_with_hooks`. For an encoder-decoder it is the decoder's if there is a source, too. With DINOv3
   * `pixel_values` may be beside it: their size, by default the config's, says where the patches are.
   */
  residual?: TensorInput | undefined;
  /**
   * Labels as transformers expects them for the model's task; the output has their `loss`. For causal language models the
   * `input_ids` themselves, which are shifted; one class per sequence for classifiers, floats for regression and several
   * labels; -100 is not counted. Without `decoder_input_ids` a decoder's are made of them. Only in calls of the model;
   * other calls have `metric`.
   */
  labels?: LabelInput | undefined;
  /** Interpolate the positions for images of another size than the config's. */
  interpolate_pos_encoding?: boolean | undefined;
}

const integerInputs = [
  'input_ids',
  'attention_mask',
  'decoder_input_ids',
  'decoder_attention_mask',
  'token_type_ids',
  'position_ids',
  'decoder_position_ids',
] as const;
const promptInputs = [
  'input_ids',
  'attention_mask',
  'input_features',
  'decoder_input_ids',
  'decoder_attention_mask',
  'past_key_values',
];
const tensorInputs = [
  'pixel_values',
  'input_features',
  'input_values',
  'inputs_embeds',
  'decoder_inputs_embeds',
  'residual',
] as const;
const allInputs = [...integerInputs, ...tensorInputs, 'past_key_values', 'interpolate_pos_encoding'];

/**
 * The inputs and options passed to `generate`, in either form: `generate(inputs, options)`, or a single object
 * in which `inputs` is the model's main input. Throws `invalid_argument` for duplicates.
 */
export function separated<O extends object>(call: string, given: PromptInputs & O, options: O): [PromptInputs, O] {
  if (given instanceof Tensor) return separated(call, { inputs: given } as unknown as PromptInputs & O, options);
  if (!isObject(given) || !isObject(options ?? {})) {
    return [given, options];
  }
  const inputs: Record<string, unknown> = {};
  const rest = withInherited(options);
  for (const [key, value] of Object.entries(withInherited(given))) {
    const ofMain = () => (value instanceof Tensor && value.type === 'float32' ? 'input_features' : 'input_ids');
    const name = key === 'inputs' ? ofMain() : key;
    const to = promptInputs.includes(name) ? inputs : rest;
    if (to[name] !== undefined && value !== undefined) {
      throw refusedOption(call, name, 'is given twice');
    }
    to[name] ??= value;
  }
  return [inputs, rest as O];
}

/** The inputs of a generation for the core. Throws `unsupported` for an unknown input. */
export function promptIn(call: string, inputs: PromptInputs, engine: Engine): RunInputs {
  checkOptions(call, inputs, promptInputs, 'input');
  return converted(call, inputs, engine);
}

/** The inputs of a forward pass for the core. */
export function forwardIn(call: string, inputs: ModelInputs, engine: Engine): RunInputs {
  // The model's own call has taken its labels out.
  checkOptions(call, inputs, call === 'model' ? [...allInputs, 'labels'] : allInputs, 'input');
  return converted(call, inputs, engine);
}

function converted(call: string, inputs: ModelInputs, engine: Engine): RunInputs {
  const run: RunInputs = {};
  for (const name of integerInputs) {
    const value = inputs?.[name];
    if (value !== undefined) run[name] = integerMatrix(name, value);
  }
  for (const name of tensorInputs) {
    const value = inputs?.[name];
    if (value !== undefined) run[name] = floats(name, value);
  }
  if (inputs?.interpolate_pos_encoding === true) run.interpolate_pos_encoding = true;
  const past = inputs?.past_key_values;
  if (past === undefined || past === null) return run;
  expectCache(call, past);
  const handle = past.handleFor(engine);
  if (handle) run.past_key_values = handle;
  return run;
}

/** The rows of a [batch, position] tensor as numbers. */
export function rowsOf({ data, dims }: TensorIn): number[][] {
  const [batch = 0, length = 0] = dims;
  const all = Array.from(data as ArrayLike<number | bigint>, Number);
  return Array.from({ length: batch }, (_, row) => all.slice(row * length, (row + 1) * length));
}
