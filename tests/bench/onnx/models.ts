// The peers' graphs of the models: the same weights in onnxruntime's fused operators.

import { epsilons } from '../models/shapes.js';
import type { Layer, Weights } from '../models/weights.js';
import type { Precision, Shape } from '../types.js';
import { OnnxGraph } from './graph.js';
import { biasGelu, layerNorm, linear, selfAttention, skipLayerNorm } from './layers.js';
import { transposed } from './quantize.js';

/** Attention and its projection, without the projection's bias, which the following norm adds. */
interface Part {
  name: string;
  x: string;
  shape: Shape;
  layer: Layer;
}

function mixed(
  graph: OnnxGraph,
  { name, x, shape, layer, cache }: Part & { cache?: number | undefined },
  precision: Precision,
): string {
  const { d, heads } = shape;
  const attended = selfAttention(graph, { name, x, d, heads, ...layer.qkv, cache }, precision);
  return linear(graph, { name: `${name}.mix`, x: attended, k: d, n: d, weight: layer.mix.weight }, precision);
}

function feedForward(
  graph: OnnxGraph,
  { name, x, shape, layer, kind }: Part & { kind: 'erf' | 'tanh' },
  precision: Precision,
): string {
  const { d, hidden } = shape;
  const up = linear(graph, { name: `${name}.up`, x, k: d, n: hidden, weight: layer.up.weight }, precision);
  const active = biasGelu(graph, { name: `${name}.up`, x: up, n: hidden, bias: layer.up.bias, kind });
  const down = { name: `${name}.down`, x: active, k: hidden, n: d, weight: layer.down.weight };
  return linear(graph, down, precision);
}

/** Post-norm: BERT. */
interface Stack {
  shape: Shape;
  weights: Weights;
  x: string;
  epsilon: number;
}

function encoder(graph: OnnxGraph, { shape, weights, x, epsilon }: Stack, precision: Precision): string {
  let state = x;
  weights.layers.forEach((layer, i) => {
    const name = `layer${i}`;
    const attended = mixed(graph, { name, x: state, shape, layer }, precision);
    const add = { bias: layer.mix.bias, norm: layer.norm1, epsilon };
    const [middle] = skipLayerNorm(graph, { name: `${name}.norm1`, x: attended, skip: state, ...add });
    const fed = feedForward(graph, { name, x: middle, shape, layer, kind: 'erf' }, precision);
    const second = { bias: layer.down.bias, norm: layer.norm2, epsilon };
    [state] = skipLayerNorm(graph, { name: `${name}.norm2`, x: fed, skip: middle, ...second });
  });
  return state;
}

/** Pre-norm: GPT-2 and ViT. Each norm is fused with the preceding sum. */
interface PreNormStack extends Stack {
  kind: 'erf' | 'tanh';
  cached?: boolean;
}

function preNorm(
  graph: OnnxGraph,
  { shape, weights, x, epsilon, kind, cached = false }: PreNormStack,
  precision: Precision,
): string {
  const { layers } = weights;
  let sum = x;
  let normed = layerNorm(graph, { name: 'layer0.norm1', x, norm: layers[0]?.norm1 ?? weights.norm, epsilon });
  layers.forEach((layer, i) => {
    const name = `layer${i}`;
    const attended = mixed(graph, { name, x: normed, shape, layer, cache: cached ? i : undefined }, precision);
    const add = { bias: layer.mix.bias, norm: layer.norm2, epsilon };
    [normed, sum] = skipLayerNorm(graph, { name: `${name}.norm2`, x: attended, skip: sum, ...add });
    const fed = feedForward(graph, { name, x: normed, shape, layer, kind }, precision);
    const next = { bias: layer.down.bias, norm: layers[i + 1]?.norm1 ?? weights.norm, epsilon };
    [normed, sum] = skipLayerNorm(graph, { name: `${name}.out`, x: fed, skip: sum, ...next });
  });
  return normed;
}

function bert(graph: OnnxGraph, shape: Shape, weights: Weights, precision: Precision): void {
  const { d, vocabulary, positions } = shape;
  const { embeddings, norm } = weights;
  const epsilon = epsilons.bert;
  const ids = graph.input('input_ids', 'int32', ['batch', 'length']);
  const types = graph.input('token_type_ids', 'int32', ['batch', 'length']);
  const inputs = [
    ids,
    types,
    graph.constant('tokens', [vocabulary, d], embeddings.tokens),
    graph.constant('positions', [positions, d], embeddings.positions),
    graph.constant('types', [2, d], embeddings.types),
    graph.constant('norm.gamma', [d], norm.gamma),
    graph.constant('norm.beta', [d], norm.beta),
  ];
  graph.contributed('EmbedLayerNormalization', inputs, ['embedded', 'mask'], { epsilon: { float: epsilon } });
  const state = encoder(graph, { shape, weights, x: 'embedded', epsilon }, precision);
  graph.node('Identity', [state], ['last_hidden_state']);
  graph.output('last_hidden_state', 'float32', ['batch', 'length', d]);
}

function gpt2(graph: OnnxGraph, shape: Shape, weights: Weights, precision: Precision): void {
  const { d, vocabulary, positions } = shape;
  const ids = graph.input('input_ids', 'int64', ['batch', 'length']);
  const places = graph.input('position_ids', 'int64', ['batch', 'length']);
  const table = graph.constant('tokens', [vocabulary, d], weights.embeddings.tokens);
  const token = graph.node('Gather', [table, ids], ['token']);
  const placeTable = graph.constant('positions', [positions, d], weights.embeddings.positions);
  const place = graph.node('Gather', [placeTable, places], ['place']);
  const x = graph.node('Add', [token, place], ['embedded']);
  const settings = { shape, weights, x, epsilon: epsilons.gpt2, kind: 'tanh', cached: true } as const;
  const state = preNorm(graph, settings, precision);
  const last = graph.node('Gather', [state, graph.constant('last', [1], BigInt64Array.of(-1n))], ['last_state'], {
    axis: 1,
  });
  const unembed = transposed(weights.embeddings.tokens, vocabulary, d);
  const logits = linear(graph, { name: 'unembed', x: last, k: d, n: vocabulary, weight: unembed }, precision);
  graph.node('Identity', [logits], ['logits']);
  graph.output('logits', 'float32', ['batch', 1, vocabulary]);
}

function vit(graph: OnnxGraph, shape: Shape, weights: Weights, precision: Precision): void {
  const { d, image, patch, labels } = shape;
  const { embeddings } = weights;
  const grid = (image / patch) ** 2;
  const pixels = graph.input('pixel_values', 'float32', [1, 3, image, image]);
  const projection = graph.constant('patch.weight', [d, 3, patch, patch], embeddings.patch.weight);
  const bias = graph.constant('patch.bias', [d], embeddings.patch.bias);
  const patches = graph.node('Conv', [pixels, projection, bias], ['patches'], { strides: [patch, patch] });
  const flat = graph.constant('flat', [3], BigInt64Array.of(1n, BigInt(d), BigInt(grid)));
  const columns = graph.node('Reshape', [patches, flat], ['columns']);
  const rows = graph.node('Transpose', [columns], ['rows'], { perm: [0, 2, 1] });
  const cls = graph.constant('cls', [1, 1, d], embeddings.cls);
  const joined = graph.node('Concat', [cls, rows], ['joined'], { axis: 1 });
  const positions = graph.constant('positions', [1, grid + 1, d], embeddings.positions);
  const x = graph.node('Add', [joined, positions], ['embedded']);
  const state = preNorm(graph, { shape, weights, x, epsilon: epsilons.vit, kind: 'erf' }, precision);
  const first = graph.node('Gather', [state, graph.constant('first', [], BigInt64Array.of(0n))], ['class_state'], {
    axis: 1,
  });
  const logits = linear(graph, { name: 'classifier', x: first, k: d, n: labels, ...embeddings.classifier }, precision);
  graph.node('Identity', [logits], ['logits']);
  graph.output('logits', 'float32', [1, labels]);
}

const builders = { bert, gpt2, vit };

/** The graph of `shape` in one precision: fp32, int8 or int4. */
export function modelGraph(shape: Shape, weights: Weights, precision: Precision): OnnxGraph {
  const graph = new OnnxGraph();
  builders[shape.family](graph, shape, weights, precision);
  return graph;
}
