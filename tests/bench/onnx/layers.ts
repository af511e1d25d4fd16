// The layers of a transformer in onnxruntime's fused operators, in three precisions:
//   fp32   MatMul, Attention
//   int8   DynamicQuantizeMatMul, DynamicQuantizeLinear + QAttention: the result of its dynamic quantisation and
//   optimiser
//   int4   MatMulNBits in blocks of 32, followed by MultiHeadAttention

import type { Norm } from '../models/weights.js';
import type { Precision } from '../types.js';
import type { Attributes, OnnxGraph } from './graph.js';
import { blockSize, toInt4, toInt8 } from './quantize.js';

/** x · weight (K, N); `bias` is added here if that needs no separate node. */
interface Linear {
  name: string;
  x: string;
  k: number;
  n: number;
  weight: Float32Array;
  bias?: Float32Array | undefined;
}

export function linear(graph: OnnxGraph, layer: Linear, precision: Precision): string {
  const { name, x, k, n, weight, bias } = layer;
  if (precision === 'int8') return int8Linear(graph, layer);
  if (precision === 'int4') return int4Linear(graph, layer);
  const product = graph.node('MatMul', [x, graph.constant(`${name}.weight`, [k, n], weight)], [`${name}.product`]);
  return bias ? graph.node('Add', [product, graph.constant(`${name}.bias`, [n], bias)], [`${name}.sum`]) : product;
}

function int8Linear(graph: OnnxGraph, { name, x, k, n, weight, bias }: Linear): string {
  const { values, scale } = toInt8(weight);
  const inputs = [
    x,
    graph.constant(`${name}.weight_int8`, [k, n], values),
    graph.constant(`${name}.scale`, [1], Float32Array.of(scale)),
    graph.constant(`${name}.zero`, [1], Int8Array.of(0)),
  ];
  if (bias) inputs.push(graph.constant(`${name}.bias`, [n], bias));
  return graph.contributed('DynamicQuantizeMatMul', inputs, [`${name}.product`]);
}

function int4Linear(graph: OnnxGraph, { name, x, k, n, weight, bias }: Linear): string {
  const { values, scales } = toInt4(weight, k, n);
  const inputs = [
    x,
    graph.constant(`${name}.weight_int4`, [n, k / blockSize, blockSize / 2], values),
    graph.constant(`${name}.scales`, [n * (k / blockSize)], scales),
  ];
  if (bias) inputs.push('', '', graph.constant(`${name}.bias`, [n], bias));
  const attributes = { K: k, N: n, bits: 4, block_size: blockSize, accuracy_level: 4 };
  return graph.contributed('MatMulNBits', inputs, [`${name}.product`], attributes);
}

/**
 * Self-attention without its output projection. `weight` (D, 3D), `bias` (3D). A decoder (`cache: index`) takes and
 * returns the keys and values of layer `index`.
 */
interface SelfAttention {
  name: string;
  x: string;
  d: number;
  heads: number;
  weight: Float32Array;
  bias: Float32Array;
  cache?: number | undefined;
}

export function selfAttention(graph: OnnxGraph, layer: SelfAttention, precision: Precision): string {
  const { name, x, d, heads, weight, bias, cache } = layer;
  const flags: Attributes = cache === undefined ? {} : { unidirectional: 1 };
  if (precision === 'int4') return headsBehind(graph, layer);
  const past =
    cache === undefined ? '' : graph.input(`past_${cache}`, 'float32', [2, 'batch', heads, 'past', d / heads]);
  const outputs = [`${name}.mixed`];
  if (cache !== undefined) {
    outputs.push(`present_${cache}`);
    graph.output(`present_${cache}`, 'float32', [2, 'batch', heads, 'total', d / heads]);
  }
  const biases = graph.constant(`${name}.qkv_bias`, [3 * d], bias);
  const attributes = { num_heads: heads, ...flags };
  if (precision === 'fp32') {
    const weights = graph.constant(`${name}.qkv`, [d, 3 * d], weight);
    return graph.contributed('Attention', trimmed([x, weights, biases, '', past]), outputs, attributes);
  }
  const { values, scale } = toInt8(weight);
  const quantized = [`${name}.x_int8`, `${name}.x_scale`, `${name}.x_zero`] as const;
  graph.node('DynamicQuantizeLinear', [x], quantized);
  const inputs = [
    quantized[0],
    graph.constant(`${name}.qkv_int8`, [d, 3 * d], values),
    biases,
    quantized[1],
    graph.constant(`${name}.qkv_scale`, [], Float32Array.of(scale)),
    '',
    quantized[2],
    graph.constant(`${name}.qkv_zero`, [], Int8Array.of(0)),
    past,
  ];
  return graph.contributed('QAttention', trimmed(inputs), outputs, attributes);
}

function trimmed(inputs: readonly string[]): string[] {
  const end = inputs.findLastIndex((name) => name !== '');
  return inputs.slice(0, end + 1);
}

function headsBehind(graph: OnnxGraph, layer: SelfAttention): string {
  const { name, x, d, heads, weight, bias, cache } = layer;
  const joint = linear(graph, { name: `${name}.qkv`, x, k: d, n: 3 * d, weight, bias }, 'int4');
  const parts = ['q', 'k', 'v'].map((each) => `${name}.${each}`);
  const sizes = graph.constant(`${name}.sizes`, [3], BigInt64Array.of(BigInt(d), BigInt(d), BigInt(d)));
  graph.node('Split', [joint, sizes], parts, { axis: 2 });
  const outputs = [`${name}.mixed`];
  if (cache === undefined) return graph.contributed('MultiHeadAttention', parts, outputs, { num_heads: heads });
  const kinds = ['key', 'value'];
  const pasts = kinds.map((kind) =>
    graph.input(`past_${kind}_${cache}`, 'float32', ['batch', heads, 'past', d / heads]),
  );
  for (const kind of kinds) {
    outputs.push(`present_${kind}_${cache}`);
    graph.output(`present_${kind}_${cache}`, 'float32', ['batch', heads, 'total', d / heads]);
  }
  const inputs = [...parts, '', '', '', ...pasts];
  return graph.contributed('MultiHeadAttention', inputs, outputs, { num_heads: heads, unidirectional: 1 });
}

/** gelu(x + bias), by erf or by tanh. */
interface BiasGelu {
  name: string;
  x: string;
  n: number;
  bias: Float32Array;
  kind: 'erf' | 'tanh';
}

export function biasGelu(graph: OnnxGraph, { name, x, n, bias, kind }: BiasGelu): string {
  const inputs = [x, graph.constant(`${name}.bias`, [n], bias)];
  return graph.contributed(kind === 'tanh' ? 'FastGelu' : 'BiasGelu', inputs, [`${name}.gelu`]);
}

const normConstants = (graph: OnnxGraph, name: string, { gamma, beta }: Norm): string[] => [
  graph.constant(`${name}.gamma`, [gamma.length], gamma),
  graph.constant(`${name}.beta`, [beta.length], beta),
];

interface LayerNorm {
  name: string;
  x: string;
  norm: Norm;
  epsilon: number;
}

export function layerNorm(graph: OnnxGraph, { name, x, norm, epsilon }: LayerNorm): string {
  const inputs = [x, ...normConstants(graph, name, norm)];
  return graph.node('LayerNormalization', inputs, [`${name}.normed`], { axis: -1, epsilon: { float: epsilon } });
}

interface SkipLayerNorm extends LayerNorm {
  skip: string;
  bias: Float32Array;
}

/** Norm of x + skip + bias: [normed, sum]. */
export function skipLayerNorm(
  graph: OnnxGraph,
  { name, x, skip, bias, norm, epsilon }: SkipLayerNorm,
): [string, string] {
  const inputs = [x, skip, ...normConstants(graph, name, norm)];
  inputs.push(graph.constant(`${name}.skip_bias`, [bias.length], bias));
  const [normed, sum] = [`${name}.normed`, `${name}.sum`] as const;
  graph.contributed('SkipLayerNormalization', inputs, [normed, '', '', sum], { epsilon: { float: epsilon } });
  return [normed, sum];
}
