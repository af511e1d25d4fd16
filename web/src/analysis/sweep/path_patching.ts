// Path patching: how much of a head's effect passes through certain heads' queries, keys or values, or directly to the
// logits. The sender's output is that of another input, all other heads' outputs, also those of cross-attention, are
// those of the base input; what the receivers then see is put into a run on the base input.
// Source: Wang et al. 2022, arXiv 2211.00593, section 3.1 and appendix B; Goldowsky-Dill et al. 2023, arXiv 2304.05969.

import type { ActivationEdit } from '../../models/edits.js';
import type { ModelInputs } from '../../models/inputs.js';
import type { PreTrainedModel } from '../../models/pre_trained_model.js';
import type { HookName } from '../../runtime/hook_names.js';
import { textOf } from '../../support/error.js';
import { checkOptions, expectKnown } from '../../support/options.js';
import type { ActivationCache } from '../../tensor/activation_cache.js';
import { Tensor } from '../../tensor/tensor.js';
import { checkCall, expectInputs, invalid } from '../check_call.js';
import { inLayer, requireAttention } from '../layer_hooks.js';
import { requireSameDims } from '../same_dims.js';
import type { Interventions } from './intervention.js';
import { scheduled } from './schedule.js';
import { type SweepOptions, sweepFor } from './sweep.js';

type Floats = Tensor<'float32'>;

/** A head and which of its inputs receives; for grouped keys and values the index of the key/value head. */
export interface PathReceiver {
  part: 'q' | 'k' | 'v';
  layer: number;
  head: number;
}

/** Options of pathPatching. */
export interface PathPatchingOptions extends SweepOptions {
  /** The inputs of the run that is measured, and inputs of the same dims that the sender's output is taken from. */
  base: ModelInputs;
  source: ModelInputs;
  /** What sees the changed output. Default: the logits. */
  receivers?: readonly PathReceiver[] | undefined;
  /** Whether paths may lead through MLPs, which are then computed anew (default), or not. */
  mlps?: 'recomputed' | 'frozen' | undefined;
}

/** The result of pathPatching. */
export interface PathPatching {
  /** The metric of the base input. */
  base: number;
  /** The metric for each sender, [n_layers, n_heads]; that of the base input for heads behind all receivers. */
  patched: Floats;
}

const call = 'pathPatching';

/** The activations that are kept as they are on the base input. */
interface Kept {
  model: PreTrainedModel;
  base: ActivationCache;
  source: ActivationCache;
  /** What else of the sender's layer and later ones. */
  rest: readonly string[];
}

const nameIn = (model: PreTrainedModel, layer: number, leaf: string) => inLayer(model, layer, leaf) as HookName;

/** The edits that send one head's output of the source to what follows, with all other heads as in the base. */
function sending({ model, base, source, rest }: Kept, layer: number, head: number, last: number): ActivationEdit[] {
  const kept = (hook: HookName): ActivationEdit => ({ hook, op: 'replace', value: base[hook] as Floats });
  const z = nameIn(model, layer, 'attn.hook_z');
  const value = (source[z] as Floats).slice(null, null, head, null) as Floats;
  const later = Array.from({ length: Math.max(0, last - layer - 1) }, (_, at) => layer + 1 + at);
  return [
    { hook: z, head, op: 'replace', value },
    ...later.map((one) => kept(nameIn(model, one, 'attn.hook_z'))),
    ...[layer, ...later].flatMap((one) => rest.map((leaf) => kept(nameIn(model, one, leaf)))),
  ];
}

/**
 * The metric of the base input for each head as the sender. Rejects like `sweep`, with `invalid_argument` for receivers
 * that do not exist and `shape_mismatch` if the two inputs have different dims.
 */
export async function pathPatching(model: PreTrainedModel, options: PathPatchingOptions): Promise<PathPatching> {
  const known = ['base', 'source', 'receivers', 'mlps', 'metric', 'signal', 'progress'];
  checkCall(call, model, options ?? null, known);
  const { base, source, receivers, mlps = 'recomputed', metric, signal, progress } = options;
  expectKnown(call, 'mlps', mlps, ['recomputed', 'frozen']);
  expectInputs(call, { base, source });
  requireAttention(call, model);
  const { n_layers, n_heads } = model.cfg;
  const heard = (receivers ?? []).map((one) => checked(model, one));
  const last = heard.length === 0 ? n_layers : Math.max(...heard.map(({ layer }) => layer));
  const kept = await keptOf(model, base, source, mlps === 'frozen', signal);
  const end = heard.length === 0 ? last : last + 1;
  const senders: Interventions = {
    length: last * n_heads,
    at: (index) => sending(kept, Math.floor(index / n_heads), index % n_heads, Math.min(end, n_layers)),
  };
  const interventions = heard.length === 0 ? senders : await receiving(model, options, heard, senders, end);
  const { base: without, values } = await sweepFor(call, model, { base, metric, signal, progress, interventions });
  const patched = new Float32Array(n_layers * n_heads).fill(without);
  patched.set(values);
  return { base: without, patched: new Tensor('float32', patched, [n_layers, n_heads]) };
}

function checked(model: PreTrainedModel, receiver: PathReceiver): PathReceiver {
  checkOptions(`${call}: receivers`, receiver ?? null, ['part', 'layer', 'head']);
  const { part, layer, head } = receiver;
  const { n_layers, n_heads, n_key_value_heads } = model.cfg;
  const heads = part === 'q' ? n_heads : (n_key_value_heads as number);
  const exists = Number.isInteger(layer) && layer >= 0 && layer < n_layers;
  if (['q', 'k', 'v'].includes(part) && exists && Number.isInteger(head) && head >= 0 && head < heads) return receiver;
  throw invalid(call, `there is no ${textOf(part)} of head ${textOf(head)} in layer ${textOf(layer)}`, 'receivers');
}

async function keptOf(
  model: PreTrainedModel,
  base: ModelInputs,
  source: ModelInputs,
  mlps: boolean,
  signal: AbortSignal | undefined,
): Promise<Kept> {
  const rest = [
    ...(model.cfg.kind === 'encoder-decoder' ? ['cross_attn.hook_z'] : []),
    ...(mlps ? ['hook_mlp_out'] : []),
  ];
  const names_filter = ['attn.hook_z', ...rest].map(
    (leaf) => inLayer(model, 0, leaf).replace(/\b0\b/, '*') as `${string}*${string}`,
  );
  const [, own] = await model.run_with_cache(base, { names_filter, signal });
  const [, other] = await model.run_with_cache(source, { names_filter, signal });
  const z = nameIn(model, 0, 'attn.hook_z');
  requireSameDims(call, z, own[z] as Floats, other[z] as Floats, ['base', 'source']);
  return { model, base: own, source: other, rest };
}

/** Interventions that put what the receivers see from each sender into a run on the base input. */
async function receiving(
  model: PreTrainedModel,
  { base, signal }: PathPatchingOptions,
  receivers: readonly PathReceiver[],
  senders: Interventions,
  stop_at_layer: number,
): Promise<Interventions> {
  const named = receivers.map((one) => ({ ...one, hook: nameIn(model, one.layer, `attn.hook_${one.part}`) }));
  const names_filter = [...new Set(named.map(({ hook }) => hook))];
  const capture = { names_filter, stop_at_layer };
  const work = { base, edits: [], capture, signal, interventions: senders, wanted: () => true };
  const { rows } = await scheduled([model], work);
  const seen: ActivationEdit[][] = [];
  for await (const { index, captured } of rows()) {
    seen[index] = named.map(({ hook, head }) => {
      const value = (captured[hook] as Floats).slice(null, null, head, null) as Floats;
      return { hook, head, op: 'replace', value };
    });
  }
  return seen;
}
