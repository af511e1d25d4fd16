// The class that loads a model of each task, by the task's name in a checkpoint's description.

import {
  AutoModel,
  type AutoModelClass,
  AutoModelForCausalLM,
  AutoModelForCTC,
  AutoModelForImageClassification,
  AutoModelForMaskedLM,
  AutoModelForPreTraining,
  AutoModelForQuestionAnswering,
  AutoModelForSeq2SeqLM,
  AutoModelForSequenceClassification,
  AutoModelForTokenClassification,
  AutoModelForZeroShotImageClassification,
  type PreTrainedModel,
} from 'clearformer';

export const classes: Readonly<Record<string, AutoModelClass<PreTrainedModel>>> = {
  base: AutoModel,
  ctc: AutoModelForCTC,
  'causal-lm': AutoModelForCausalLM,
  'seq2seq-lm': AutoModelForSeq2SeqLM,
  'masked-lm': AutoModelForMaskedLM,
  'sequence-classification': AutoModelForSequenceClassification,
  'token-classification': AutoModelForTokenClassification,
  'question-answering': AutoModelForQuestionAnswering,
  'replaced-token-detection': AutoModelForPreTraining,
  'image-classification': AutoModelForImageClassification,
  'zero-shot-image-classification': AutoModelForZeroShotImageClassification,
};
