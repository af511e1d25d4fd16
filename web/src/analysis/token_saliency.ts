// Saliency: how much a metric F depends on each token or patch, by the gradient at its embedding x:
//   gradient: ‖∂F/∂x‖₂ (Simonyan et al. 2013, arXiv 1312.6034; for text Li et al. 2016, arXiv 1506.01066)
//   gradient × input: x·∂F/∂x, the first-order effect of the embedding (Denil et al. 2014, arXiv 1412.6815)

import type { DifferentiableMetric } from '../models/gradient_metric.js';
import type { ModelInputs } from '../models/inputs.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import type { HookName } from '../runtime/hook_names.js';
import { ClearformerError } from '../support/error.js';
import { expectKnown } from '../support/options.js';
import { Tensor } from '../tensor/tensor.js';
import { floats, type TensorInput } from '../tensor/tensor_input.js';
import { checkCall, expectHook, expectTerms, invalid } from './check_call.js';

/** Options of tokenSaliency and patchSaliency. */
export interface SaliencyOptions {
  metric: DifferentiableMetric;
  /** Default `gradient`. */
  method?: 'gradient' | 'gradient_x_input' | undefined;
  /**
   * The hook of the embeddings. Default: the token or patch embeddings of the input; for an encoder-decoder those of the
   * source, `decoder.hook_embed` are those of the target.
   */
  hook?: HookName | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * The saliency of each position, [batch, pos]. Rejects with `unsupported` for an unknown method, with the abort signal's
 * reason, and as `backward` does.
 */
export async function tokenSaliency(
  model: PreTrainedModel,
  inputs: ModelInputs,
  options: SaliencyOptions,
): Promise<Tensor<'float32'>> {
  return saliency('tokenSaliency', model, inputs, options);
}

/**
 * The saliency of each patch of images, [batch, row, column]; positions before the patches (class tokens, registers) are
 * left out. For vision models and the image towers of dual encoders. Rejects like `tokenSaliency`, with `shape_mismatch`
 * for a hook without a vector for each patch.
 */
export async function patchSaliency(
  model: PreTrainedModel,
  inputs: ModelInputs,
  options: SaliencyOptions,
): Promise<Tensor<'float32'>> {
  const call = 'patchSaliency';
  if (inputs?.pixel_values === undefined) {
    throw invalid(call, 'needs pixel_values', 'pixel_values');
  }
  const { pixel_values } = inputs;
  const { data, dims } = await saliency(call, model, inputs, options, { pixel_values });
  const [batch = 0, length = 0] = dims;
  const [rows, columns] = gridOf(model, pixel_values);
  const first = length - rows * columns;
  if (dims.length > 2 || first < 0) {
    const message = `${call}: [${dims.join(', ')}] do not fit [${rows}, ${columns}] patches`;
    throw new ClearformerError('shape_mismatch', message, { option: 'hook' });
  }
  const patches = new Float32Array(batch * rows * columns);
  for (let row = 0; row < batch; row++) {
    patches.set(data.subarray(row * length + first, (row + 1) * length), row * rows * columns);
  }
  return new Tensor('float32', patches, [batch, rows, columns]);
}

/** `embedded` are the inputs among which those are whose embeddings are meant. */
async function saliency(
  call: string,
  model: PreTrainedModel,
  inputs: ModelInputs,
  options: SaliencyOptions,
  embedded = inputs,
) {
  checkCall(call, model, options ?? null, ['metric', 'method', 'hook', 'signal']);
  const { metric, method = 'gradient', hook = embeddingHook(call, model, embedded), signal } = options;
  expectKnown(call, 'method', method, ['gradient', 'gradient_x_input']);
  expectHook(call, 'hook', hook);
  expectTerms(call, metric);
  const found = await model.backward(inputs, { metric, names_filter: hook, with_respect_to: { hooks: hook }, signal });
  const [x, gradient] = [found.activations[hook], found.grad[hook]] as [Tensor<'float32'>, Tensor<'float32'>];
  return method === 'gradient' ? gradient.norm(2, -1) : (x.mul(gradient).sum(-1) as Tensor<'float32'>);
}

/** The hook of the embeddings of the model's tokens or patches. Throws `invalid_argument` if it has none. */
export function embeddingHook(call: string, model: PreTrainedModel, inputs: ModelInputs): HookName {
  const names = model.hooks().map(({ name }) => name);
  const image =
    model.cfg.kind === 'dual-encoder' && inputs?.pixel_values !== undefined && inputs.input_ids === undefined;
  const found = names.find((name) => name.endsWith('hook_embed') && (!image || name.startsWith('vision_model.')));
  if (found !== undefined) return found;
  throw invalid(call, 'this model has no hook_embed: name a hook', 'hook');
}

/** Rows and columns of the patches of images. */
function gridOf(model: PreTrainedModel, pixel_values: TensorInput): [number, number] {
  const { patch_size = 16 } = (model.config.vision_config ?? model.config) as { patch_size?: number | number[] };
  const [high = 16, wide = high] = [patch_size].flat();
  const { dims } = floats('pixel_values', pixel_values);
  return [Math.floor((dims[2] ?? 0) / high), Math.floor((dims[3] ?? 0) / wide)];
}
