// Encoders of sound by transformers' class names. See named.ts.

import { AutoModel, AutoModelForAudioClassification, AutoModelForCTC } from './auto_models.js';
import { named } from './named.js';

type Model = typeof AutoModel;
type ModelForCTC = typeof AutoModelForCTC;
type ModelForAudioClassification = typeof AutoModelForAudioClassification;

/** The trunk of AST (audio spectrogram transformer) without a head. */
export const ASTModel: Model = /* @__PURE__ */ named('ASTModel', AutoModel, 'audio-spectrogram-transformer');
/** AST for classes of sounds. */
export const ASTForAudioClassification: ModelForAudioClassification = /* @__PURE__ */ named(
  'ASTForAudioClassification',
  AutoModelForAudioClassification,
  'audio-spectrogram-transformer',
);
/** The trunk of wav2vec 2.0 without a head. */
export const Wav2Vec2Model: Model = /* @__PURE__ */ named('Wav2Vec2Model', AutoModel, 'wav2vec2');
/** wav2vec 2.0 with tokens of speech for each frame. */
export const Wav2Vec2ForCTC: ModelForCTC = /* @__PURE__ */ named('Wav2Vec2ForCTC', AutoModelForCTC, 'wav2vec2');
/** wav2vec 2.0 for classes of sounds. */
export const Wav2Vec2ForSequenceClassification: ModelForAudioClassification = /* @__PURE__ */ named(
  'Wav2Vec2ForSequenceClassification',
  AutoModelForAudioClassification,
  'wav2vec2',
);
/** The trunk of HuBERT without a head. */
export const HubertModel: Model = /* @__PURE__ */ named('HubertModel', AutoModel, 'hubert');
/** HuBERT with tokens of speech for each frame. */
export const HubertForCTC: ModelForCTC = /* @__PURE__ */ named('HubertForCTC', AutoModelForCTC, 'hubert');
/** HuBERT for classes of sounds. */
export const HubertForSequenceClassification: ModelForAudioClassification = /* @__PURE__ */ named(
  'HubertForSequenceClassification',
  AutoModelForAudioClassification,
  'hubert',
);
