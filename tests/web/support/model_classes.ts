// The class that loads a model, by the name of its task and that of its architecture.

import {
  AutoModel,
  type AutoModelClass,
  AutoModelForAudioClassification,
  AutoModelForCausalLM,
  AutoModelForCTC,
  AutoModelForImageClassification,
  AutoModelForMaskedLM,
  AutoModelForPreTraining,
  AutoModelForQuestionAnswering,
  AutoModelForSeq2SeqLM,
  AutoModelForSequenceClassification,
  AutoModelForSpeechSeq2Seq,
  AutoModelForTokenClassification,
  AutoModelForZeroShotImageClassification,
  type PreTrainedModel,
} from 'clearformer';

type Classes = Readonly<Record<string, AutoModelClass<PreTrainedModel>>>;

export const classes: Classes = {
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

const ofSounds: Classes = {
  'seq2seq-lm': AutoModelForSpeechSeq2Seq,
  'sequence-classification': AutoModelForAudioClassification,
};

/** The class of a task, for models whose architecture or folder is `named` so: those of sounds have some of their own. */
export function classOf(task: unknown, named: unknown): AutoModelClass<PreTrainedModel> {
  const sound = /whisper|wav2vec2|hubert|spectrogram/.test(String(named));
  const found = (sound ? ofSounds[String(task)] : undefined) ?? classes[String(task)];
  if (found === undefined) throw new Error(`no class for the task ${task}`);
  return found;
}
