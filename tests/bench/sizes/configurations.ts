// Published language models that fit in a browser tab: config.json with the keys that decide about shapes and
// arithmetic, as on the Hub, and the tensors that their files hold.

/** A published checkpoint. */
export interface Published {
  /** The repository on the Hub. */
  repository: string;
  config: Config;
  /** Parameters of the model; an output layer that equals the embedding table counts once. */
  parameters: number;
  /** Number of safetensors files, and the bytes with which one is full if not 5 GB. */
  files: number;
  fullBytes?: number;
  /** Whether the file also holds the output layer, with the bytes of the embedding table that it is tied to. */
  storedTwice?: boolean;
}

/** The keys that are read here; config.json has more. */
interface Config {
  [key: string]: unknown;
  architectures: readonly string[];
  model_type: 'llama' | 'qwen2' | 'qwen3' | 'gemma3_text';
  hidden_size: number;
  intermediate_size: number;
  num_hidden_layers: number;
  num_attention_heads: number;
  num_key_value_heads: number;
  head_dim?: number;
  vocab_size: number;
}

/** A tensor of a file, without its values. */
export interface Outline {
  name: string;
  shape: number[];
}

const common = { attention_dropout: 0, initializer_range: 0.02, torch_dtype: 'bfloat16', use_cache: true };

const llama32 = {
  ...common,
  architectures: ['LlamaForCausalLM'],
  attention_bias: false,
  bos_token_id: 128000,
  eos_token_id: 128001,
  hidden_act: 'silu',
  intermediate_size: 8192,
  max_position_embeddings: 131072,
  mlp_bias: false,
  model_type: 'llama',
  num_key_value_heads: 8,
  pretraining_tp: 1,
  rms_norm_eps: 1e-5,
  rope_scaling: {
    factor: 32,
    high_freq_factor: 4,
    low_freq_factor: 1,
    original_max_position_embeddings: 8192,
    rope_type: 'llama3',
  },
  rope_theta: 500000,
  tie_word_embeddings: true,
  vocab_size: 128256,
} as const;

export const published = {
  'smollm2-135m': {
    repository: 'HuggingFaceTB/SmolLM2-135M',
    parameters: 134_515_008,
    files: 1,
    config: {
      ...common,
      architectures: ['LlamaForCausalLM'],
      attention_bias: false,
      bos_token_id: 0,
      eos_token_id: 0,
      hidden_act: 'silu',
      hidden_size: 576,
      initializer_range: 0.041666666666666664,
      intermediate_size: 1536,
      is_llama_config: true,
      max_position_embeddings: 8192,
      model_type: 'llama',
      num_attention_heads: 9,
      num_hidden_layers: 30,
      num_key_value_heads: 3,
      pretraining_tp: 1,
      rms_norm_eps: 1e-5,
      rope_interleaved: false,
      rope_scaling: null,
      rope_theta: 100000,
      tie_word_embeddings: true,
      vocab_size: 49152,
    },
  },
  'gemma-3-270m': {
    repository: 'google/gemma-3-270m',
    parameters: 268_098_176,
    files: 1,
    config: {
      ...common,
      architectures: ['Gemma3ForCausalLM'],
      _sliding_window_pattern: 6,
      attention_bias: false,
      attn_logit_softcapping: null,
      bos_token_id: 2,
      eos_token_id: 1,
      final_logit_softcapping: null,
      head_dim: 256,
      hidden_activation: 'gelu_pytorch_tanh',
      hidden_size: 640,
      intermediate_size: 2048,
      layer_types: Array.from({ length: 18 }, (_, layer) => (layer % 6 === 5 ? 'full_attention' : 'sliding_attention')),
      max_position_embeddings: 32768,
      model_type: 'gemma3_text',
      num_attention_heads: 4,
      num_hidden_layers: 18,
      num_key_value_heads: 1,
      pad_token_id: 0,
      query_pre_attn_scalar: 256,
      rms_norm_eps: 1e-6,
      rope_local_base_freq: 10000,
      rope_scaling: null,
      rope_theta: 1000000,
      sliding_window: 512,
      use_bidirectional_attention: false,
      vocab_size: 262144,
    },
  },
  'qwen2.5-0.5b': {
    repository: 'Qwen/Qwen2.5-0.5B',
    parameters: 494_032_768,
    files: 1,
    config: {
      ...common,
      architectures: ['Qwen2ForCausalLM'],
      bos_token_id: 151643,
      eos_token_id: 151643,
      hidden_act: 'silu',
      hidden_size: 896,
      intermediate_size: 4864,
      max_position_embeddings: 32768,
      max_window_layers: 24,
      model_type: 'qwen2',
      num_attention_heads: 14,
      num_hidden_layers: 24,
      num_key_value_heads: 2,
      rms_norm_eps: 1e-6,
      rope_theta: 1000000,
      sliding_window: 32768,
      tie_word_embeddings: true,
      use_mrope: false,
      use_sliding_window: false,
      vocab_size: 151936,
    },
  },
  'qwen3-0.6b': {
    repository: 'Qwen/Qwen3-0.6B',
    parameters: 596_049_920,
    files: 1,
    storedTwice: true,
    config: {
      ...common,
      architectures: ['Qwen3ForCausalLM'],
      attention_bias: false,
      bos_token_id: 151643,
      eos_token_id: 151645,
      head_dim: 128,
      hidden_act: 'silu',
      hidden_size: 1024,
      intermediate_size: 3072,
      max_position_embeddings: 40960,
      max_window_layers: 28,
      model_type: 'qwen3',
      num_attention_heads: 16,
      num_hidden_layers: 28,
      num_key_value_heads: 8,
      rms_norm_eps: 1e-6,
      rope_scaling: null,
      rope_theta: 1000000,
      sliding_window: null,
      tie_word_embeddings: true,
      use_sliding_window: false,
      vocab_size: 151936,
    },
  },
  'llama-3.2-1b': {
    repository: 'meta-llama/Llama-3.2-1B',
    parameters: 1_235_814_400,
    files: 3, // one on the Hub: as save_pretrained divides it with max_shard_size="1GB"
    fullBytes: 1e9,
    config: { ...llama32, head_dim: 64, hidden_size: 2048, num_attention_heads: 32, num_hidden_layers: 16 },
  },
  'llama-3.2-3b': {
    repository: 'meta-llama/Llama-3.2-3B',
    parameters: 3_212_749_824,
    files: 2,
    config: { ...llama32, head_dim: 128, hidden_size: 3072, num_attention_heads: 24, num_hidden_layers: 28 },
  },
} as const satisfies Record<string, Published>;

export type PublishedName = keyof typeof published;
export const publishedNames = Object.keys(published) as PublishedName[];

/** The tensors of a model's files with transformers' names, in the model's order. */
export function outlinesOf({ config, storedTwice }: Published): Outline[] {
  const { hidden_size: d, intermediate_size: hidden, vocab_size, num_hidden_layers } = config;
  const embedding = [vocab_size, d];
  return [
    { name: 'model.embed_tokens.weight', shape: embedding },
    ...Array.from({ length: num_hidden_layers }, (_, layer) => [
      ...attention(`model.layers.${layer}.self_attn`, config),
      { name: `model.layers.${layer}.mlp.gate_proj.weight`, shape: [hidden, d] },
      { name: `model.layers.${layer}.mlp.up_proj.weight`, shape: [hidden, d] },
      { name: `model.layers.${layer}.mlp.down_proj.weight`, shape: [d, hidden] },
      ...blockNorms(config).map((norm) => ({ name: `model.layers.${layer}.${norm}.weight`, shape: [d] })),
    ]).flat(),
    { name: 'model.norm.weight', shape: [d] },
    ...(storedTwice ? [{ name: 'lm_head.weight', shape: embedding }] : []),
  ];
}

function attention(prefix: string, { model_type, hidden_size: d, ...config }: Config): Outline[] {
  const { num_attention_heads: heads, num_key_value_heads: groups, head_dim = d / heads } = config;
  const inputs = { q: heads * head_dim, k: groups * head_dim, v: groups * head_dim };
  const perHead = model_type === 'qwen3' || model_type === 'gemma3_text';
  return [
    ...Object.entries(inputs).flatMap(([name, width]) => [
      { name: `${prefix}.${name}_proj.weight`, shape: [width, d] },
      ...(model_type === 'qwen2' ? [{ name: `${prefix}.${name}_proj.bias`, shape: [width] }] : []),
    ]),
    { name: `${prefix}.o_proj.weight`, shape: [d, heads * head_dim] },
    ...(perHead ? ['q_norm', 'k_norm'].map((norm) => ({ name: `${prefix}.${norm}.weight`, shape: [head_dim] })) : []),
  ];
}

function blockNorms({ model_type }: Config): string[] {
  const both = ['input_layernorm', 'post_attention_layernorm'];
  return model_type === 'gemma3_text' ? [...both, 'pre_feedforward_layernorm', 'post_feedforward_layernorm'] : both;
}
