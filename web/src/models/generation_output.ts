// The results of generation: per step, and as a whole with transformers' names.

import type { StepValue, TensorOut } from '../runtime/border.js';
import type { ActivationCache } from '../tensor/activation_cache.js';
import { Tensor } from '../tensor/tensor.js';
import { toTensor } from '../tensor/tensor_output.js';
import type { KeyValueCache } from './key_value_cache.js';
import type { PassObservation } from './observation.js';

type Layers = Tensor<'float32'>[];

/** Optional outputs of a step. The first step's queries are the prompt, later ones have a single query. */
export interface StepTensors {
  /** [row, vocabulary] */
  scores?: Tensor<'float32'>;
  logits?: Tensor<'float32'>;
  /** Per layer [row, head, query, key]. */
  attentions?: Layers;
  /** Per layer, embedding first, [row, query, d_model]. */
  hidden_states?: Layers;
  /**
   * The activations selected by `names_filter`, or of each the part that `select` keeps; the first step's cover the
   * prompt, before rows are repeated for beams. Without a part that has no element in this step.
   */
  cache?: ActivationCache;
  // Models with an encoder have these instead; the encoder's are part of the first step.
  decoder_attentions?: Layers;
  cross_attentions?: Layers;
  decoder_hidden_states?: Layers;
  encoder_attentions?: Layers;
  encoder_hidden_states?: Layers;
}

/** One step of `generate_stream`. A row is a sequence of the batch, or a beam. */
export interface GenerationStep extends StepTensors {
  /** The new token of the first row, and of all rows. */
  token_id: number;
  token_ids: number[];
  /** Text completed by this token, in the first row and in all; undefined without a tokenizer and for beam search. */
  text: string | undefined;
  texts: string[] | undefined;
  /**
   * Beam search: the row of the previous step that each row continues, and its sum of log-probabilities (-1e9 for a row
   * that has finished).
   */
  beam_indices?: number[];
  beam_scores?: number[];
}

type PerStep = { [K in 'scores' | 'logits']?: Tensor<'float32'>[] } & {
  [K in
    | 'attentions'
    | 'hidden_states'
    | 'decoder_attentions'
    | 'cross_attentions'
    | 'decoder_hidden_states']?: Layers[];
} & { cache?: ActivationCache[] };

/** The result of `generate` with `return_dict_in_generate`; arrays have one entry per step. */
export interface GenerateOutput extends PerStep {
  /** [batch · num_return_sequences, length], including the prompt. */
  sequences: Tensor<'int64'>;
  /** Beam search: the sum of log-probabilities / length ^ length_penalty of each sequence. */
  sequences_scores?: Tensor<'float32'>;
  /** Beam search: [sequence, new tokens], the row each token was chosen in; -1 after the end. */
  beam_indices?: Tensor<'int64'>;
  /** Per layer. */
  encoder_attentions?: Layers;
  encoder_hidden_states?: Layers;
  /** Keys and values of all processed positions; release them with dispose(). */
  past_key_values?: KeyValueCache;
}

/** The requested outputs of a step as Tensors, with one row per row of the step; `cache` is the observation's. */
export function stepTensors(value: StepValue, cache: PassObservation['cache'] | undefined): StepTensors {
  const rows = value.token_ids.dims[0] ?? 0;
  const lists = Object.entries(value.lists ?? {}).filter(([, members]) => members.length > 0);
  return {
    ...(value.scores && { scores: toTensor(value.scores) }),
    ...(value.logits && { logits: toTensor(value.logits) }),
    ...(value.captured && cache && { cache: cache(value) }),
    ...Object.fromEntries(
      lists.map(([name, members]) => {
        const encoder = name.startsWith('encoder');
        return [name, members.map((member) => (encoder ? toTensor(member) : repeated(member, rows)))];
      }),
    ),
  };
}

/** The prompt is processed once for all beams; upstream returns a copy per beam: a, a, b, b, … */
function repeated(out: TensorOut<'float32'>, rows: number): Tensor<'float32'> {
  const [batch = 0, ...rest] = out.dims;
  if (batch === rows || batch === 0) return toTensor(out);
  const size = out.data.length / batch;
  const data = new Float32Array(rows * size);
  for (let row = 0; row < rows; row++) {
    const from = Math.floor((row * batch) / rows) * size;
    data.set(out.data.subarray(from, from + size), row * size);
  }
  return new Tensor('float32', data, [rows, ...rest]);
}

/** Converts one object per step to one array per kind; the encoder's outputs are not repeated. */
export function byKind(steps: readonly StepTensors[]): Omit<GenerateOutput, 'sequences'> {
  const [first = {}] = steps;
  return Object.fromEntries(
    (Object.keys(first) as (keyof StepTensors)[]).map((kind) => [
      kind,
      kind.startsWith('encoder') ? first[kind] : steps.map((step) => step[kind]),
    ]),
  );
}

/** Converts to int64, the type of token ids in JavaScript. */
export function toInt64({ data, dims }: TensorOut<'int32'>): Tensor<'int64'> {
  return new Tensor('int64', BigInt64Array.from(data, BigInt), dims);
}
