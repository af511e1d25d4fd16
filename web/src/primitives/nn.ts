// torch.nn: classes with the options, arguments and state_dict keys of PyTorch 2; batch first, no dropout.

export {
  Embedding,
  type EmbeddingOptions,
  LayerNorm,
  Linear,
  type LinearOptions,
  type NormOptions,
  RMSNorm,
} from './layers.js';
export type { ForwardOptions, HookNames, Module, StateDict, Traced } from './module.js';
export type {
  ModuleBackwardOptions,
  ModuleEdit,
  ModuleEdits,
  ModuleGradients,
  ModuleHook,
  ModuleHooks,
  ModulePart,
  ModuleWithRespectTo,
} from './module_pass.js';
export {
  type Attended,
  type AttentionForwardOptions,
  MultiheadAttention,
  type MultiheadAttentionOptions,
} from './multihead_attention.js';
export {
  type DecoderForwardOptions,
  type EncoderForwardOptions,
  type EncoderLayerForwardOptions,
  Transformer,
  TransformerDecoder,
  TransformerDecoderLayer,
  TransformerEncoder,
  TransformerEncoderLayer,
  type TransformerForwardOptions,
  type TransformerLayerOptions,
  type TransformerOptions,
} from './transformer.js';
