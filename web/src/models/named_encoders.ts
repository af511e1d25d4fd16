// Encoders of texts, and models that classify them or answer from them, by transformers’ class names. See named.ts.

import {
  AutoModel,
  AutoModelForMaskedLM,
  AutoModelForPreTraining,
  AutoModelForQuestionAnswering,
  AutoModelForSequenceClassification,
  AutoModelForTokenClassification,
} from './auto_models.js';
import { named } from './named.js';

type Model = typeof AutoModel;
type ModelForMaskedLM = typeof AutoModelForMaskedLM;
type ModelForSequenceClassification = typeof AutoModelForSequenceClassification;
type ModelForTokenClassification = typeof AutoModelForTokenClassification;
type ModelForQuestionAnswering = typeof AutoModelForQuestionAnswering;
type ModelForPreTraining = typeof AutoModelForPreTraining;

/** The trunk of BERT without a head. */
export const BertModel: Model = /* @__PURE__ */ named('BertModel', AutoModel, 'bert');
/** The trunk of DistilBERT without a head. */
export const DistilBertModel: Model = /* @__PURE__ */ named('DistilBertModel', AutoModel, 'distilbert');
/** The trunk of RoBERTa without a head. */
export const RobertaModel: Model = /* @__PURE__ */ named('RobertaModel', AutoModel, 'roberta');
/** The trunk of ModernBERT without a head. */
export const ModernBertModel: Model = /* @__PURE__ */ named('ModernBertModel', AutoModel, 'modernbert');
/** The trunk of XLM-RoBERTa without a head. */
export const XLMRobertaModel: Model = /* @__PURE__ */ named('XLMRobertaModel', AutoModel, 'xlm-roberta');
/** The trunk of CamemBERT without a head. */
export const CamembertModel: Model = /* @__PURE__ */ named('CamembertModel', AutoModel, 'camembert');
/** The trunk of data2vec’s text model without a head. */
export const Data2VecTextModel: Model = /* @__PURE__ */ named('Data2VecTextModel', AutoModel, 'data2vec-text');
/** The trunk of ELECTRA without a head. */
export const ElectraModel: Model = /* @__PURE__ */ named('ElectraModel', AutoModel, 'electra');
/** The trunk of ALBERT without a head. */
export const AlbertModel: Model = /* @__PURE__ */ named('AlbertModel', AutoModel, 'albert');
/** The trunk of MPNet without a head. */
export const MPNetModel: Model = /* @__PURE__ */ named('MPNetModel', AutoModel, 'mpnet');
/** The trunk of DeBERTa-v2 or -v3 without a head. */
export const DebertaV2Model: Model = /* @__PURE__ */ named('DebertaV2Model', AutoModel, 'deberta-v2');
/** The trunk of EuroBERT without a head. */
export const EuroBertModel: Model = /* @__PURE__ */ named('EuroBertModel', AutoModel, 'eurobert');
/** The trunk of Nomic BERT without a head (nomic-embed-text). */
export const NomicBertModel: Model = /* @__PURE__ */ named('NomicBertModel', AutoModel, 'nomic_bert');
/** The trunk of ESM-1b or -2 without a head. */
export const EsmModel: Model = /* @__PURE__ */ named('EsmModel', AutoModel, 'esm');
/** The encoder of T5 alone, of a checkpoint that has no decoder. */
export const T5EncoderModel: Model = /* @__PURE__ */ named('T5EncoderModel', AutoModel, 't5');
/** The encoder of mT5 alone, of a checkpoint that has no decoder. */
export const MT5EncoderModel: Model = /* @__PURE__ */ named('MT5EncoderModel', AutoModel, 'mt5');
/** BERT with a masked-LM head. */
export const BertForMaskedLM: ModelForMaskedLM = /* @__PURE__ */ named('BertForMaskedLM', AutoModelForMaskedLM, 'bert');
/** DistilBERT with a masked-LM head. */
export const DistilBertForMaskedLM: ModelForMaskedLM = /* @__PURE__ */ named(
  'DistilBertForMaskedLM',
  AutoModelForMaskedLM,
  'distilbert',
);
/** RoBERTa with a masked-LM head. */
export const RobertaForMaskedLM: ModelForMaskedLM = /* @__PURE__ */ named(
  'RobertaForMaskedLM',
  AutoModelForMaskedLM,
  'roberta',
);
/** ModernBERT with a masked-LM head. */
export const ModernBertForMaskedLM: ModelForMaskedLM = /* @__PURE__ */ named(
  'ModernBertForMaskedLM',
  AutoModelForMaskedLM,
  'modernbert',
);
/** XLM-RoBERTa with a masked-LM head. */
export const XLMRobertaForMaskedLM: ModelForMaskedLM = /* @__PURE__ */ named(
  'XLMRobertaForMaskedLM',
  AutoModelForMaskedLM,
  'xlm-roberta',
);
/** data2vec’s text model with a masked-LM head. */
export const Data2VecTextForMaskedLM: ModelForMaskedLM = /* @__PURE__ */ named(
  'Data2VecTextForMaskedLM',
  AutoModelForMaskedLM,
  'data2vec-text',
);
/** CamemBERT with a masked-LM head. */
export const CamembertForMaskedLM: ModelForMaskedLM = /* @__PURE__ */ named(
  'CamembertForMaskedLM',
  AutoModelForMaskedLM,
  'camembert',
);
/** ELECTRA with a masked-LM head. */
export const ElectraForMaskedLM: ModelForMaskedLM = /* @__PURE__ */ named(
  'ElectraForMaskedLM',
  AutoModelForMaskedLM,
  'electra',
);
/** ALBERT with a masked-LM head. */
export const AlbertForMaskedLM: ModelForMaskedLM = /* @__PURE__ */ named(
  'AlbertForMaskedLM',
  AutoModelForMaskedLM,
  'albert',
);
/** ESM-1b or -2 with a masked-LM head. */
export const EsmForMaskedLM: ModelForMaskedLM = /* @__PURE__ */ named('EsmForMaskedLM', AutoModelForMaskedLM, 'esm');
/** EuroBERT with a masked-LM head. */
export const EuroBertForMaskedLM: ModelForMaskedLM = /* @__PURE__ */ named(
  'EuroBertForMaskedLM',
  AutoModelForMaskedLM,
  'eurobert',
);
/** Nomic BERT with a masked-LM head. */
export const NomicBertForMaskedLM: ModelForMaskedLM = /* @__PURE__ */ named(
  'NomicBertForMaskedLM',
  AutoModelForMaskedLM,
  'nomic_bert',
);
/** MPNet with a masked-LM head. */
export const MPNetForMaskedLM: ModelForMaskedLM = /* @__PURE__ */ named(
  'MPNetForMaskedLM',
  AutoModelForMaskedLM,
  'mpnet',
);
/** DeBERTa-v2 or -v3 with a masked-LM head. */
export const DebertaV2ForMaskedLM: ModelForMaskedLM = /* @__PURE__ */ named(
  'DebertaV2ForMaskedLM',
  AutoModelForMaskedLM,
  'deberta-v2',
);
/** BERT for text classification. */
export const BertForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'BertForSequenceClassification',
  AutoModelForSequenceClassification,
  'bert',
);
/** DistilBERT for text classification. */
export const DistilBertForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'DistilBertForSequenceClassification',
  AutoModelForSequenceClassification,
  'distilbert',
);
/** RoBERTa for text classification. */
export const RobertaForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'RobertaForSequenceClassification',
  AutoModelForSequenceClassification,
  'roberta',
);
/** ModernBERT for text classification. */
export const ModernBertForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'ModernBertForSequenceClassification',
  AutoModelForSequenceClassification,
  'modernbert',
);
/** XLM-RoBERTa for text classification. */
export const XLMRobertaForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'XLMRobertaForSequenceClassification',
  AutoModelForSequenceClassification,
  'xlm-roberta',
);
/** CamemBERT for text classification. */
export const CamembertForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'CamembertForSequenceClassification',
  AutoModelForSequenceClassification,
  'camembert',
);
/** ELECTRA for text classification. */
export const ElectraForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'ElectraForSequenceClassification',
  AutoModelForSequenceClassification,
  'electra',
);
/** ALBERT for text classification. */
export const AlbertForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'AlbertForSequenceClassification',
  AutoModelForSequenceClassification,
  'albert',
);
/** ESM-1b or -2 for the classification of proteins. */
export const EsmForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'EsmForSequenceClassification',
  AutoModelForSequenceClassification,
  'esm',
);
/** MPNet for text classification. */
export const MPNetForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'MPNetForSequenceClassification',
  AutoModelForSequenceClassification,
  'mpnet',
);
/** DeBERTa-v2 or -v3 for text classification. */
export const DebertaV2ForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'DebertaV2ForSequenceClassification',
  AutoModelForSequenceClassification,
  'deberta-v2',
);
/** BART for text classification: zero-shot, as `facebook/bart-large-mnli`. */
export const BartForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'BartForSequenceClassification',
  AutoModelForSequenceClassification,
  'bart',
);
/** mBART for text classification. */
export const MBartForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'MBartForSequenceClassification',
  AutoModelForSequenceClassification,
  'mbart',
);
/** T5 for text classification. */
export const T5ForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'T5ForSequenceClassification',
  AutoModelForSequenceClassification,
  't5',
);
/** mT5 for text classification. */
export const MT5ForSequenceClassification: ModelForSequenceClassification = /* @__PURE__ */ named(
  'MT5ForSequenceClassification',
  AutoModelForSequenceClassification,
  'mt5',
);
/** BERT for token classification. */
export const BertForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'BertForTokenClassification',
  AutoModelForTokenClassification,
  'bert',
);
/** DistilBERT for token classification. */
export const DistilBertForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'DistilBertForTokenClassification',
  AutoModelForTokenClassification,
  'distilbert',
);
/** RoBERTa for token classification. */
export const RobertaForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'RobertaForTokenClassification',
  AutoModelForTokenClassification,
  'roberta',
);
/** ModernBERT for token classification. */
export const ModernBertForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'ModernBertForTokenClassification',
  AutoModelForTokenClassification,
  'modernbert',
);
/** XLM-RoBERTa for token classification. */
export const XLMRobertaForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'XLMRobertaForTokenClassification',
  AutoModelForTokenClassification,
  'xlm-roberta',
);
/** CamemBERT for token classification. */
export const CamembertForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'CamembertForTokenClassification',
  AutoModelForTokenClassification,
  'camembert',
);
/** ELECTRA for token classification. */
export const ElectraForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'ElectraForTokenClassification',
  AutoModelForTokenClassification,
  'electra',
);
/** ALBERT for token classification. */
export const AlbertForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'AlbertForTokenClassification',
  AutoModelForTokenClassification,
  'albert',
);
/** ESM-1b or -2 for the classification of residues. */
export const EsmForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'EsmForTokenClassification',
  AutoModelForTokenClassification,
  'esm',
);
/** MPNet for token classification. */
export const MPNetForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'MPNetForTokenClassification',
  AutoModelForTokenClassification,
  'mpnet',
);
/** DeBERTa-v2 or -v3 for token classification. */
export const DebertaV2ForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'DebertaV2ForTokenClassification',
  AutoModelForTokenClassification,
  'deberta-v2',
);
/** The encoder of T5 for token classification. */
export const T5ForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'T5ForTokenClassification',
  AutoModelForTokenClassification,
  't5',
);
/** The encoder of mT5 for token classification. */
export const MT5ForTokenClassification: ModelForTokenClassification = /* @__PURE__ */ named(
  'MT5ForTokenClassification',
  AutoModelForTokenClassification,
  'mt5',
);
/** BERT for question answering. */
export const BertForQuestionAnswering: ModelForQuestionAnswering = /* @__PURE__ */ named(
  'BertForQuestionAnswering',
  AutoModelForQuestionAnswering,
  'bert',
);
/** DistilBERT for question answering. */
export const DistilBertForQuestionAnswering: ModelForQuestionAnswering = /* @__PURE__ */ named(
  'DistilBertForQuestionAnswering',
  AutoModelForQuestionAnswering,
  'distilbert',
);
/** RoBERTa for question answering. */
export const RobertaForQuestionAnswering: ModelForQuestionAnswering = /* @__PURE__ */ named(
  'RobertaForQuestionAnswering',
  AutoModelForQuestionAnswering,
  'roberta',
);
/** ModernBERT for question answering. */
export const ModernBertForQuestionAnswering: ModelForQuestionAnswering = /* @__PURE__ */ named(
  'ModernBertForQuestionAnswering',
  AutoModelForQuestionAnswering,
  'modernbert',
);
/** XLM-RoBERTa for question answering. */
export const XLMRobertaForQuestionAnswering: ModelForQuestionAnswering = /* @__PURE__ */ named(
  'XLMRobertaForQuestionAnswering',
  AutoModelForQuestionAnswering,
  'xlm-roberta',
);
/** data2vec’s text model for question answering. */
export const Data2VecTextForQuestionAnswering: ModelForQuestionAnswering = /* @__PURE__ */ named(
  'Data2VecTextForQuestionAnswering',
  AutoModelForQuestionAnswering,
  'data2vec-text',
);
/** CamemBERT for question answering. */
export const CamembertForQuestionAnswering: ModelForQuestionAnswering = /* @__PURE__ */ named(
  'CamembertForQuestionAnswering',
  AutoModelForQuestionAnswering,
  'camembert',
);
/** ELECTRA for question answering. */
export const ElectraForQuestionAnswering: ModelForQuestionAnswering = /* @__PURE__ */ named(
  'ElectraForQuestionAnswering',
  AutoModelForQuestionAnswering,
  'electra',
);
/** ALBERT for question answering. */
export const AlbertForQuestionAnswering: ModelForQuestionAnswering = /* @__PURE__ */ named(
  'AlbertForQuestionAnswering',
  AutoModelForQuestionAnswering,
  'albert',
);
/** MPNet for question answering. */
export const MPNetForQuestionAnswering: ModelForQuestionAnswering = /* @__PURE__ */ named(
  'MPNetForQuestionAnswering',
  AutoModelForQuestionAnswering,
  'mpnet',
);
/** DeBERTa-v2 or -v3 for question answering. */
export const DebertaV2ForQuestionAnswering: ModelForQuestionAnswering = /* @__PURE__ */ named(
  'DebertaV2ForQuestionAnswering',
  AutoModelForQuestionAnswering,
  'deberta-v2',
);
/** BART for question answering. */
export const BartForQuestionAnswering: ModelForQuestionAnswering = /* @__PURE__ */ named(
  'BartForQuestionAnswering',
  AutoModelForQuestionAnswering,
  'bart',
);
/** mBART for question answering. */
export const MBartForQuestionAnswering: ModelForQuestionAnswering = /* @__PURE__ */ named(
  'MBartForQuestionAnswering',
  AutoModelForQuestionAnswering,
  'mbart',
);
/** T5 for question answering. */
export const T5ForQuestionAnswering: ModelForQuestionAnswering = /* @__PURE__ */ named(
  'T5ForQuestionAnswering',
  AutoModelForQuestionAnswering,
  't5',
);
/** mT5 for question answering. */
export const MT5ForQuestionAnswering: ModelForQuestionAnswering = /* @__PURE__ */ named(
  'MT5ForQuestionAnswering',
  AutoModelForQuestionAnswering,
  'mt5',
);
/** ELECTRA, which tells replaced tokens from original ones. */
export const ElectraForPreTraining: ModelForPreTraining = /* @__PURE__ */ named(
  'ElectraForPreTraining',
  AutoModelForPreTraining,
  'electra',
);
