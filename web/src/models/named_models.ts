// Models by the class they were saved from, as transformers names them: an AutoModel that takes one architecture alone.

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
/** BERT that fills blanks. */
export const BertForMaskedLM: typeof AutoModelForMaskedLM = /* @__PURE__ */ named(
  'BertForMaskedLM',
  AutoModelForMaskedLM,
  'bert',
);
/** DistilBERT that fills blanks. */
export const DistilBertForMaskedLM: typeof AutoModelForMaskedLM = /* @__PURE__ */ named(
  'DistilBertForMaskedLM',
  AutoModelForMaskedLM,
  'distilbert',
);
/** RoBERTa that fills blanks. */
export const RobertaForMaskedLM: typeof AutoModelForMaskedLM = /* @__PURE__ */ named(
  'RobertaForMaskedLM',
  AutoModelForMaskedLM,
  'roberta',
);
/** ModernBERT that fills blanks. */
export const ModernBertForMaskedLM: typeof AutoModelForMaskedLM = /* @__PURE__ */ named(
  'ModernBertForMaskedLM',
  AutoModelForMaskedLM,
  'modernbert',
);
/** BERT that classifies texts. */
export const BertForSequenceClassification: typeof AutoModelForSequenceClassification = /* @__PURE__ */ named(
  'BertForSequenceClassification',
  AutoModelForSequenceClassification,
  'bert',
);
/** DistilBERT that classifies texts. */
export const DistilBertForSequenceClassification: typeof AutoModelForSequenceClassification = /* @__PURE__ */ named(
  'DistilBertForSequenceClassification',
  AutoModelForSequenceClassification,
  'distilbert',
);
/** RoBERTa that classifies texts. */
export const RobertaForSequenceClassification: typeof AutoModelForSequenceClassification = /* @__PURE__ */ named(
  'RobertaForSequenceClassification',
  AutoModelForSequenceClassification,
  'roberta',
);
/** ModernBERT that classifies texts. */
export const ModernBertForSequenceClassification: typeof AutoModelForSequenceClassification = /* @__PURE__ */ named(
  'ModernBertForSequenceClassification',
  AutoModelForSequenceClassification,
  'modernbert',
);
/** BERT that classifies tokens. */
export const BertForTokenClassification: typeof AutoModelForTokenClassification = /* @__PURE__ */ named(
  'BertForTokenClassification',
  AutoModelForTokenClassification,
  'bert',
);
/** DistilBERT that classifies tokens. */
export const DistilBertForTokenClassification: typeof AutoModelForTokenClassification = /* @__PURE__ */ named(
  'DistilBertForTokenClassification',
  AutoModelForTokenClassification,
  'distilbert',
);
/** RoBERTa that classifies tokens. */
export const RobertaForTokenClassification: typeof AutoModelForTokenClassification = /* @__PURE__ */ named(
  'RobertaForTokenClassification',
  AutoModelForTokenClassification,
  'roberta',
);
/** BERT that finds answers. */
export const BertForQuestionAnswering: typeof AutoModelForQuestionAnswering = /* @__PURE__ */ named(
  'BertForQuestionAnswering',
  AutoModelForQuestionAnswering,
  'bert',
);
/** DistilBERT that finds answers. */
export const DistilBertForQuestionAnswering: typeof AutoModelForQuestionAnswering = /* @__PURE__ */ named(
  'DistilBertForQuestionAnswering',
  AutoModelForQuestionAnswering,
  'distilbert',
);
/** RoBERTa that finds answers. */
export const RobertaForQuestionAnswering: typeof AutoModelForQuestionAnswering = /* @__PURE__ */ named(
  'RobertaForQuestionAnswering',
  AutoModelForQuestionAnswering,
  'roberta',
);
/** GPT-2 that writes on. */
export const GPT2LMHeadModel: typeof AutoModelForCausalLM = /* @__PURE__ */ named(
  'GPT2LMHeadModel',
  AutoModelForCausalLM,
  'gpt2',
);
/** GPT-Neo that writes on. */
export const GPTNeoForCausalLM: typeof AutoModelForCausalLM = /* @__PURE__ */ named(
  'GPTNeoForCausalLM',
  AutoModelForCausalLM,
  'gpt_neo',
);
/** Llama that writes on. */
export const LlamaForCausalLM: typeof AutoModelForCausalLM = /* @__PURE__ */ named(
  'LlamaForCausalLM',
  AutoModelForCausalLM,
  'llama',
);
/** Mistral that writes on. */
export const MistralForCausalLM: typeof AutoModelForCausalLM = /* @__PURE__ */ named(
  'MistralForCausalLM',
  AutoModelForCausalLM,
  'mistral',
);
/** Qwen 2 that writes on. */
export const Qwen2ForCausalLM: typeof AutoModelForCausalLM = /* @__PURE__ */ named(
  'Qwen2ForCausalLM',
  AutoModelForCausalLM,
  'qwen2',
);
/** Qwen 3 that writes on. */
export const Qwen3ForCausalLM: typeof AutoModelForCausalLM = /* @__PURE__ */ named(
  'Qwen3ForCausalLM',
  AutoModelForCausalLM,
  'qwen3',
);
/** Phi that writes on. */
export const PhiForCausalLM: typeof AutoModelForCausalLM = /* @__PURE__ */ named(
  'PhiForCausalLM',
  AutoModelForCausalLM,
  'phi',
);
/** Phi-3 that writes on. */
export const Phi3ForCausalLM: typeof AutoModelForCausalLM = /* @__PURE__ */ named(
  'Phi3ForCausalLM',
  AutoModelForCausalLM,
  'phi3',
);
/** Gemma 2 that writes on. */
export const Gemma2ForCausalLM: typeof AutoModelForCausalLM = /* @__PURE__ */ named(
  'Gemma2ForCausalLM',
  AutoModelForCausalLM,
  'gemma2',
);
/** Gemma 3 that writes on. */
export const Gemma3ForCausalLM: typeof AutoModelForCausalLM = /* @__PURE__ */ named(
  'Gemma3ForCausalLM',
  AutoModelForCausalLM,
  'gemma3_text',
);
/** T5, from text to text. */
export const T5ForConditionalGeneration: typeof AutoModelForSeq2SeqLM = /* @__PURE__ */ named(
  'T5ForConditionalGeneration',
  AutoModelForSeq2SeqLM,
  't5',
);
/** Marian, from text to text. */
export const MarianMTModel: typeof AutoModelForSeq2SeqLM = /* @__PURE__ */ named(
  'MarianMTModel',
  AutoModelForSeq2SeqLM,
  'marian',
);
/** BART, from text to text. */
export const BartForConditionalGeneration: typeof AutoModelForSeq2SeqLM = /* @__PURE__ */ named(
  'BartForConditionalGeneration',
  AutoModelForSeq2SeqLM,
  'bart',
);
/** Whisper, from sound to text. */
export const WhisperForConditionalGeneration: typeof AutoModelForSpeechSeq2Seq = /* @__PURE__ */ named(
  'WhisperForConditionalGeneration',
  AutoModelForSpeechSeq2Seq,
  'whisper',
);
/** ViT that classifies images. */
export const ViTForImageClassification: typeof AutoModelForImageClassification = /* @__PURE__ */ named(
  'ViTForImageClassification',
  AutoModelForImageClassification,
  'vit',
);
/** DeiT that classifies images. */
export const DeiTForImageClassification: typeof AutoModelForImageClassification = /* @__PURE__ */ named(
  'DeiTForImageClassification',
  AutoModelForImageClassification,
  'deit',
);
