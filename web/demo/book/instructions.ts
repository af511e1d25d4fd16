// The instructions that the core was compiled for, as readers are told them.

import type { ModelInfo } from 'clearformer';

export const instructionsOf = ({ relaxed }: Pick<ModelInfo, 'relaxed'>): string => (relaxed ? 'relaxed SIMD' : 'SIMD');
