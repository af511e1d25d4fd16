// The computational graph of a model as edge attribution sees it: nodes that write to the residual stream, inputs that
// read it, and which of them comes first.

import type { PreTrainedModel } from '../models/pre_trained_model.js';
import type { HookName } from '../runtime/hook_names.js';
import { requireAttention } from './layer_hooks.js';
import { refusal, requireSum } from './residual_parts.js';

/** A node that writes to the residual stream: its name, the hook of what it adds, and when it does. */
export interface Writer {
  name: string;
  hook: HookName;
  head?: number;
  /** Writers and readers of the same stage do not see each other. */
  stage: number;
}

/** An input that reads the residual stream; its hook is a copy of it. */
export type Reader = Writer;

/** Whether what the writer adds is part of what the reader reads. */
export const isEarlier = (writer: Writer, reader: Reader): boolean => writer.stage < reader.stage;

/** The stages of a layer's attention and feed-forward network: the same if they are parallel. */
function stagesOf(model: PreTrainedModel, layer: number): { attention: number; mlp: number } {
  const parallel = !model.hooks().some(({ name }) => name === 'blocks.0.hook_resid_mid');
  return { attention: 2 * layer + 1, mlp: parallel ? 2 * layer + 1 : 2 * layer + 2 };
}

/** The nodes that write, in order. Throws `unsupported` for models that are not a sum of what their nodes add. */
export function writersOf(call: string, model: PreTrainedModel): Writer[] {
  requireAttention(call, model);
  const names = new Set<string>(model.hooks({ on_request: true }).map(({ name }) => name));
  const one = names.has('blocks.0.hook_resid_pre') && names.has('blocks.0.hook_q_input');
  const { kind, n_layers, n_heads } = model.cfg;
  const several = kind === 'encoder-decoder' || kind === 'dual-encoder';
  if (several || !one) throw refusal(call, model, several ? 'it has several stacks' : 'it has no hook_q_input');
  requireSum(call, model);
  const writers: Writer[] = [{ name: 'input', hook: 'blocks.0.hook_resid_pre', stage: 0 }];
  for (let layer = 0; layer < n_layers; layer++) {
    const { attention, mlp } = stagesOf(model, layer);
    for (let head = 0; head < n_heads; head++) {
      writers.push({ name: `a${layer}.h${head}`, hook: `blocks.${layer}.attn.hook_result`, head, stage: attention });
    }
    writers.push({ name: `m${layer}`, hook: `blocks.${layer}.hook_mlp_out`, stage: mlp });
  }
  return writers;
}

/** The inputs that read, in order; heads that share keys and values have one input for these. */
export function readersOf(model: PreTrainedModel): Reader[] {
  const { n_layers, n_heads } = model.cfg;
  const shared = Number(model.cfg.n_key_value_heads ?? n_heads);
  const readers: Reader[] = [];
  for (let layer = 0; layer < n_layers; layer++) {
    const { attention, mlp } = stagesOf(model, layer);
    for (const letter of ['q', 'k', 'v'] as const) {
      for (let head = 0; head < (letter === 'q' ? n_heads : shared); head++) {
        const hook: HookName = `blocks.${layer}.hook_${letter}_input`;
        readers.push({ name: `a${layer}.h${head}<${letter}>`, hook, head, stage: attention });
      }
    }
    readers.push({ name: `m${layer}`, hook: `blocks.${layer}.hook_mlp_in`, stage: mlp });
  }
  readers.push({ name: 'logits', hook: `blocks.${n_layers - 1}.hook_resid_post`, stage: 2 * n_layers + 1 });
  return readers;
}
