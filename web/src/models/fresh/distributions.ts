// What the weights of a new model are drawn from: the initialisation of transformers 5 (`_init_weights` of its model
// classes), by the names and shapes of the tensors it saves.

import { ClearformerError, textOf } from '../../support/error.js';

/** How a tensor is filled. Values outside of `limit` are not drawn; logarithms are those of uniform numbers below it. */
export type Distribution =
  | { kind: 'constant'; value: number }
  | { kind: 'normal'; std: number; limit?: number | undefined; zeroRow?: number | undefined }
  | { kind: 'uniform'; limit: number }
  | { kind: 'logarithm'; limit: number }
  | { kind: 'sinusoids'; layout: 'whisper' | 'interleaved' | 'halves' };

/** A tensor of the checkpoint. */
export interface Drawn {
  name: string;
  dims: readonly number[];
}

type Config = Readonly<Record<string, unknown>>;

/** A tensor that the core needs, with the name and the dims that transformers gives it: leading axes of size 1. */
export function savedAs(config: Config, { name, dims }: Drawn): Drawn {
  const width = dims.at(-1) ?? 1;
  if (/\.(cls|distillation)_token$|\.probe$/.test(name)) return { name, dims: [1, 1, width] };
  if (/\.register_tokens$/.test(name)) return { name, dims: [1, ...dims.slice(-2)] };
  if (/\.class_embedding$/.test(name)) return { name, dims: dims.slice(-1) };
  if (/\.position_embedding\.weight$/.test(name)) return { name, dims: dims.slice(-2) };
  if (name === 'final_logits_bias') return { name, dims: [1, ...dims] };
  if (config.model_type === 'siglip' && /^logit_(scale|bias)$/.test(name)) return { name, dims: [1] };
  const tied = config.tie_word_embeddings !== false;
  const head = tied && /^(cls\.predictions|predictions|lm_head)\.decoder\.bias$/.exec(name)?.[1];
  return { name: head ? `${head}.bias` : name, dims };
}

/** A tensor with what its distribution depends on. */
interface Context extends Drawn {
  config: Config;
  /** The last segment of the name, and the one before. */
  leaf: string;
  module: string;
  /** The standard deviation of most matrices. */
  std: number;
  /** The id whose embedding is zero, if the config has one. */
  padding: number | undefined;
}

const constant = (value: number): Distribution => ({ kind: 'constant', value });
const normal = (std: number, limit?: number): Distribution => ({ kind: 'normal', std, limit });

/** A number of the config: a size, a deviation or a factor, which are not negative, or a constant ("…_value"). */
function number(config: Config, key: string, other: number): number {
  const value = (config[key] ?? other) as number;
  if (Number.isFinite(value) && (value >= 0 || /_value$/.test(key))) return value;
  throw new ClearformerError('malformed_config', `config: ${key} is ${textOf(value)}, no number >= 0`);
}

/** Inputs and outputs of a matrix or a convolution, as torch counts them. */
function fans([outputs = 1, inputs = 1, ...window]: readonly number[]): [inputs: number, outputs: number] {
  const area = window.reduce((product, extent) => product * extent, 1);
  return [inputs * area, outputs * area];
}

/** Glorot & Bengio 2010, uniform. */
function xavier(dims: readonly number[]): Distribution {
  const [inputs, outputs] = fans(dims);
  return { kind: 'uniform', limit: Math.sqrt(6 / (inputs + outputs)) };
}

/** The distribution of a tensor; `padding` is the config's pad_token_id, or its model type's. */
export function distributionOf(config: Config, { name, dims }: Drawn, padding: number | undefined): Distribution {
  const type = textOf(config.model_type);
  const segments = name.split('.');
  const usualStd = type === 'starcoder2' ? 0.018042 : 0.02;
  const std = number(config, 'initializer_range', number(config, 'init_std', usualStd)) || usualStd;
  const [leaf = '', module = ''] = segments.reverse();
  const context = { config, name, dims, leaf, module, std, padding };
  return special[type]?.(context) ?? usual(type, context);
}

/** `PreTrainedModel._init_weights`: norms 1, biases 0, matrices normal, the embedding of padding 0. */
function usual(type: string, { name, dims, leaf, module, std, padding }: Context): Distribution {
  if (/bias$/.test(leaf) || leaf === 'mask_token') return constant(0);
  if (leaf === 'weight' && (dims.length < 2 || /norm/i.test(module))) return constant(1);
  const words = /(^|\.)(embed_tokens|shared|word_embeddings)\.weight$/;
  const padded = withoutPadding.includes(type) ? undefined : positionsWithPadding.includes(type) ? /embeddings/ : words;
  const zeroRow = padded && /^(embed_tokens|shared|word_embeddings|position_embeddings)$/.test(module);
  if (!zeroRow || (!words.test(name) && !padded.test(module))) return normal(std);
  if (module === 'position_embeddings' && !positionsWithPadding.includes(type)) return normal(std);
  return { kind: 'normal', std, zeroRow: type === 'mpnet' ? 1 : padding };
}

const withoutPadding = ['bloom', 'falcon'];
const positionsWithPadding = ['roberta', 'xlm-roberta', 'camembert', 'data2vec-text', 'mpnet', 'esm'];

/** Gemma's norms multiply by 1 + weight. */
const gemma = ({ leaf, dims }: Context) => (leaf === 'weight' && dims.length === 1 ? constant(0) : undefined);

/** The decay of a gated delta rule. */
function delta({ leaf }: Context): Distribution | undefined {
  if (leaf === 'A_log') return { kind: 'logarithm', limit: 16 };
  return leaf === 'dt_bias' ? constant(1) : undefined;
}

function clip({ config, name, module, leaf }: Context): Distribution | undefined {
  const part = partOf(config, name);
  const factor = number(part, 'initializer_factor', 1);
  const width = number(part, 'hidden_size', name.startsWith('text') ? 512 : 768) ** -0.5;
  const thin = width * (2 * number(part, 'num_hidden_layers', 12)) ** -0.5;
  if (name === 'logit_scale') return constant(number(config, 'logit_scale_init_value', 2.6592));
  if (leaf === 'class_embedding') return normal(width * factor);
  if (leaf !== 'weight' || /norm/.test(module)) return undefined;
  if (/^(token|position|patch)_embedding$/.test(module)) {
    return normal(factor * (name.startsWith('text') ? 0.02 : number(part, 'initializer_range', 0.02)));
  }
  if (/^([qkv]_proj|fc2)$/.test(module)) return normal(thin * factor);
  if (module === 'fc1') return normal(width * 2 ** -0.5 * factor);
  return normal(width * (/_projection$/.test(module) ? number(config, 'initializer_factor', 1) : factor));
}

function siglip({ config, name, dims, module, leaf }: Context): Distribution | undefined {
  const [inputs] = fans(dims);
  const width = number(partOf(config, name), 'hidden_size', 768) ** -0.5;
  if (name === 'logit_scale') return constant(0);
  if (/^fc[12]$/.test(module) && leaf === 'bias') return normal(1e-6);
  if (leaf === 'probe') return xavier([dims[1] ?? 1, dims[0] ?? 1, ...dims.slice(2)]);
  if (leaf === 'bias' || leaf === 'in_proj_bias' || /norm/.test(module)) return undefined;
  if (leaf === 'in_proj_weight' || /^([qkvt]+_proj|out_proj|fc[12])$/.test(module)) {
    return module === 'out_proj' && name.includes('.head.') ? lecun(inputs) : xavier(dims);
  }
  if (/^(position|token)_embedding$/.test(module)) return normal(width);
  if (name.startsWith('classifier.')) return normal(width * number(config, 'initializer_factor', 1));
  return dims.length < 2 ? undefined : lecun(inputs);
}

/** LeCun's, drawn within ±2 of the truncated normal that flax uses. */
const lecun = (inputs: number) => normal(inputs ** -0.5 / 0.87962566103423978, 2);

/** CLIP's and SigLIP's text or vision part of the config. */
function partOf(config: Config, name: string): Config {
  const part = /^(text_model|text_projection)/.test(name) ? config.text_config : config.vision_config;
  return (part ?? {}) as Config;
}

function t5({ config, dims, module, leaf }: Context): Distribution | undefined {
  const factor = number(config, 'initializer_factor', 1);
  const [d_model, d_kv, d_ff, heads] = (
    [
      ['d_model', 512],
      ['d_kv', 64],
      ['d_ff', 2048],
      ['num_heads', 8],
    ] as const
  ).map(([key, other]) => number(config, key, other)) as [number, number, number, number];
  if (leaf !== 'weight') return undefined;
  if (dims.length < 2) return constant(factor);
  if (/^(shared|embed_tokens|lm_head|classifier)$/.test(module)) return normal(factor);
  if (module === 'q') return normal(factor * (d_model * d_kv) ** -0.5);
  if (module === 'o') return normal(factor * (heads * d_kv) ** -0.5);
  return normal(factor * (module === 'wo' ? d_ff : d_model) ** -0.5);
}

function modernBert({ config, dims, module, leaf, std }: Context): Distribution | undefined {
  if (leaf !== 'weight' || dims.length < 2) return undefined;
  const layers = number(config, 'num_hidden_layers', 22);
  const thin = /^(Wo|dense|decoder)$/.test(module) ? (2 * layers) ** -0.5 : 1;
  const own = module === 'classifier' ? number(config, 'hidden_size', 768) ** -0.5 : std * thin;
  return normal(own, number(config, 'initializer_cutoff_factor', 2) * own);
}

/** The translation tutorial of PyTorch: Xavier for all matrices, the rest as torch.nn.Transformer leaves it. */
function nnTransformer({ config, dims, module, leaf }: Context): Distribution | undefined {
  if (dims.length > 1) return xavier(dims);
  if (leaf !== 'bias' || !/^(linear[12]|generator)$/.test(module)) return undefined;
  const inputs = number(config, module === 'linear2' ? 'dim_feedforward' : 'd_model', 512);
  return { kind: 'uniform', limit: inputs ** -0.5 };
}

const special: Readonly<Record<string, (context: Context) => Distribution | undefined>> = {
  gemma,
  gemma2: gemma,
  vaultgemma: gemma,
  gemma3_text: gemma,
  qwen3_5_text: (context) =>
    context.name.endsWith('linear_attn.norm.weight') ? undefined : (delta(context) ?? gemma(context)),
  clip,
  siglip,
  t5,
  mt5: t5,
  modernbert: modernBert,
  'modernbert-decoder': modernBert,
  nanochat: ({ config, module, leaf, std }) =>
    module === 'o_proj' && leaf === 'weight'
      ? normal(std * (2 * number(config, 'num_hidden_layers', 12)) ** -0.5)
      : undefined,
  nn_transformer: nnTransformer,
  'openai-gpt': ({ module, leaf }) => (/^c_/.test(module) && leaf === 'weight' ? normal(0.02) : undefined),
  gpt_bigcode: ({ config, module, leaf, std }) =>
    module === 'c_proj' && leaf === 'weight' ? normal(std * (2 * number(config, 'n_layer', 12)) ** -0.5) : undefined,
  'audio-spectrogram-transformer': ({ leaf }) => (/_(token|embeddings)$/.test(leaf) ? constant(0) : undefined),
  deit: ({ leaf }) => (/_(tokens?|embeddings)$/.test(leaf) ? constant(0) : undefined),
  dinov2: ({ leaf, config }) => dino(leaf, config),
  dinov2_with_registers: ({ leaf, config }) => dino(leaf, config),
  dinov3_vit: ({ leaf, config }) => (leaf === 'lambda1' ? dino(leaf, config) : undefined),
  distilbert: ({ config, module }) =>
    config.sinusoidal_pos_embds === true && module === 'position_embeddings'
      ? { kind: 'sinusoids', layout: 'interleaved' }
      : undefined,
  pegasus: ({ module }) => (module === 'embed_positions' ? { kind: 'sinusoids', layout: 'halves' } : undefined),
  whisper: ({ name }) =>
    /encoder\.embed_positions\.weight$/.test(name) ? { kind: 'sinusoids', layout: 'whisper' } : undefined,
};

function dino(leaf: string, config: Config): Distribution | undefined {
  if (leaf === 'register_tokens') return constant(0);
  return leaf === 'lambda1' ? constant(number(config, 'layerscale_value', 1)) : undefined;
}
