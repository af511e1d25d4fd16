// ACDC, automatic circuit discovery: from the logits to the first layer, removes each edge of the graph of heads and MLPs
// whose removal changes the metric by less than a threshold. Over a removed edge, the reader sees what the sender adds
// on other inputs.
// Source: Conmy et al. 2023, "Towards Automated Circuit Discovery for Mechanistic Interpretability", arXiv 2304.14997,
// algorithm 1.

import type { ModelInputs } from '../../models/inputs.js';
import type { PreTrainedModel } from '../../models/pre_trained_model.js';
import { ClearformerError } from '../../support/error.js';
import { refusedOption } from '../../support/options.js';
import type { Tensor } from '../../tensor/tensor.js';
import { checkCall } from '../check_call.js';
import { type Metric, measured, readsOf, type TensorMetric } from '../metric.js';
import { type CircuitEdge, type Receiver, receiversOf } from './circuit_graph.js';
import { CircuitRun } from './circuit_run.js';
import type { SweepProgress } from './sweep.js';

/** Options of acdc. */
export interface AcdcOptions {
  /** The inputs of the circuit, and inputs of the same dims that removed edges take their values from. */
  base: ModelInputs;
  source: ModelInputs;
  /** An edge is removed if the metric grows by less than this. */
  threshold: number;
  /**
   * What the circuit must keep small. Default: the Kullback-Leibler divergence of the circuit's prediction at the last
   * position from the model's, averaged over the batch.
   */
  metric?: Metric | TensorMetric | undefined;
  signal?: AbortSignal | undefined;
  /** Called after every edge. */
  progress?: ((progress: SweepProgress) => void) | undefined;
}

/** The result of acdc. */
export interface Acdc {
  /** The edges that remain, from the logits to the first layer. */
  edges: CircuitEdge[];
  /** The number of edges of the whole graph. */
  total: number;
  /** The metric of the whole model and of the circuit. */
  whole: number;
  circuit: number;
}

const known = ['base', 'source', 'threshold', 'metric', 'signal', 'progress'];

/** log softmax of the last position of each row of logits [batch, pos, d_vocab]. */
function predictions({ data, dims: [batch = 0, length = 0, words = 0] }: Tensor<'float32'>): Float64Array[] {
  return Array.from({ length: batch }, (_, row) => {
    const last = Float64Array.from(data.subarray(((row + 1) * length - 1) * words, (row + 1) * length * words));
    const most = last.reduce((largest, value) => Math.max(largest, value), Number.NEGATIVE_INFINITY);
    const sum = Math.log(last.reduce((total, value) => total + Math.exp(value - most), 0));
    return last.map((value) => value - most - sum);
  });
}

/** The mean over rows of Σ p·(log p − log q) at the last position. */
function divergenceFrom(whole: Tensor<'float32'>): Metric {
  const wanted = predictions(whole);
  const of = (logits: Tensor<'float32'>) =>
    predictions(logits).reduce((sum, found, row) => {
      const p = wanted[row] as Float64Array;
      return sum + p.reduce((own, value, i) => own + Math.exp(value) * (value - (found[i] as number)), 0);
    }, 0) / wanted.length;
  return Object.assign(of, { reads: { positions: [-1], of } });
}

/**
 * Finds a circuit. Each edge takes a pass through the layers from its reader on. For decoder-only models whose residual
 * stream is the sum of what heads and MLPs add. Rejects with `unsupported` for others, `shape_mismatch` for inputs of
 * different dims, `invalid_argument` for a threshold or metric that is no number, and with the signal's reason.
 */
export async function acdc(model: PreTrainedModel, options: AcdcOptions): Promise<Acdc> {
  checkCall('acdc', model, options ?? null, known);
  const { base, source, threshold, signal, progress } = options;
  if (typeof threshold !== 'number' || Number.isNaN(threshold)) {
    throw refusedOption('acdc', 'threshold', 'must be a number');
  }
  const given = options.metric;
  if (given !== undefined && typeof given !== 'function') {
    throw refusedOption('acdc', 'metric', 'must be a function of the logits');
  }
  const { kind, task } = model.cfg;
  if (given === undefined && kind === 'decoder-only' && task !== 'causal-lm') {
    const message = `acdc: without a metric the model must predict words; its task is ${task}`;
    throw new ClearformerError('unsupported', message, { option: 'metric' });
  }
  const run = await CircuitRun.of(model, base, source, signal);
  const kept = given === undefined ? [-1] : readsOf(model, given)?.positions;
  const whole = await run.logits([], kept);
  const metric = given ?? divergenceFrom(whole);
  const measure = (logits: Tensor<'float32'>) => measured('acdc', readsOf(model, metric)?.of ?? metric, logits);
  const receivers = receiversOf(run.shape);
  const total = receivers.reduce((sum, { senders }) => sum + senders.length, 0);
  const first = await measure(whole);
  let current = first;
  let done = 0;
  const alive = new Set(['logits']);
  const edges: CircuitEdge[] = [];
  for (const receiver of receivers) {
    const used = receiver.nodes.some((node) => alive.has(node));
    for (const sender of receiver.senders) {
      const value = used ? await measure(await run.without(receiver, sender, kept)) : current;
      if (!used || value - current < threshold) {
        run.remove(receiver, sender);
        current = value;
      } else {
        edges.push({ from: sender, to: receiver.name });
        alive.add(sender);
      }
      progress?.({ done: ++done, total });
    }
  }
  return { edges: connected(edges, receivers), total, whole: first, circuit: current };
}

/** Without edges from nodes that nothing reaches: from there only constants come. */
function connected(edges: readonly CircuitEdge[], receivers: readonly Receiver[]): CircuitEdge[] {
  const nodesOf = new Map(receivers.map(({ name, nodes }) => [name, nodes]));
  const reached = new Set(['input']);
  for (const { from, to } of [...edges].reverse()) {
    if (reached.has(from)) for (const node of nodesOf.get(to) ?? []) reached.add(node);
  }
  return edges.filter(({ from }) => reached.has(from));
}
