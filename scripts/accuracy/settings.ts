// What is compared with fp32: the formats of weights, those of the key/value cache, and llama.cpp's Q4_0 on the same
// matrices.

import type { LoadOptions, Source } from 'clearformer';
import { roundedToQ40 } from './q4_0.js';

export interface Setting {
  options: LoadOptions;
  /** The checkpoint with other weights. */
  source?: (folder: string) => Source;
}

export type SettingName = 'fp16' | 'q8' | 'q4' | 'Q4_0' | 'cache fp16' | 'cache q8';

export const settings: Readonly<Record<SettingName, Setting>> = {
  fp16: { options: { dtype: 'fp16' } },
  q8: { options: { dtype: 'q8' } },
  q4: { options: { dtype: 'q4' } },
  Q4_0: { options: {}, source: roundedToQ40 },
  'cache fp16': { options: { cache_dtype: 'fp16' } },
  'cache q8': { options: { cache_dtype: 'q8' } },
};
