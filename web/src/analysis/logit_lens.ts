// The logit lens: the logits if the model ended at a layer. The residual stream at that point goes through the final
// norm and the output layer. Source: nostalgebraist 2020, "interpreting GPT: the logit lens".

import type { ModelInputs } from '../models/inputs.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import type { HookName } from '../runtime/hook_names.js';
import { ClearformerError } from '../support/error.js';
import { stack } from '../tensor/operations.js';
import { Tensor } from '../tensor/tensor.js';
import { checkCall } from './check_call.js';
import { defaultHook, layerHooks } from './layer_hooks.js';
import { type Positions, placesOf, takePlaces } from './positions.js';

/** Options of logitLens. */
export interface LogitLensOptions {
  /** The positions; default: all. A number drops the axis. */
  pos?: Positions | undefined;
  /** Whether to apply the final norm, if the model has one. Default true. */
  normalize?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

const tasks = ['causal-lm', 'masked-lm', 'seq2seq-lm'];

/**
 * Logits of the residual stream before every layer and after the last, [n_layers + 1, batch, pos, d_vocab]; the last
 * are the model's own, bit for bit. For an encoder-decoder it is the decoder's stream; for a masked-LM the whole head
 * is applied. With a large vocabulary all positions are a lot of data: `pos` restricts them.
 * Rejects with `unsupported` for models without a vocabulary, `invalid_argument` for positions that do not exist, and
 * as a call of the model does.
 */
export async function logitLens(
  model: PreTrainedModel,
  inputs: ModelInputs,
  options: LogitLensOptions = {},
): Promise<Tensor<'float32'>> {
  checkCall('logitLens', model, options, ['pos', 'normalize', 'signal']);
  const { pos, normalize = true, signal } = options;
  const { task, model_type } = model.cfg;
  if (!tasks.includes(task)) {
    throw new ClearformerError('unsupported', `logitLens: ${model_type} for ${task} gives no logits of a vocabulary`);
  }
  const names = residualStream(model);
  const [, cache] = await model.run_with_cache(inputs, { names_filter: names, signal });
  const { engine, model: handle } = model.open();
  const parts: Tensor<'float32'>[] = [];
  for (const name of names) {
    const residual = cache[name] as Tensor<'float32'>;
    const { data, dims } = takePlaces(residual, placesOf('logitLens', pos, residual.dims[1] ?? 0));
    const out = await engine.call('model_unembed', { model: handle, x: { data, dims: [...dims] }, normalize }, signal);
    parts.push(new Tensor('float32', out.data, out.dims));
  }
  const all = stack(parts);
  return typeof pos === 'number' ? all.slice(null, null, 0) : all;
}

/**
 * Names of the residual stream before every layer and after the last; in a post-norm model after the layer's last norm.
 */
function residualStream(model: PreTrainedModel): HookName[] {
  const before = layerHooks(model, defaultHook(model, 'hook_resid_pre'));
  const last = before.at(-1) as HookName;
  const [post, normalized] = ['hook_resid_post', 'hook_normalized_resid_post'].map((leaf) => {
    return last.replace('hook_resid_pre', leaf);
  }) as [HookName, HookName];
  return [...before, model.hooks().some(({ name }) => name === normalized) ? normalized : post];
}
