// A trained checkpoint, what it is asked, and what each dtype costs it in accuracy and saves in memory.

import type { LoadOptions, ModelInfo } from 'clearformer';
import { type Comparison, compare, type Observation } from './compare.js';

export type NarrowType = 'fp16' | 'q8' | 'q4';

/** One dtype of one checkpoint, against fp32. */
export interface Measured extends Comparison {
  dtype: 'fp32' | NarrowType;
  /** Of the weights. */
  bytes: number;
}

interface Model {
  info(): ModelInfo;
  dispose(): Promise<void>;
}

export interface Subject<M extends Model, Prepared> {
  load(project: string, options: LoadOptions): Promise<M>;
  /** Makes the inputs, with the fp32 model. */
  prepare(project: string, model: M): Promise<Prepared>;
  observe(model: M, prepared: Prepared): Promise<Observation>;
}

/** Resolves to a row for fp32 and one for every dtype that is asked for, compared with it. */
export type Measure = (project: string, dtypes: readonly NarrowType[], options?: LoadOptions) => Promise<Measured[]>;

export function measureOf<M extends Model, Prepared>({ load, prepare, observe }: Subject<M, Prepared>): Measure {
  return async (project, dtypes, options = {}) => {
    const exact = await load(project, options);
    const prepared = await prepare(project, exact);
    const reference = await observe(exact, prepared);
    const bytesOf = (model: M): number => model.info().memory.weights;
    const results: Measured[] = [{ dtype: 'fp32', bytes: bytesOf(exact), ...compare(reference, reference) }];
    await exact.dispose();
    for (const dtype of dtypes) {
      const model = await load(project, { ...options, dtype });
      results.push({ dtype, bytes: bytesOf(model), ...compare(reference, await observe(model, prepared)) });
      await model.dispose();
    }
    return results;
  };
}
