// Causal tracing: noise on the embeddings of the subject's tokens hides what the model knows about it; where restoring
// one state of the clean run brings the answer back, that state carries the knowledge.
// Source: Meng et al. 2022, "Locating and Editing Factual Associations in GPT", arXiv 2202.05262, section 2.1.

import type { ActivationEdit } from '../../models/edits.js';
import { forwardIn, type ModelInputs } from '../../models/inputs.js';
import type { PreTrainedModel } from '../../models/pre_trained_model.js';
import { sizes } from '../../primitives/arguments.js';
import type { HookName } from '../../runtime/hook_names.js';
import { textOf } from '../../support/error.js';
import { refusedOption } from '../../support/options.js';
import { Tensor } from '../../tensor/tensor.js';
import { checkCall, expectInputs, invalid } from '../check_call.js';
import { axisOf, defaultHook, type LayerHook, layerHooks } from '../layer_hooks.js';
import { measured } from '../metric.js';
import { tiled } from './base_run.js';
import { type SweepOptions, sweepFor } from './sweep.js';

type Floats = Tensor<'float32'>;

/** Options of causalTracing. */
export interface CausalTracingOptions extends SweepOptions {
  /** One text. */
  inputs: ModelInputs;
  /** The positions of the subject's tokens, in what the layers of `hook` read. */
  subject: readonly number[];
  /** The standard deviation of the noise; in the paper three times that of the embeddings. */
  noise: number;
  /** How many samples of the noise the metric is evaluated on, as one batch. Default 10. */
  samples?: number | undefined;
  /** The seed of the noise, default 0. */
  seed?: number | undefined;
  /** What is restored, `*` for the layer. Default: `blocks.*.hook_resid_post`. */
  hook?: LayerHook | undefined;
  /** In how many layers around each one, for the outputs of attention or MLP; the paper takes 10. Default 1. */
  window?: number | undefined;
}

/** The result of causalTracing: values of the metric. */
export interface CausalTracing {
  clean: number;
  corrupted: number;
  /** With one state restored: [n_layers, pos]. */
  restored: Floats;
  /** The hook restored in each row, the middle of its window. */
  hooks: HookName[];
}

const call = 'causalTracing';
const known = ['inputs', 'subject', 'noise', 'samples', 'seed', 'hook', 'window', 'metric', 'signal', 'progress'];

function checked(model: PreTrainedModel, options: CausalTracingOptions) {
  checkCall(call, model, options ?? null, known);
  const { samples = 10, window = 1, noise, subject } = options;
  sizes(call, { samples, window }, 1);
  if (!(Number.isFinite(noise) && noise > 0))
    throw refusedOption(call, 'noise', `is ${textOf(noise)}, no number above 0`);
  if (!Array.isArray(subject) || subject.length === 0) throw refusedOption(call, 'subject', 'needs positions');
  return { ...options, samples, window };
}

/**
 * Runs the model on the text, on noisy copies of it, and on those with each state restored. The metric receives the
 * logits of all copies; that of the clean text those of one. Rejects like `sweep`.
 */
export async function causalTracing(model: PreTrainedModel, options: CausalTracingOptions): Promise<CausalTracing> {
  const { inputs, subject, noise, samples, seed = 0, window, metric, signal, progress } = checked(model, options);
  expectInputs(call, { inputs });
  const hooks = layerHooks(model, options.hook ?? defaultHook(model, 'hook_resid_post'));
  const [tower = ''] = /^(\w+coder|\w+_model)\./.exec(hooks[0] as HookName) ?? [];
  const embeddings = `${tower}hook_embed` as HookName;
  const { axis } = axisOf(call, model, hooks[0] as HookName, 'position');
  const [logits, cache] = await model.run_with_cache(inputs, { names_filter: hooks, signal });
  const clean = hooks.map((hook) => cache[hook] as Floats);
  if (clean[0]?.dims[0] !== 1) throw invalid(call, `one text is needed, got ${clean[0]?.dims[0]}`, 'inputs');
  const length = clean[0].dims[axis] as number;
  const first = (layer: number) => Math.max(0, layer - Math.floor(window / 2));
  const restoring = (index: number): ActivationEdit[] => {
    const [layer, pos] = [Math.floor(index / length), index % length];
    const end = Math.min(hooks.length, layer - Math.floor(window / 2) + window);
    return hooks.slice(first(layer), end).map((hook, at) => {
      const whole = clean[first(layer) + at] as Floats;
      const value = whole.slice(...whole.dims.map((_, one) => (one === axis ? pos : null))) as Floats;
      return { hook, pos, op: 'replace', value };
    });
  };
  const { base: corrupted, values } = await sweepFor(call, model, {
    base: copies(model, inputs, samples),
    edits: [{ hook: embeddings, pos: subject, op: 'noise', value: noise, seed }],
    interventions: { length: hooks.length * length, at: restoring },
    metric,
    signal,
    progress,
  });
  const restored = new Tensor('float32', values, [hooks.length, length]);
  return { clean: await measured(call, metric, logits), corrupted, restored, hooks };
}

/** The text in so many rows. */
function copies(model: PreTrainedModel, inputs: ModelInputs, samples: number): ModelInputs {
  const given = Object.entries(forwardIn(call, inputs, model.open().engine));
  const rows = given.map(([name, value]) => [name, typeof value === 'object' ? tiled(value, samples) : value]);
  return Object.fromEntries(rows);
}
