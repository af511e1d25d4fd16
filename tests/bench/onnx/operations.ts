// Graphs of one operation: a product with a constant matrix, and attention over given queries, keys and values.

import { RandomNumbers } from '../models/random.js';
import type { Precision } from '../types.js';
import { type Attributes, type Dims, OnnxGraph } from './graph.js';
import { linear } from './layers.js';

/** y (M, N) = x (M, K) · a constant (K, N), in one precision. */
export function productGraph({ m, k, n }: Record<'m' | 'k' | 'n', number>, precision: Precision): OnnxGraph {
  const graph = new OnnxGraph();
  const x = graph.input('x', 'float32', [m, k]);
  const weight = new RandomNumbers(k * 31 + n).array(k * n, 0.02);
  const product = linear(graph, { name: 'w', x, k, n, weight }, precision);
  graph.node('Identity', [product], ['y']);
  graph.output('y', 'float32', [m, n]);
  return graph;
}

/** onnxruntime's attention operators; the runner uses the fastest on its machine. */
export const attentionForms = {
  plain: ['MultiHeadAttention'],
  causal: ['MultiHeadAttention', 'GroupQueryAttention'],
};

/** Inputs q, k and v and output y of one shape. */
function attentionPorts(dims: Dims): [OnnxGraph, string[]] {
  const graph = new OnnxGraph();
  const parts = ['q', 'k', 'v'].map((name) => graph.input(name, 'float32', dims));
  graph.output('y', 'float32', dims);
  return [graph, parts];
}

/** y (1, n, d) = attention of q, k and v of that shape with one head, for any n and d. */
export function attentionOfAnySize(): OnnxGraph {
  const [graph, parts] = attentionPorts([1, 'n', 'd']);
  graph.contributed('MultiHeadAttention', parts, ['y'], { num_heads: 1 });
  return graph;
}

/** y (1, n, heads · d) = attention of q, k and v of that shape. */
interface Attention {
  n: number;
  heads: number;
  d: number;
  causal: boolean;
}

export function attentionGraph({ n, heads, d, causal }: Attention, form: string): OnnxGraph {
  const [graph, parts] = attentionPorts([1, n, heads * d]);
  if (form === 'MultiHeadAttention') {
    const flags: Attributes = causal ? { unidirectional: 1 } : {};
    graph.contributed(form, parts, ['y'], { num_heads: heads, ...flags });
    return graph;
  }
  const lengths = graph.constant('lengths', [1], Int32Array.of(n - 1));
  const total = graph.constant('total', [], Int32Array.of(n));
  for (const name of ['present_key', 'present_value']) graph.output(name, 'float32', [1, heads, n, d]);
  const inputs = [...parts, '', '', lengths, total];
  const outputs = ['y', 'present_key', 'present_value'];
  graph.contributed('GroupQueryAttention', inputs, outputs, { num_heads: heads, kv_num_heads: heads });
  return graph;
}
