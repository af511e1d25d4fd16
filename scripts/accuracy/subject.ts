// A trained checkpoint, its inputs, and the accuracy and memory of each setting.

import type { LoadOptions, ModelInfo, Source } from 'clearformer';
import { type Comparison, compare, type Observation } from './compare.js';
import { type SettingName, settings } from './settings.js';

/** One setting of one checkpoint, compared with fp32. */
export interface Measured extends Comparison {
  dtype: 'fp32' | SettingName;
  /** Of the weights. */
  bytes: number;
}

interface Model {
  info(): ModelInfo;
  dispose(): Promise<void>;
}

export interface Subject<M extends Model, Prepared> {
  folder(project: string): string;
  load(source: Source, options: LoadOptions): Promise<M>;
  /** Settings that change nothing: no matrix is large, or there is no key/value cache. */
  without?: readonly SettingName[];
  /** Makes the inputs, with the fp32 model. */
  prepare(project: string, model: M, extent: Extent): Promise<Prepared>;
  /** The model's outputs for the inputs. */
  observe(model: M, prepared: Prepared): Promise<Observation>;
  /** Tokens of greedy generations, for a generative model. */
  write?(model: M, prepared: Prepared): Promise<readonly (readonly number[])[]>;
}

/**
 * `whole`: the full table of web/examples/dtypes.md; `bars`: what the tests' thresholds need, without greedy
 * generations.
 */
export type Extent = 'whole' | 'bars';

/** The settings to compare with fp32, and those whose memory only is reported. */
export interface Asked {
  compared: readonly SettingName[];
  weighed?: readonly SettingName[];
  extent: Extent;
}

/** Resolves to a row for fp32 and one for every requested setting. */
export type Measure = (project: string, asked: Asked, options?: LoadOptions) => Promise<Measured[]>;

export function measureOf<M extends Model, Prepared>(subject: Subject<M, Prepared>): Measure {
  const seen = async (model: M, prepared: Prepared, extent: Extent): Promise<Observation> => {
    const written = extent === 'whole' ? await subject.write?.(model, prepared) : undefined;
    return { ...(await subject.observe(model, prepared)), ...(written !== undefined && { written }) };
  };
  return async (project, { compared, weighed = [], extent }, options = {}) => {
    const folder = subject.folder(project);
    const exact = await subject.load(folder, options);
    const prepared = await subject.prepare(project, exact, extent);
    const reference = await seen(exact, prepared, extent);
    const bytesOf = (model: M): number => model.info().memory.weights;
    const results: Measured[] = [{ dtype: 'fp32', bytes: bytesOf(exact), ...compare(reference, reference) }];
    await exact.dispose();
    for (const dtype of [...compared, ...weighed]) {
      if (subject.without?.includes(dtype)) continue;
      const { source = (path: string): Source => path, options: own } = settings[dtype];
      const model = await subject.load(source(folder), { ...options, ...own });
      const found = compared.includes(dtype) ? compare(reference, await seen(model, prepared, extent)) : {};
      results.push({ dtype, bytes: bytesOf(model), ...found });
      await model.dispose();
    }
    return results;
  };
}
