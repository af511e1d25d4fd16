// The WASM builds supported by this engine: numerical tests run once for each.

import { canRun } from '../../../web/src/runtime/wasm.js';

export const variants = (['simd128', 'relaxed'] as const).filter(canRun);

/** Load options that choose a build. */
export const optionsFor = (variant: 'simd128' | 'relaxed') => ({ deterministic: variant === 'simd128' });
