// Exports of gradients, and of what is made of them.

export type { BackwardOptions, DifferentiatedCache, Gradients } from '../models/gradient.js';
export type {
  ComputedMetric,
  DifferentiableMetric,
  GradientInput,
  LogitTerm,
  LossTerm,
  MetricFunction,
  MetricTerm,
  ReadOutTerm,
  WithRespectTo,
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
