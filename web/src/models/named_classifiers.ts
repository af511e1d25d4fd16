// Classifiers with the trunks of language models, and of encoders like them, by transformers' class names. See named.ts.

import { AutoModelForSequenceClassification, AutoModelForTokenClassification } from './auto_models.js';
import { named } from './named.js';

type ModelForSequenceClassification = typeof AutoModelForSequenceClassification;
type ModelForTokenClassification = typeof AutoModelForTokenClassification;

/** Nomic BERT with a head for classes of texts. */
export const NomicBertForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'NomicBertForSequenceClassification',
  AutoModelForSequenceClassification,
  'nomic_bert',
);
/** EuroBERT with a head for classes of texts. */
export const EuroBertForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'EuroBertForSequenceClassification',
  AutoModelForSequenceClassification,
  'eurobert',
);
/** Nomic BERT with a head for classes of tokens. */
export const NomicBertForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'NomicBertForTokenClassification',
  AutoModelForTokenClassification,
  'nomic_bert',
);
/** EuroBERT with a head for classes of tokens. */
export const EuroBertForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'EuroBertForTokenClassification',
  AutoModelForTokenClassification,
  'eurobert',
);
/** data2vec’s text model for text classification. */
export const Data2VecTextForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'Data2VecTextForSequenceClassification',
  AutoModelForSequenceClassification,
  'data2vec-text',
);
/** data2vec’s text model for token classification. */
export const Data2VecTextForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'Data2VecTextForTokenClassification',
  AutoModelForTokenClassification,
  'data2vec-text',
);
/** Hunyuan (dense) with a head for classes of texts. */
export const HunYuanDenseV1ForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'HunYuanDenseV1ForSequenceClassification',
  AutoModelForSequenceClassification,
  'hunyuan_v1_dense',
);
/** ModernBERT's decoder (Ettin) with a head for classes of texts. */
export const ModernBertDecoderForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'ModernBertDecoderForSequenceClassification',
  AutoModelForSequenceClassification,
  'modernbert-decoder',
);
/** Llama with a head for classes of texts. */
export const LlamaForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'LlamaForSequenceClassification',
  AutoModelForSequenceClassification,
  'llama',
);
/** Mistral with a head for classes of texts. */
export const MistralForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'MistralForSequenceClassification',
  AutoModelForSequenceClassification,
  'mistral',
);
/** Qwen 2 with a head for classes of texts. */
export const Qwen2ForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'Qwen2ForSequenceClassification',
  AutoModelForSequenceClassification,
  'qwen2',
);
/** Qwen 3 with a head for classes of texts. */
export const Qwen3ForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'Qwen3ForSequenceClassification',
  AutoModelForSequenceClassification,
  'qwen3',
);
/** Phi-3 with a head for classes of texts. */
export const Phi3ForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'Phi3ForSequenceClassification',
  AutoModelForSequenceClassification,
  'phi3',
);
/** Gemma with a head for classes of texts. */
export const GemmaForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'GemmaForSequenceClassification',
  AutoModelForSequenceClassification,
  'gemma',
);
/** Gemma 2 with a head for classes of texts. */
export const Gemma2ForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'Gemma2ForSequenceClassification',
  AutoModelForSequenceClassification,
  'gemma2',
);
/** Gemma 3, of texts alone, with a head for classes of texts. */
export const Gemma3TextForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'Gemma3TextForSequenceClassification',
  AutoModelForSequenceClassification,
  'gemma3_text',
);
/** GPT-2 with a head for classes of texts. */
export const GPT2ForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'GPT2ForSequenceClassification',
  AutoModelForSequenceClassification,
  'gpt2',
);
/** GPT-J with a head for classes of texts. */
export const GPTJForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'GPTJForSequenceClassification',
  AutoModelForSequenceClassification,
  'gptj',
);
/** GPT-1 with a head for classes of texts. */
export const OpenAIGPTForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'OpenAIGPTForSequenceClassification',
  AutoModelForSequenceClassification,
  'openai-gpt',
);
/** BLOOM with a head for classes of texts. */
export const BloomForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'BloomForSequenceClassification',
  AutoModelForSequenceClassification,
  'bloom',
);
/** Nemotron with a head for classes of texts. */
export const NemotronForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'NemotronForSequenceClassification',
  AutoModelForSequenceClassification,
  'nemotron',
);
/** OPT with a head for classes of texts. */
export const OPTForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'OPTForSequenceClassification',
  AutoModelForSequenceClassification,
  'opt',
);
/** Llama with a head for classes of tokens. */
export const LlamaForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'LlamaForTokenClassification',
  AutoModelForTokenClassification,
  'llama',
);
/** Nemotron with a head for classes of tokens. */
export const NemotronForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'NemotronForTokenClassification',
  AutoModelForTokenClassification,
  'nemotron',
);
/** BioGPT with a head for classes of tokens. */
export const BioGptForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'BioGptForTokenClassification',
  AutoModelForTokenClassification,
  'biogpt',
);
/** Mistral with a head for classes of tokens. */
export const MistralForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'MistralForTokenClassification',
  AutoModelForTokenClassification,
  'mistral',
);
/** Qwen 2 with a head for classes of tokens. */
export const Qwen2ForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'Qwen2ForTokenClassification',
  AutoModelForTokenClassification,
  'qwen2',
);
/** Qwen 3 with a head for classes of tokens. */
export const Qwen3ForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'Qwen3ForTokenClassification',
  AutoModelForTokenClassification,
  'qwen3',
);
/** GLM-4-0414 with a head for classes of tokens. */
export const Glm4ForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'Glm4ForTokenClassification',
  AutoModelForTokenClassification,
  'glm4',
);
/** GPT-2 with a head for classes of tokens. */
export const GPT2ForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'GPT2ForTokenClassification',
  AutoModelForTokenClassification,
  'gpt2',
);
/** GPT-NeoX with a head for classes of tokens. */
export const GPTNeoXForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'GPTNeoXForTokenClassification',
  AutoModelForTokenClassification,
  'gpt_neox',
);
