// The weights as a Hugging Face folder: config.json and model.safetensors, with transformers' names.

import { safetensorsHeader } from '../../../scripts/models/safetensors_header.js';
import { transposed } from '../onnx/quantize.js';
import type { Shape } from '../types.js';
import { epsilons } from './shapes.js';
import type { Dense, Layer, Norm, Weights } from './weights.js';

interface StoredTensor {
  name: string;
  dtype: 'F32';
  shape: number[];
  bytes: Uint8Array<ArrayBuffer>;
}

/** Inputs and outputs of a matrix. */
type Sides = readonly [number, number];

const tensor = (name: string, shape: number[], data: Float32Array): StoredTensor => ({
  name,
  dtype: 'F32',
  shape,
  bytes: new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength),
});
const norm = (name: string, { gamma, beta }: Norm): StoredTensor[] => [
  tensor(`${name}.weight`, [gamma.length], gamma),
  tensor(`${name}.bias`, [beta.length], beta),
];
/** torch.nn.Linear: (out, in). */
const dense = (name: string, { weight, bias }: Dense, [inputs, outputs]: Sides): StoredTensor[] => [
  tensor(`${name}.weight`, [outputs, inputs], transposed(weight, inputs, outputs)),
  tensor(`${name}.bias`, [outputs], bias),
];
/** GPT-2's Conv1D: (in, out). */
const conv1d = (name: string, { weight, bias }: Dense, [inputs, outputs]: Sides): StoredTensor[] => [
  tensor(`${name}.weight`, [inputs, outputs], weight),
  tensor(`${name}.bias`, [outputs], bias),
];

/** Splits (d, 3d) into three matrices (d, d). */
function thirds({ weight, bias }: Dense, d: number): [Dense, Dense, Dense] {
  const third = (part: number): Dense => {
    const own = new Float32Array(d * d);
    for (let row = 0; row < d; row += 1) {
      const start = row * 3 * d + part * d;
      own.set(weight.subarray(start, start + d), row * d);
    }
    return { weight: own, bias: bias.subarray(part * d, (part + 1) * d) };
  };
  return [third(0), third(1), third(2)];
}

function encoderLayer(
  prefix: string,
  layer: Layer,
  { d, hidden }: Shape,
  norms: readonly [string, string],
): StoredTensor[] {
  const [q, k, v] = thirds(layer.qkv, d);
  return [
    dense(`${prefix}.attention.attention.query`, q, [d, d]),
    dense(`${prefix}.attention.attention.key`, k, [d, d]),
    dense(`${prefix}.attention.attention.value`, v, [d, d]),
    dense(`${prefix}.attention.output.dense`, layer.mix, [d, d]),
    dense(`${prefix}.intermediate.dense`, layer.up, [d, hidden]),
    dense(`${prefix}.output.dense`, layer.down, [hidden, d]),
    norm(`${prefix}.${norms[0]}`, layer.norm1),
    norm(`${prefix}.${norms[1]}`, layer.norm2),
  ].flat();
}

const bertNorms = ['attention.output.LayerNorm', 'output.LayerNorm'] as const;
const vitNorms = ['layernorm_before', 'layernorm_after'] as const;

const tensorsOf: Readonly<Record<Shape['family'], (shape: Shape, weights: Weights) => StoredTensor[]>> = {
  bert(shape, { embeddings, layers, norm: last, pooler }) {
    const { d } = shape;
    const blocks = layers.flatMap((layer, i) => encoderLayer(`encoder.layer.${i}`, layer, shape, bertNorms));
    return [
      tensor('embeddings.word_embeddings.weight', [shape.vocabulary, d], embeddings.tokens),
      tensor('embeddings.position_embeddings.weight', [shape.positions, d], embeddings.positions),
      tensor('embeddings.token_type_embeddings.weight', [2, d], embeddings.types),
      ...norm('embeddings.LayerNorm', last),
      ...dense('pooler.dense', pooler, [d, d]),
      ...blocks.map((each) => ({ ...each, name: each.name.replace('attention.attention', 'attention.self') })),
    ];
  },
  gpt2(shape, { embeddings, layers, norm: last }) {
    const { d, hidden } = shape;
    const blocks = layers.flatMap((layer, i) => [
      norm(`h.${i}.ln_1`, layer.norm1),
      conv1d(`h.${i}.attn.c_attn`, layer.qkv, [d, 3 * d]),
      conv1d(`h.${i}.attn.c_proj`, layer.mix, [d, d]),
      norm(`h.${i}.ln_2`, layer.norm2),
      conv1d(`h.${i}.mlp.c_fc`, layer.up, [d, hidden]),
      conv1d(`h.${i}.mlp.c_proj`, layer.down, [hidden, d]),
    ]);
    return [
      tensor('wte.weight', [shape.vocabulary, d], embeddings.tokens),
      tensor('wpe.weight', [shape.positions, d], embeddings.positions),
      ...norm('ln_f', last),
      ...blocks.flat(),
    ];
  },
  vit(shape, { embeddings, layers, norm: last }) {
    const { d, patch } = shape;
    const projection = embeddings.patch;
    return [
      tensor('vit.embeddings.cls_token', [1, 1, d], embeddings.cls),
      tensor('vit.embeddings.position_embeddings', [1, embeddings.positions.length / d, d], embeddings.positions),
      tensor('vit.embeddings.patch_embeddings.projection.weight', [d, 3, patch, patch], projection.weight),
      tensor('vit.embeddings.patch_embeddings.projection.bias', [d], projection.bias),
      ...norm('vit.layernorm', last),
      ...dense('classifier', embeddings.classifier, [d, shape.labels]),
      ...layers.flatMap((layer, i) => encoderLayer(`vit.encoder.layer.${i}`, layer, shape, vitNorms)),
    ];
  },
};

const encoderConfig = ({ d, layers, heads, hidden }: Shape) => ({
  hidden_size: d,
  num_hidden_layers: layers,
  num_attention_heads: heads,
  intermediate_size: hidden,
  hidden_act: 'gelu',
});

const configOf: Readonly<Record<Shape['family'], (shape: Shape) => object>> = {
  bert: (shape) => ({
    ...encoderConfig(shape),
    model_type: 'bert',
    architectures: ['BertModel'],
    vocab_size: shape.vocabulary,
    max_position_embeddings: shape.positions,
    type_vocab_size: 2,
    layer_norm_eps: epsilons.bert,
  }),
  gpt2: ({ d, layers, heads, hidden, vocabulary, positions }) => ({
    model_type: 'gpt2',
    architectures: ['GPT2LMHeadModel'],
    n_embd: d,
    n_layer: layers,
    n_head: heads,
    n_inner: hidden,
    n_positions: positions,
    vocab_size: vocabulary,
    activation_function: 'gelu_new',
    layer_norm_epsilon: epsilons.gpt2,
    bos_token_id: null,
    eos_token_id: null,
  }),
  vit: (shape) => ({
    ...encoderConfig(shape),
    model_type: 'vit',
    architectures: ['ViTForImageClassification'],
    image_size: shape.image,
    patch_size: shape.patch,
    num_channels: 3,
    qkv_bias: true,
    layer_norm_eps: epsilons.vit,
    id2label: Object.fromEntries(Array.from({ length: shape.labels }, (_, i) => [i, `LABEL_${i}`])),
    label2id: Object.fromEntries(Array.from({ length: shape.labels }, (_, i) => [`LABEL_${i}`, i])),
  }),
};

/** The folder's files by name, each in parts. */
export function checkpointFiles(shape: Shape, weights: Weights): Record<string, (string | Uint8Array<ArrayBuffer>)[]> {
  const tensors = tensorsOf[shape.family](shape, weights).sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    'config.json': [`${JSON.stringify(configOf[shape.family](shape), null, 2)}\n`],
    'model.safetensors': [safetensorsHeader(tensors), ...tensors.map(({ bytes }) => bytes)],
  };
}
