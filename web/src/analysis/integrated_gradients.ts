// Integrated gradients: how much each element of an activation or input x contributes to a metric F, compared with a
// baseline x', along the straight line between them:
//   IG = (x - x') ⊙ ∫₀¹ ∇F(x' + α (x - x')) dα,    Σ IG = F(x) - F(x')
// The integral by the midpoint rule. Source: Sundararajan et al. 2017, arXiv 1703.01365.

import type { Gradients } from '../models/gradient.js';
import type { DifferentiableMetric } from '../models/gradient_metric.js';
import type { ModelInputs } from '../models/inputs.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import { whole } from '../primitives/arguments.js';
import type { HookName } from '../runtime/hook_names.js';
import { ClearformerError } from '../support/error.js';
import { Tensor } from '../tensor/tensor.js';
import { floats, type TensorInput } from '../tensor/tensor_input.js';
import { checkCall, expectHook, expectTerms, invalid } from './check_call.js';
import type { SweepProgress } from './sweep/sweep.js';
import { embeddingHook } from './token_saliency.js';

const call = 'integratedGradients';

/** Options of integratedGradients. */
export interface IntegratedGradientsOptions {
  metric: DifferentiableMetric;
  /**
   * The activation or input: a hook name, `pixel_values` or `input_features`. Default: the embeddings, of tokens or of
   * patches.
   */
  at?: HookName | 'pixel_values' | 'input_features' | 'input_values' | undefined;
  /**
   * Its value where nothing is there, broadcast to it. Default 0, which suits inputs and embeddings that positions are
   * added to; a norm directly behind (Llama) is steep there, and the mean embedding or another text's a better one. Scores
   * that a mask hides stay hidden.
   */
  baseline?: number | TensorInput | undefined;
  /** The number of points of the integral, each a forward and a backward pass. Default 32. */
  steps?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called after every point. */
  progress?: ((progress: SweepProgress) => void) | undefined;
}

/** The result of integratedGradients. */
export interface IntegratedGradients {
  /** Of the activation's dims. */
  attributions: Tensor<'float32'>;
  /** Summed over the last axis: of embeddings one number for each position. */
  sums: Tensor<'float32'>;
  /** The metric of the input and of the baseline. */
  value: number;
  baseline: number;
  /** The sum of all attributions minus `value - baseline`: the error of the integral. */
  error: number;
}

/**
 * Integrated gradients of a metric at the embeddings or another place. Rejects with `invalid_argument` for steps that are
 * no positive whole number, `shape_mismatch` for a baseline that does not fit, with the abort signal's reason, and as
 * `backward` does.
 */
export async function integratedGradients(
  model: PreTrainedModel,
  inputs: ModelInputs,
  options: IntegratedGradientsOptions,
): Promise<IntegratedGradients> {
  checkCall(call, model, options ?? null, ['metric', 'at', 'baseline', 'steps', 'signal', 'progress']);
  const { at = embeddingHook(call, model, inputs), steps = 32, baseline = 0, progress } = options;
  whole(call, 'steps', steps, 1);
  expectHook(call, 'at', at);
  expectTerms(call, options.metric);
  const place = placeOf(model, inputs, at, options);
  const x = await place.value();
  const start = baselineOf(baseline, x);
  const difference = x.sub(start).map((value) => (Number.isNaN(value) ? 0 : value)) as Tensor<'float32'>;
  const mean = new Float64Array(x.data.length);
  for (let step = 0; step < steps; step++) {
    const between = start.add(difference.mul((step + 0.5) / steps));
    const { gradient } = await place.at(between);
    gradient.data.forEach((value, i) => {
      mean[i] = (mean[i] as number) + (value as number) / steps;
    });
    progress?.({ done: step + 1, total: steps });
  }
  const data = Float32Array.from(difference.data, (value, i) => (value as number) * (mean[i] as number));
  const attributions = new Tensor('float32', data, x.dims);
  const [first, last] = [await place.at(start), await place.at(x)];
  const total = data.reduce((sum, value) => sum + value, 0);
  return {
    attributions,
    sums: attributions.sum(-1) as Tensor<'float32'>,
    value: last.value,
    baseline: first.value,
    error: total - (last.value - first.value),
  };
}

/** A place in the model whose value can be set. */
interface Place {
  value(): Promise<Tensor<'float32'>>;
  at(value: Tensor<'float32'>): Promise<{ value: number; gradient: Tensor<'float32'> }>;
}

function placeOf(model: PreTrainedModel, inputs: ModelInputs, at: string, options: IntegratedGradientsOptions): Place {
  const { metric, signal } = options;
  if (at === 'pixel_values' || at === 'input_features' || at === 'input_values') {
    const given = inputs[at];
    if (given === undefined) throw invalid(call, `there are no ${at}`, 'at');
    const { data, dims } = floats(at, given);
    return {
      value: async () => new Tensor('float32', data, dims),
      async at(value) {
        const found = await model.backward(
          { ...inputs, [at]: value },
          { metric, with_respect_to: { inputs: at }, signal },
        );
        return { value: found.value, gradient: found.inputs[at] as Tensor<'float32'> };
      },
    };
  }
  const hook = at as HookName;
  return {
    async value() {
      // With the metric, whose labels a decoder's inputs may be made of.
      const { activations } = await model.backward(inputs, { metric, names_filter: hook, signal });
      return activations[hook] as Tensor<'float32'>;
    },
    async at(value) {
      const edits = [{ hook, op: 'replace', value }] as const;
      const found: Gradients = await model.backward(inputs, {
        metric,
        edits,
        with_respect_to: { hooks: hook },
        signal,
      });
      return { value: found.value, gradient: found.grad[hook] as Tensor<'float32'> };
    },
  };
}

function baselineOf(given: number | TensorInput, x: Tensor<'float32'>): Tensor<'float32'> {
  const zeros = x.map((value) => (value === Number.NEGATIVE_INFINITY ? value : 0)) as Tensor<'float32'>;
  if (typeof given === 'number') return zeros.add(given);
  const { data, dims } = floats(`${call}: baseline`, given);
  const fits =
    dims.length <= x.dims.length &&
    dims.every((extent, axis) => extent === 1 || extent === x.dims.at(axis - dims.length));
  if (data.length > 0 && fits) return zeros.add(new Tensor('float32', data, dims));
  const message = `${call}: a baseline [${dims.join(', ')}] does not fit [${x.dims.join(', ')}]`;
  throw new ClearformerError('shape_mismatch', message, { option: 'baseline' });
}
