// What the package exports of directions in activations: probes and control vectors.

export {
  type ContrastPair,
  type ControlOptions,
  ControlVector,
  type ControlVectorOptions,
} from './directions/control_vector.js';
export type { ProbedInput, ProbeScore } from './directions/features.js';
export {
  LinearProbe,
  type LinearProbeOptions,
  type ProbeEditOptions,
} from './directions/linear_probe.js';
