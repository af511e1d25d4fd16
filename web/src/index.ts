/**
 * The public exports of `clearformer`.
 * @module clearformer
 */

export { type AblateHeadsOptions, ablateHeads, type HeadAblation } from './analysis/ablate_heads.js';
export type { AttentionPatterns } from './analysis/attention_patterns.js';
export { attentionRollout } from './analysis/attention_rollout.js';
export { toCSV } from './analysis/csv.js';
export {
  type DetectedHead,
  type DetectedHeads,
  type DetectHeadsOptions,
  detectHeads,
} from './analysis/detect_heads.js';
export * from './analysis/directions.js';
export { FactoredMatrix, type SingularValues } from './analysis/factored_matrix.js';
export * from './analysis/gradients.js';
export { type HeadKind, type HeadScores, headScores } from './analysis/head_scores.js';
export { toJSON } from './analysis/json.js';
export type { LayerHook } from './analysis/layer_hooks.js';
export { LensWeights } from './analysis/lens_weights.js';
export {
  type LogitAttribution,
  type LogitAttributionOptions,
  logitAttribution,
} from './analysis/logit_attribution.js';
export { type LogitLensOptions, logitLens } from './analysis/logit_lens.js';
export * from './analysis/mean_activations.js';
export { logitDifference, type Metric, type MetricReads, type TensorMetric } from './analysis/metric.js';
export { toNpy } from './analysis/npy.js';
export {
  type ActivationPatching,
  type PatchActivationsOptions,
  patchActivations,
} from './analysis/patch_activations.js';
export type { Positions } from './analysis/positions.js';
export {
  accumulated_resid,
  decompose_resid,
  logit_attrs,
  type ResidualStack,
  type ResidualStackOptions,
  stack_head_results,
} from './analysis/residual_stack.js';
export { type Acdc, type AcdcOptions, acdc } from './analysis/sweep/acdc.js';
export type { CircuitEdge } from './analysis/sweep/circuit_graph.js';
export {
  type DirectPathOptions,
  get_act_patch_direct_path,
  get_act_patch_direct_path_all_sources,
} from './analysis/sweep/direct_paths.js';
export type { Intervention, Interventions } from './analysis/sweep/intervention.js';
export { type CausalTracing, type CausalTracingOptions, causalTracing } from './analysis/sweep/noise_tracing.js';
export {
  get_act_patch_attn_head_all_pos_every,
  get_act_patch_attn_head_by_pos_every,
  get_act_patch_attn_head_k_all_pos,
  get_act_patch_attn_head_k_by_pos,
  get_act_patch_attn_head_out_all_pos,
  get_act_patch_attn_head_out_by_pos,
  get_act_patch_attn_head_pattern_all_pos,
  get_act_patch_attn_head_pattern_by_pos,
  get_act_patch_attn_head_pattern_dest_src_pos,
  get_act_patch_attn_head_q_all_pos,
  get_act_patch_attn_head_q_by_pos,
  get_act_patch_attn_head_v_all_pos,
  get_act_patch_attn_head_v_by_pos,
  get_act_patch_attn_out,
  get_act_patch_block_every,
  get_act_patch_mlp_out,
  get_act_patch_resid_mid,
  get_act_patch_resid_post,
  get_act_patch_resid_pre,
  type PatchingGrid,
  type PatchingGridOptions,
} from './analysis/sweep/patching_grids.js';
export {
  type PathPatching,
  type PathPatchingOptions,
  type PathReceiver,
  pathPatching,
} from './analysis/sweep/path_patching.js';
export {
  type Sweep,
  type SweepCallOptions,
  type SweepModels,
  type SweepOptions,
  type SweepProgress,
  type SweepResult,
  sweep,
  sweep_stream,
} from './analysis/sweep/sweep.js';
export { type ToTokensOptions, to_str_tokens, to_tokens } from './analysis/to_tokens.js';
export type { TokenChoice } from './analysis/token_directions.js';
export * from './audio/ast_feature_extractor.js';
export { type AudioInput, read_audio, read_audio as load_audio } from './audio/audio_input.js';
export { AutoFeatureExtractor, type FeatureExtractor } from './audio/auto_feature_extractor.js';
export { type FeatureExtractorOutput, WhisperFeatureExtractor } from './audio/feature_extractor.js';
export type { FeatureExtractorCallOptions, FeatureExtractorLoadOptions } from './audio/feature_extractor_call.js';
export type { ASTFeatures, Wav2Vec2Features, WhisperFeatures } from './audio/feature_extractor_config.js';
export { resample_audio } from './audio/sample_rate.js';
export { Wav2Vec2FeatureExtractor, type Wav2Vec2FeatureExtractorOutput } from './audio/wav2vec2_feature_extractor.js';
export { AutoConfig, type PretrainedConfig } from './checkpoint/auto_config.js';
export {
  type CacheClearOptions,
  type CacheListOptions,
  clearCache,
  listCache,
} from './checkpoint/cached_models.js';
export type { Integrity } from './checkpoint/files.js';
export type { ProgressCallback, ProgressInfo } from './checkpoint/progress.js';
export type { CacheLike } from './checkpoint/response_store.js';
export type { Source, SourceOptions } from './checkpoint/source.js';
export type { CachedFile, CachedModel } from './checkpoint/store.js';
export type { CacheOption } from './checkpoint/web_folder.js';
export type { ImageSize } from './image/geometry.js';
export type { ImageInput } from './image/image_input.js';
export {
  AutoImageProcessor,
  ImageProcessor,
  type ImageProcessorCallOptions,
  type ImageProcessorLoadOptions,
  type ImageProcessorOutput,
} from './image/image_processor.js';
export type { ImageProcessorOptions } from './image/image_processor_config.js';
export type { ImagePixels } from './image/pixels.js';
export { type ChannelOrder, load_image, RawImage, type Resample } from './image/raw_image.js';
export { inspect } from './inspection/inspect.js';
export type {
  CacheBytes,
  Inspection,
  InspectOptions,
  Problem,
  StoredTensor,
  TokenizerFiles,
} from './inspection/inspection.js';
export type { LoraConfig } from './models/adapter_config.js';
export type { LoadAdapterOptions, MergeOptions, SetAdapterOptions } from './models/adapters.js';
export {
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
  type LoadOptions,
} from './models/auto_models.js';
export { copyCache, type KeyValueCachePart } from './models/cache_copy.js';
export type { ActivationAxis, CapturePart } from './models/capture_parts.js';
export { capturedIndices } from './models/captured_indices.js';
export type { ActivationEdit, EditIndices, EditOp, EditSelection, ForwardHook } from './models/edits.js';
export type { NewModelOptions } from './models/fresh/from_config.js';
export {
  EosTokenCriteria,
  InterruptableStoppingCriteria,
  LogitsProcessor,
  LogitsProcessorList,
  LogitsWarper,
  MaxLengthCriteria,
  type ScoresProcessor,
  StoppingCriteria,
  StoppingCriteriaList,
  type StoppingCriterion,
} from './models/generation_functions.js';
export type { GenerateOptions, GenerateStreamOptions, GenerationOptions } from './models/generation_options.js';
export type { GenerateOutput, GenerationStep, StepTensors } from './models/generation_output.js';
export type { GenerateInputs, GenerativeModel } from './models/generative_model.js';
export type { ComputedTerm, EmbeddingMetric, EmbeddingTerm } from './models/gradient_metric.js';
export type {
  HookConstants,
  HookContext,
  HookFunction,
  HookMath,
  HookModule,
} from './models/hook_functions.js';
export type { NameFilter, NamesFilter } from './models/hooks.js';
export type { LabelInput, ModelInputs, PromptInputs } from './models/inputs.js';
export { KeyValueCache as DynamicCache, type KeyValueCache, type KeyValueCacheInfo } from './models/key_value_cache.js';
export type { ModelInfo } from './models/model_info.js';
export * from './models/named_classifiers.js';
export * from './models/named_decoders.js';
export * from './models/named_encoders.js';
export * from './models/named_speech.js';
export * from './models/named_vision.js';
export type { AddAdapterOptions } from './models/new_adapter.js';
export type { EditOptions, StopOptions } from './models/observation.js';
export {
  AdamW,
  type AdamWOptions,
  clip_grad_norm_,
  type LossOptions,
  Optimizer,
  type OptimizerOptions,
  SGD,
  type SGDOptions,
  type TrainingInputs,
} from './models/optimizer.js';
export type { CausalLMOutput, ModelOutput, TowerOutput } from './models/outputs.js';
export type { ParameterEdit, ParameterOptions, ParameterPart } from './models/parameters.js';
export type { ForwardOptions, RunWithCacheOptions, RunWithHooksOptions } from './models/pass_options.js';
export type { Pooling, PoolingMode } from './models/pooling.js';
export type { PreTrainedModel } from './models/pre_trained_model.js';
export type { Destination, SavedFiles, SaveOptions } from './models/saving.js';
export type { AudioClassificationOptions, AudioClassificationPipeline } from './pipelines/audio_classification.js';
export { AutoProcessor, Processor, type ProcessorLoadOptions } from './pipelines/auto_processor.js';
export type {
  AutomaticSpeechRecognitionPipeline,
  RecognizedSpeech,
  SpeechRecognitionOptions,
  TimedSpeech,
} from './pipelines/automatic_speech_recognition.js';
export type { ChatOptions } from './pipelines/chat_inputs.js';
export type { AggregationStrategy, EntityGroup, TokenEntity } from './pipelines/entities.js';
export type {
  EmbeddingBackwardOptions,
  FeatureExtractionOptions,
  FeatureExtractionPipeline,
} from './pipelines/feature_extraction.js';
export type { FilledMask, FillMaskOptions, FillMaskPipeline } from './pipelines/fill_mask.js';
export type { GenerationCallOptions } from './pipelines/generation_call.js';
export type { ImageClassificationOptions, ImageClassificationPipeline } from './pipelines/image_classification.js';
export type {
  ImageFeatureExtractionOptions,
  ImageFeatureExtractionPipeline,
} from './pipelines/image_feature_extraction.js';
export {
  type PipelineOf,
  type Pipelines,
  type PipelineTask,
  pipeline,
  type TaskAliases,
} from './pipelines/pipeline.js';
export type { Answer, QuestionAnsweringOptions, QuestionAnsweringPipeline } from './pipelines/question_answering.js';
export type { ClassificationOptions, LabelScore, ScoreFunction } from './pipelines/scores.js';
export type {
  SentencePairs,
  SentenceSimilarityOptions,
  SentenceSimilarityPipeline,
} from './pipelines/sentence_similarity.js';
export type { SpeechChunk } from './pipelines/spoken_text.js';
export type { Summarization, SummarizationPipeline } from './pipelines/summarization.js';
export type {
  ClassifiedText,
  TextClassificationOptions,
  TextClassificationPipeline,
} from './pipelines/text_classification.js';
export type {
  Chat,
  GeneratedChat,
  GeneratedText,
  TextGenerationOptions,
  TextGenerationPipeline,
} from './pipelines/text_generation.js';
export type { RankedText, TextRankingOptions, TextRankingPipeline } from './pipelines/text_ranking.js';
export type { TextToTextOptions } from './pipelines/text_to_text.js';
export type { Text2TextGeneration, Text2TextGenerationPipeline } from './pipelines/text2text_generation.js';
export type { CallOptions, TextCallOptions } from './pipelines/texts.js';
export type { TokenClassificationOptions, TokenClassificationPipeline } from './pipelines/token_classification.js';
export type { Translation, TranslationOptions, TranslationPipeline } from './pipelines/translation.js';
export { validate } from './pipelines/validate.js';
export type {
  ZeroShotClassification,
  ZeroShotClassificationOptions,
  ZeroShotClassificationPipeline,
} from './pipelines/zero_shot_classification.js';
export type {
  ZeroShotImageClassificationOptions,
  ZeroShotImageClassificationPipeline,
} from './pipelines/zero_shot_image_classification.js';
export {
  type AdditiveOptions,
  type AdditiveScore,
  type AttentionPoolingBackwardOptions,
  type AttentionPoolingGradients,
  type AttentionPoolingOptions,
  additive_attention,
  attention_pooling,
  attention_pooling_backward,
  type Pooled,
  type PoolingOptions,
  type ScaledDotProductOptions,
  type ScoreStage,
  type ScoringFunction,
  scaled_dot_product_attention,
  type WantedScores,
} from './primitives/attention.js';
export { complexity, type LayerKind, type LayerSize } from './primitives/complexity.js';
/**
 * The teaching blocks of d2l.ai, with its names and order of arguments; `valid_lens` is the number of unmasked keys.
 */
export * as d2l from './primitives/d2l.js';
export {
  bmm,
  type Conv1dOptions,
  conv1d,
  erf,
  type GeluOptions,
  geglu,
  gelu,
  glu,
  type LayerNormOptions,
  layer_norm,
  log_softmax,
  type MaskedSoftmaxOptions,
  masked_softmax,
  matmul,
  quick_gelu,
  type RMSNormOptions,
  reglu,
  relu,
  relu2,
  rms_norm,
  type SoftplusOptions,
  sigmoid,
  silu,
  softmax,
  softplus,
  svd,
  swiglu,
  tanh,
} from './primitives/functional.js';
export { Mask } from './primitives/mask.js';
/** The layers of torch.nn: same options, arguments and state_dict keys; batch first, no dropout. */
export * as nn from './primitives/nn.js';
export {
  type Grid,
  interpolate_positions,
  type PatchEmbeddingOptions,
  patch_embedding,
  prepend_tokens,
} from './primitives/patches.js';
export {
  alibi_bias,
  alibi_slopes,
  distinct_encodings,
  learned_encoding,
  type RelativeBuckets,
  type RelativeSpan,
  type RotaryEmbeddingOptions,
  type RotaryOptions,
  relative_position_bias,
  relative_position_bucket,
  rotary,
  rotary_embedding,
  type SinusoidOptions,
  shift_matrix,
  sinusoidal_encoding,
} from './primitives/positions.js';
export type {
  CacheType,
  EmptyRow,
  HookPoint,
  MemoryUse,
  ModelKind,
  ModelShape,
  ParameterInfo,
  PipelineName,
  WeightProcessing,
  WeightType,
} from './runtime/border.js';
export type { Variant } from './runtime/build_info.js';
export type { Complexity } from './runtime/complexity.js';
export type { HookName, TransformerLens3Name } from './runtime/hook_names.js';
export type { EngineOptions } from './runtime/start_engine.js';
export type { RuntimeOptions } from './runtime/wasm.js';
export type { ClearformerWarning, WarningCode } from './support/config.js';
export { env } from './support/env.js';
export type { ActivationCache, ModuleCache } from './tensor/activation_cache.js';
export { type InterpolateOptions, type InterpolationMode, interpolate, interpolate_4d } from './tensor/interpolate.js';
export {
  cat,
  cos_sim,
  dot,
  full,
  mean,
  mean_pooling,
  ones,
  ones_like,
  permute,
  stack,
  std_mean,
  topk,
  zeros,
  zeros_like,
} from './tensor/operations.js';
export { toSafetensors } from './tensor/safetensors.js';
export type { NestedInput, TensorInput } from './tensor/tensor_input.js';
export * from './text/exports.js';
