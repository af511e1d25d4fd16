// Edge attribution patching (EAP): the effect of corrupting each edge of the computational graph, to first order. What a
// node u adds to the residual stream reaches a later node v through the input of v:
//   score(u → v) = Σ (a_u(corrupted) - a_u(clean)) · ∂metric/∂input_v
// with the gradient on the clean input (Syed et al. 2023, arXiv 2310.10348), or averaged over inputs between corrupted and
// clean embeddings (EAP-IG: Hanna et al. 2024, arXiv 2403.17806, section 3.2). Nodes: the embeddings, each head, each
// feed-forward network, the logits; a head has three inputs, of its queries, keys and values.

import type { Gradients } from '../models/gradient.js';
import type { DifferentiableMetric } from '../models/gradient_metric.js';
import type { ModelInputs } from '../models/inputs.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import { whole } from '../primitives/arguments.js';
import { matmul } from '../primitives/functional.js';
import type { HookName } from '../runtime/hook_names.js';
import type { ActivationCache } from '../tensor/activation_cache.js';
import { Tensor } from '../tensor/tensor.js';
import { checkCall, expectInputs, expectTerms } from './check_call.js';
import { isEarlier, type Reader, readersOf, type Writer, writersOf } from './edge_graph.js';
import { attentionScale } from './layer_hooks.js';
import { requireSameDims } from './same_dims.js';

const call = 'edgeAttribution';

/** Options of edgeAttribution. */
export interface EdgeAttributionOptions {
  /** The clean inputs, and the corrupted inputs of the same dims. */
  clean: ModelInputs;
  corrupted: ModelInputs;
  metric: DifferentiableMetric;
  /** 0 (default): EAP. Otherwise EAP-IG with so many points between the corrupted and the clean embeddings. */
  steps?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** An edge of the graph, by the names of its nodes, with its score. */
export interface AttributedEdge {
  /** `input`, `a0.h1` (layer, head) or `m0`. */
  from: string;
  /** `a1.h2<q>` (or `<k>`, `<v>`), `m1` or `logits`. */
  to: string;
  score: number;
}

/** The graph with its scores. */
export interface EdgeAttribution {
  /** The metric of the clean input. */
  value: number;
  /** The nodes that write to the residual stream, and the inputs that read it, in the order they are computed. */
  writers: string[];
  readers: string[];
  /** [writer, reader]; 0 where there is no edge. */
  scores: Tensor<'float32'>;
  /** The edges, those with the largest magnitude first. */
  edges: AttributedEdge[];
}

/**
 * The scores of all edges of a decoder-only or encoder-only model whose blocks add to the residual stream (not those that
 * normalize it afterwards, as BERT does). Rejects with `unsupported` for others, `shape_mismatch` if the inputs have
 * different dims, with the abort signal's reason, and as `backward` does.
 */
export async function edgeAttribution(
  model: PreTrainedModel,
  options: EdgeAttributionOptions,
): Promise<EdgeAttribution> {
  checkCall(call, model, options ?? null, ['clean', 'corrupted', 'metric', 'steps', 'signal']);
  const { clean, corrupted, metric, steps = 0, signal } = options;
  expectTerms(call, metric);
  whole(call, 'steps', steps, 0);
  expectInputs(call, { clean, corrupted });
  const writers = writersOf(call, model);
  const readers = readersOf(model);
  const names_filter = [...new Set([...writers.map(({ hook }) => hook)])];
  const hooks = [...new Set(readers.map(({ hook }) => hook))];
  const with_respect_to = { hooks };
  const [, wrong] = await model.run_with_cache(corrupted, { names_filter, signal });
  const found = await model.backward(clean, { metric, names_filter, ...(steps === 0 && { with_respect_to }), signal });
  const gradients = steps === 0 ? [found] : await between(model, options, found.activations, wrong, { hooks, steps });
  const scales = await Promise.all(Array.from({ length: model.cfg.n_layers }, (_, at) => attentionScale(model, at)));
  const differences = rowsOf(writers, (name) => {
    const scale = name.endsWith('result') ? scales[Number(name.split('.')[1])] : undefined;
    return subtracted(name, wrong, found.activations).mul(scale ?? 1);
  });
  const sums = rowsOf(readers, (name) => averaged(gradients, name));
  const product = await matmul(differences, sums.transpose(0, 1));
  return { value: found.value, ...graphOf(writers, readers, product) };
}

/** The gradients at points between the corrupted and the clean embeddings, the clean one included. */
async function between(
  model: PreTrainedModel,
  { clean, metric, signal }: EdgeAttributionOptions,
  right: ActivationCache,
  wrong: ActivationCache,
  { hooks, steps }: { hooks: HookName[]; steps: number },
): Promise<Gradients[]> {
  const hook: HookName = 'blocks.0.hook_resid_pre';
  const [x, y] = [right[hook], wrong[hook]] as [Tensor<'float32'>, Tensor<'float32'>];
  const found: Gradients[] = [];
  for (let step = 1; step <= steps; step++) {
    const edits = [{ hook, op: 'replace', value: y.add(x.sub(y).mul(step / steps)) }] as const;
    found.push(await model.backward(clean, { metric, edits, with_respect_to: { hooks }, signal }));
  }
  return found;
}

function subtracted(name: HookName, wrong: ActivationCache, right: ActivationCache): Tensor<'float32'> {
  const [a, b] = [wrong[name], right[name]] as [Tensor<'float32'>, Tensor<'float32'>];
  requireSameDims(call, name, b, a);
  return a.sub(b);
}

function averaged(gradients: readonly Gradients[], name: HookName): Tensor<'float32'> {
  const [first, ...rest] = gradients.map(({ grad }) => grad[name] as Tensor<'float32'>);
  return rest.reduce((sum, one) => sum.add(one), first as Tensor<'float32'>).mul(1 / gradients.length);
}

/** One row for each node: its own values [batch, pos, d_model], of those with heads its head's. */
function rowsOf(
  nodes: readonly (Writer | Reader)[],
  valueAt: (name: HookName) => Tensor<'float32'>,
): Tensor<'float32'> {
  let last: { name: HookName; value: Tensor<'float32'> } | undefined; // nodes of a hook follow each other
  let rows: Float32Array | undefined;
  let width = 0;
  nodes.forEach(({ hook, head }, index) => {
    if (last?.name !== hook) last = { name: hook, value: valueAt(hook) };
    const { data, dims } = last.value;
    const features = dims.at(-1) ?? 0;
    const heads = head === undefined ? 1 : (dims[2] ?? 1);
    width = data.length / heads;
    rows ??= new Float32Array(nodes.length * width);
    for (let at = 0; at < width; at += features) {
      const from = (at / features) * heads * features + (head ?? 0) * features;
      rows.set(data.subarray(from, from + features), index * width + at);
    }
  });
  return new Tensor('float32', rows ?? new Float32Array(), [nodes.length, width]);
}

function graphOf(writers: readonly Writer[], readers: readonly Reader[], product: Tensor<'float32'>) {
  const scores = new Float32Array(product.data.length);
  const edges: AttributedEdge[] = [];
  writers.forEach((writer, row) => {
    readers.forEach((reader, column) => {
      if (!isEarlier(writer, reader)) return;
      const at = row * readers.length + column;
      const score = product.data[at] as number;
      scores[at] = score;
      edges.push({ from: writer.name, to: reader.name, score });
    });
  });
  edges.sort((a, b) => Math.abs(b.score) - Math.abs(a.score));
  return {
    writers: writers.map(({ name }) => name),
    readers: readers.map(({ name }) => name),
    scores: new Tensor('float32', scores, [writers.length, readers.length]),
    edges,
  };
}
