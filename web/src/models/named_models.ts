// Models by transformers' class names: each is an AutoModel restricted to one architecture.

import { AutoConfig } from '../checkpoint/auto_config.js';
import { sourceOptions } from '../checkpoint/source.js';
import { ClearformerError, textOf } from '../support/error.js';
import {
  AutoModel,
  type AutoModelClass,
  AutoModelForCausalLM,
  AutoModelForImageClassification,
  AutoModelForMaskedLM,
  AutoModelForQuestionAnswering,
  AutoModelForSeq2SeqLM,
  AutoModelForSequenceClassification,
  AutoModelForSpeechSeq2Seq,
  AutoModelForTokenClassification,
} from './auto_models.js';

function named<Model>(name: string, base: AutoModelClass<Model>, type: string): AutoModelClass<Model> {
  return {
    async from_pretrained(source, options = {}) {
      const wanted = Object.entries(options).filter(([option]) => [...sourceOptions, 'signal'].includes(option));
      const { model_type } = await AutoConfig.from_pretrained(source, Object.fromEntries(wanted));
      if (model_type !== type) {
        const message = `${name}.from_pretrained: the checkpoint is '${textOf(model_type)}', not '${type}'; AutoModel… takes any`;
        throw new ClearformerError('unsupported', message, { option: 'source' });
      }
      return base.from_pretrained(source, options);
    },
  };
}

/** The trunk of BERT without a head. */
export const BertModel: typeof AutoModel = /* @__PURE__ */ named('BertModel', AutoModel, 'bert');
/** The trunk of DistilBERT without a head. */
export const DistilBertModel: typeof AutoModel = /* @__PURE__ */ named('DistilBertModel', AutoModel, 'distilbert');
/** The trunk of RoBERTa without a head. */
export const RobertaModel: typeof AutoModel = /* @__PURE__ */ named('RobertaModel', AutoModel, 'roberta');
/** The trunk of ModernBERT without a head. */
export const ModernBertModel: typeof AutoModel = /* @__PURE__ */ named('ModernBertModel', AutoModel, 'modernbert');
/** The trunk of GPT-2 without a head. */
export const GPT2Model: typeof AutoModel = /* @__PURE__ */ named('GPT2Model', AutoModel, 'gpt2');
/** The trunk of ViT without a head. */
export const ViTModel: typeof AutoModel = /* @__PURE__ */ named('ViTModel', AutoModel, 'vit');
/** The trunk of DeiT without a head. */
export const DeiTModel: typeof AutoModel = /* @__PURE__ */ named('DeiTModel', AutoModel, 'deit');
/** The trunk of CLIP without a head. */
export const CLIPModel: typeof AutoModel = /* @__PURE__ */ named('CLIPModel', AutoModel, 'clip');
/** BERT with a masked-LM head. */
export const BertForMaskedLM: typeof AutoModelForMaskedLM = /* @__PURE__ */ named(
  'BertForMaskedLM',
  AutoModelForMaskedLM,
  'bert',
);
/** DistilBERT with a masked-LM head. */
export const DistilBertForMaskedLM: typeof AutoModelForMaskedLM = /* @__PURE__ */ named(
  'DistilBertForMaskedLM',
  AutoModelForMaskedLM,
  'distilbert',
);
/** RoBERTa with a masked-LM head. */
export const RobertaForMaskedLM: typeof AutoModelForMaskedLM = /* @__PURE__ */ named(
  'RobertaForMaskedLM',
  AutoModelForMaskedLM,
  'roberta',
);
/** ModernBERT with a masked-LM head. */
export const ModernBertForMaskedLM: typeof AutoModelForMaskedLM = /* @__PURE__ */ named(
  'ModernBertForMaskedLM',
  AutoModelForMaskedLM,
  'modernbert',
);
/** BERT for text classification. */
export const BertForSequenceClassification: typeof AutoModelForSequenceClassification = /* @__PURE__ */ named(
  'BertForSequenceClassification',
  AutoModelForSequenceClassification,
  'bert',
);
/** DistilBERT for text classification. */
export const DistilBertForSequenceClassification: typeof AutoModelForSequenceClassification = /* @__PURE__ */ named(
  'DistilBertForSequenceClassification',
  AutoModelForSequenceClassification,
  'distilbert',
);
/** RoBERTa for text classification. */
export const RobertaForSequenceClassification: typeof AutoModelForSequenceClassification = /* @__PURE__ */ named(
  'RobertaForSequenceClassification',
  AutoModelForSequenceClassification,
  'roberta',
);
/** ModernBERT for text classification. */
export const ModernBertForSequenceClassification: typeof AutoModelForSequenceClassification = /* @__PURE__ */ named(
  'ModernBertForSequenceClassification',
  AutoModelForSequenceClassification,
  'modernbert',
);
/** BERT for token classification. */
export const BertForTokenClassification: typeof AutoModelForTokenClassification = /* @__PURE__ */ named(
  'BertForTokenClassification',
  AutoModelForTokenClassification,
  'bert',
);
/** DistilBERT for token classification. */
export const DistilBertForTokenClassification: typeof AutoModelForTokenClassification = /* @__PURE__ */ named(
  'DistilBertForTokenClassification',
  AutoModelForTokenClassification,
  'distilbert',
);
/** RoBERTa for token classification. */
export const RobertaForTokenClassification: typeof AutoModelForTokenClassification = /* @__PURE__ */ named(
  'RobertaForTokenClassification',
  AutoModelForTokenClassification,
  'roberta',
);
/** BERT for question answering. */
export const BertForQuestionAnswering: typeof AutoModelForQuestionAnswering = /* @__PURE__ */ named(
  'BertForQuestionAnswering',
  AutoModelForQuestionAnswering,
  'bert',
);
/** DistilBERT for question answering. */
export const DistilBertForQuestionAnswering: typeof AutoModelForQuestionAnswering = /* @__PURE__ */ named(
  'DistilBertForQuestionAnswering',
  AutoModelForQuestionAnswering,
  'distilbert',
);
/** RoBERTa for question answering. */
export const RobertaForQuestionAnswering: typeof AutoModelForQuestionAnswering = /* @__PURE__ */ named(
  'RobertaForQuestionAnswering',
  AutoModelForQuestionAnswering,
  'roberta',
);
/** GPT-2 with an output layer. */
export const GPT2LMHeadModel: typeof AutoModelForCausalLM = /* @__PURE__ */ named(
  'GPT2LMHeadModel',
  AutoModelForCausalLM,
  'gpt2',
);
/** GPT-Neo with an output layer. */
export const GPTNeoForCausalLM: typeof AutoModelForCausalLM = /* @__PURE__ */ named(
  'GPTNeoForCausalLM',
  AutoModelForCausalLM,
  'gpt_neo',
);
/** Llama with an output layer. */
export const LlamaForCausalLM: typeof AutoModelForCausalLM = /* @__PURE__ */ named(
  'LlamaForCausalLM',
  AutoModelForCausalLM,
  'llama',
);
/** Mistral with an output layer. */
export const MistralForCausalLM: typeof AutoModelForCausalLM = /* @__PURE__ */ named(
  'MistralForCausalLM',
  AutoModelForCausalLM,
  'mistral',
);
/** Qwen 2 with an output layer. */
export const Qwen2ForCausalLM: typeof AutoModelForCausalLM = /* @__PURE__ */ named(
  'Qwen2ForCausalLM',
  AutoModelForCausalLM,
  'qwen2',
);
/** Qwen 3 with an output layer. */
export const Qwen3ForCausalLM: typeof AutoModelForCausalLM = /* @__PURE__ */ named(
  'Qwen3ForCausalLM',
  AutoModelForCausalLM,
  'qwen3',
);
/** Phi with an output layer. */
export const PhiForCausalLM: typeof AutoModelForCausalLM = /* @__PURE__ */ named(
  'PhiForCausalLM',
  AutoModelForCausalLM,
  'phi',
);
/** Phi-3 with an output layer. */
export const Phi3ForCausalLM: typeof AutoModelForCausalLM = /* @__PURE__ */ named(
  'Phi3ForCausalLM',
  AutoModelForCausalLM,
  'phi3',
);
/** Gemma 2 with an output layer. */
export const Gemma2ForCausalLM: typeof AutoModelForCausalLM = /* @__PURE__ */ named(
  'Gemma2ForCausalLM',
  AutoModelForCausalLM,
  'gemma2',
);
/** Gemma 3 with an output layer. */
export const Gemma3ForCausalLM: typeof AutoModelForCausalLM = /* @__PURE__ */ named(
  'Gemma3ForCausalLM',
  AutoModelForCausalLM,
  'gemma3_text',
);
/** T5 with an output layer. */
export const T5ForConditionalGeneration: typeof AutoModelForSeq2SeqLM = /* @__PURE__ */ named(
  'T5ForConditionalGeneration',
  AutoModelForSeq2SeqLM,
  't5',
);
/** Marian with an output layer, for translation. */
export const MarianMTModel: typeof AutoModelForSeq2SeqLM = /* @__PURE__ */ named(
  'MarianMTModel',
  AutoModelForSeq2SeqLM,
  'marian',
);
/** BART with an output layer. */
export const BartForConditionalGeneration: typeof AutoModelForSeq2SeqLM = /* @__PURE__ */ named(
  'BartForConditionalGeneration',
  AutoModelForSeq2SeqLM,
  'bart',
);
/** Whisper with an output layer, for speech recognition and translation. */
export const WhisperForConditionalGeneration: typeof AutoModelForSpeechSeq2Seq = /* @__PURE__ */ named(
  'WhisperForConditionalGeneration',
  AutoModelForSpeechSeq2Seq,
  'whisper',
);
/** ViT for image classification. */
export const ViTForImageClassification: typeof AutoModelForImageClassification = /* @__PURE__ */ named(
  'ViTForImageClassification',
  AutoModelForImageClassification,
  'vit',
);
/** DeiT for image classification. */
export const DeiTForImageClassification: typeof AutoModelForImageClassification = /* @__PURE__ */ named(
  'DeiTForImageClassification',
  AutoModelForImageClassification,
  'deit',
);
