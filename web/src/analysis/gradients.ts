// Exports of gradients, and of what is made of them.

export type {
  BackwardOptions,
  DifferentiatedCache,
  GradientInput,
  Gradients,
  WithRespectTo,
} from '../models/gradient.js';
export type {
  ComputedMetric,
  DifferentiableMetric,
  LogitTerm,
  LossTerm,
  MetricFunction,
  MetricTerm,
  ReadOutTerm,
} from '../models/gradient_metric.js';
export { logitDifferenceTerm } from '../models/gradient_metric.js';
export {
  type AttributionPatching,
  type AttributionPatchingOptions,
  attributionPatching,
} from './attribution_patching.js';
export {
  type AttributedEdge,
  type EdgeAttribution,
  type EdgeAttributionOptions,
  edgeAttribution,
} from './edge_attribution.js';
export { gradientRollout } from './gradient_rollout.js';
export {
  type IntegratedGradients,
  type IntegratedGradientsOptions,
  integratedGradients,
} from './integrated_gradients.js';
export { patchSaliency, type SaliencyOptions, tokenSaliency } from './token_saliency.js';
