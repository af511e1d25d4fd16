// Models that generate text by transformers' class names. See named.ts.

import { AutoModel, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoModelForSpeechSeq2Seq } from './auto_models.js';
import { named } from './named.js';

type Model = typeof AutoModel;
type ModelForCausalLM = typeof AutoModelForCausalLM;
type ModelForSeq2SeqLM = typeof AutoModelForSeq2SeqLM;
type ModelForSpeechSeq2Seq = typeof AutoModelForSpeechSeq2Seq;

/** The trunk of GPT-2 without a head. */
export const GPT2Model: Model = /* @__PURE__ */ named('GPT2Model', AutoModel, 'gpt2');
/** The trunk of Gemma 3, of texts alone, without a head (EmbeddingGemma). */
export const Gemma3TextModel: Model = /* @__PURE__ */ named('Gemma3TextModel', AutoModel, 'gemma3_text');
/** GPT-2 with an output layer. */
export const GPT2LMHeadModel: ModelForCausalLM = /* @__PURE__ */ named('GPT2LMHeadModel', AutoModelForCausalLM, 'gpt2');
/** GPT-Neo with an output layer. */
export const GPTNeoForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'GPTNeoForCausalLM',
  AutoModelForCausalLM,
  'gpt_neo',
);
/** Llama with an output layer. */
export const LlamaForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'LlamaForCausalLM',
  AutoModelForCausalLM,
  'llama',
);
/** Mistral with an output layer. */
export const MistralForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'MistralForCausalLM',
  AutoModelForCausalLM,
  'mistral',
);
/** Qwen 2 with an output layer. */
export const Qwen2ForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'Qwen2ForCausalLM',
  AutoModelForCausalLM,
  'qwen2',
);
/** Qwen 3 with an output layer. */
export const Qwen3ForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'Qwen3ForCausalLM',
  AutoModelForCausalLM,
  'qwen3',
);
/** Phi with an output layer. */
export const PhiForCausalLM: ModelForCausalLM = /* @__PURE__ */ named('PhiForCausalLM', AutoModelForCausalLM, 'phi');
/** Phi-3 with an output layer. */
export const Phi3ForCausalLM: ModelForCausalLM = /* @__PURE__ */ named('Phi3ForCausalLM', AutoModelForCausalLM, 'phi3');
/** Gemma 2 with an output layer. */
export const Gemma2ForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'Gemma2ForCausalLM',
  AutoModelForCausalLM,
  'gemma2',
);
/** Gemma 3 with an output layer. */
export const Gemma3ForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'Gemma3ForCausalLM',
  AutoModelForCausalLM,
  'gemma3_text',
);
/** GPT-NeoX with an output layer. */
export const GPTNeoXForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'GPTNeoXForCausalLM',
  AutoModelForCausalLM,
  'gpt_neox',
);
/** GPT-J with an output layer. */
export const GPTJForCausalLM: ModelForCausalLM = /* @__PURE__ */ named('GPTJForCausalLM', AutoModelForCausalLM, 'gptj');
/** CodeGen with an output layer. */
export const CodeGenForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'CodeGenForCausalLM',
  AutoModelForCausalLM,
  'codegen',
);
/** BLOOM with an output layer. */
export const BloomForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'BloomForCausalLM',
  AutoModelForCausalLM,
  'bloom',
);
/** Falcon with an output layer. */
export const FalconForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'FalconForCausalLM',
  AutoModelForCausalLM,
  'falcon',
);
/** MPT with an output layer. */
export const MptForCausalLM: ModelForCausalLM = /* @__PURE__ */ named('MptForCausalLM', AutoModelForCausalLM, 'mpt');
/** StableLM with an output layer. */
export const StableLmForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'StableLmForCausalLM',
  AutoModelForCausalLM,
  'stablelm',
);
/** Cohere with an output layer. */
export const CohereForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'CohereForCausalLM',
  AutoModelForCausalLM,
  'cohere',
);
/** Cohere 2 with an output layer. */
export const Cohere2ForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'Cohere2ForCausalLM',
  AutoModelForCausalLM,
  'cohere2',
);
/** GPT-BigCode (SantaCoder, StarCoder 1) with an output layer. */
export const GPTBigCodeForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'GPTBigCodeForCausalLM',
  AutoModelForCausalLM,
  'gpt_bigcode',
);
/** ERNIE 4.5 with an output layer. */
export const Ernie4_5ForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'Ernie4_5ForCausalLM',
  AutoModelForCausalLM,
  'ernie4_5',
);
/** Helium with an output layer. */
export const HeliumForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'HeliumForCausalLM',
  AutoModelForCausalLM,
  'helium',
);
/** GLM-4 and GLM-Edge with an output layer. */
export const GlmForCausalLM: ModelForCausalLM = /* @__PURE__ */ named('GlmForCausalLM', AutoModelForCausalLM, 'glm');
/** GLM-4-0414 with an output layer. */
export const Glm4ForCausalLM: ModelForCausalLM = /* @__PURE__ */ named('Glm4ForCausalLM', AutoModelForCausalLM, 'glm4');
/** EXAONE 4 with an output layer. */
export const Exaone4ForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'Exaone4ForCausalLM',
  AutoModelForCausalLM,
  'exaone4',
);
/** Arcee with an output layer. */
export const ArceeForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'ArceeForCausalLM',
  AutoModelForCausalLM,
  'arcee',
);
/** Hunyuan (dense) with an output layer. */
export const HunYuanDenseV1ForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'HunYuanDenseV1ForCausalLM',
  AutoModelForCausalLM,
  'hunyuan_v1_dense',
);
/** nanochat with an output layer. */
export const NanoChatForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'NanoChatForCausalLM',
  AutoModelForCausalLM,
  'nanochat',
);
/** ModernBERT's decoder (Ettin) with an output layer. */
export const ModernBertDecoderForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'ModernBertDecoderForCausalLM',
  AutoModelForCausalLM,
  'modernbert-decoder',
);
/** VaultGemma with an output layer. */
export const VaultGemmaForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'VaultGemmaForCausalLM',
  AutoModelForCausalLM,
  'vaultgemma',
);
/** Gemma with an output layer. */
export const GemmaForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'GemmaForCausalLM',
  AutoModelForCausalLM,
  'gemma',
);
/** OLMo with an output layer. */
export const OlmoForCausalLM: ModelForCausalLM = /* @__PURE__ */ named('OlmoForCausalLM', AutoModelForCausalLM, 'olmo');
/** OLMo 2 with an output layer. */
export const Olmo2ForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'Olmo2ForCausalLM',
  AutoModelForCausalLM,
  'olmo2',
);
/** OLMo 3 with an output layer. */
export const Olmo3ForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'Olmo3ForCausalLM',
  AutoModelForCausalLM,
  'olmo3',
);
/** SmolLM3 with an output layer. */
export const SmolLM3ForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'SmolLM3ForCausalLM',
  AutoModelForCausalLM,
  'smollm3',
);
/** Granite with an output layer. */
export const GraniteForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'GraniteForCausalLM',
  AutoModelForCausalLM,
  'granite',
);
/** Granite MoE hybrid (Granite 4) with attention in all layers and an output layer. */
export const GraniteMoeHybridForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'GraniteMoeHybridForCausalLM',
  AutoModelForCausalLM,
  'granitemoehybrid',
);
/** Granite MoE with an output layer. */
export const GraniteMoeForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'GraniteMoeForCausalLM',
  AutoModelForCausalLM,
  'granitemoe',
);
/** OLMoE with an output layer. */
export const OlmoeForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'OlmoeForCausalLM',
  AutoModelForCausalLM,
  'olmoe',
);
/** Qwen3 MoE with an output layer. */
export const Qwen3MoeForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'Qwen3MoeForCausalLM',
  AutoModelForCausalLM,
  'qwen3_moe',
);
/** Mixtral with an output layer. */
export const MixtralForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'MixtralForCausalLM',
  AutoModelForCausalLM,
  'mixtral',
);
/** StarCoder2 with an output layer. */
export const Starcoder2ForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'Starcoder2ForCausalLM',
  AutoModelForCausalLM,
  'starcoder2',
);
/** LFM2 with an output layer. */
export const Lfm2ForCausalLM: ModelForCausalLM = /* @__PURE__ */ named('Lfm2ForCausalLM', AutoModelForCausalLM, 'lfm2');
/** Qwen 3.5's text model with an output layer. */
export const Qwen3_5ForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'Qwen3_5ForCausalLM',
  AutoModelForCausalLM,
  'qwen3_5_text',
  'qwen3_5',
);
/** A whole Qwen 3.5, of which the text model is read: without images. */
export const Qwen3_5ForConditionalGeneration: ModelForCausalLM = /* @__PURE__ */ named(
  'Qwen3_5ForConditionalGeneration',
  AutoModelForCausalLM,
  'qwen3_5',
);
/** OPT with an output layer. */
export const OPTForCausalLM: ModelForCausalLM = /* @__PURE__ */ named('OPTForCausalLM', AutoModelForCausalLM, 'opt');
/** XGLM with an output layer. */
export const XGLMForCausalLM: ModelForCausalLM = /* @__PURE__ */ named('XGLMForCausalLM', AutoModelForCausalLM, 'xglm');
/** BioGPT with an output layer. */
export const BioGptForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'BioGptForCausalLM',
  AutoModelForCausalLM,
  'biogpt',
);
/** Nemotron with an output layer. */
export const NemotronForCausalLM: ModelForCausalLM = /* @__PURE__ */ named(
  'NemotronForCausalLM',
  AutoModelForCausalLM,
  'nemotron',
);
/** The first GPT with an output layer. */
export const OpenAIGPTLMHeadModel: ModelForCausalLM = /* @__PURE__ */ named(
  'OpenAIGPTLMHeadModel',
  AutoModelForCausalLM,
  'openai-gpt',
);
/** T5 with an output layer. */
export const T5ForConditionalGeneration: ModelForSeq2SeqLM = /* @__PURE__ */ named(
  'T5ForConditionalGeneration',
  AutoModelForSeq2SeqLM,
  't5',
);
/** mT5 with an output layer. */
export const MT5ForConditionalGeneration: ModelForSeq2SeqLM = /* @__PURE__ */ named(
  'MT5ForConditionalGeneration',
  AutoModelForSeq2SeqLM,
  'mt5',
);
/** Marian with an output layer, for translation. */
export const MarianMTModel: ModelForSeq2SeqLM = /* @__PURE__ */ named('MarianMTModel', AutoModelForSeq2SeqLM, 'marian');
/** BART with an output layer. */
export const BartForConditionalGeneration: ModelForSeq2SeqLM = /* @__PURE__ */ named(
  'BartForConditionalGeneration',
  AutoModelForSeq2SeqLM,
  'bart',
);
/** M2M100 or NLLB, for translation. */
export const M2M100ForConditionalGeneration: ModelForSeq2SeqLM = /* @__PURE__ */ named(
  'M2M100ForConditionalGeneration',
  AutoModelForSeq2SeqLM,
  'm2m_100',
);
/** mBART with an output layer. */
export const MBartForConditionalGeneration: ModelForSeq2SeqLM = /* @__PURE__ */ named(
  'MBartForConditionalGeneration',
  AutoModelForSeq2SeqLM,
  'mbart',
);
/** Pegasus with an output layer. */
export const PegasusForConditionalGeneration: ModelForSeq2SeqLM = /* @__PURE__ */ named(
  'PegasusForConditionalGeneration',
  AutoModelForSeq2SeqLM,
  'pegasus',
);
/** Blenderbot with an output layer, for conversations. */
export const BlenderbotForConditionalGeneration: ModelForSeq2SeqLM = /* @__PURE__ */ named(
  'BlenderbotForConditionalGeneration',
  AutoModelForSeq2SeqLM,
  'blenderbot',
);
/** The small Blenderbot with an output layer, for conversations. */
export const BlenderbotSmallForConditionalGeneration: ModelForSeq2SeqLM = /* @__PURE__ */ named(
  'BlenderbotSmallForConditionalGeneration',
  AutoModelForSeq2SeqLM,
  'blenderbot-small',
);
/** Whisper with an output layer, for speech recognition and translation. */
export const WhisperForConditionalGeneration: ModelForSpeechSeq2Seq = /* @__PURE__ */ named(
  'WhisperForConditionalGeneration',
  AutoModelForSpeechSeq2Seq,
  'whisper',
);
