// What all pipelines have in common: they are functions over a model of their own, and give its memory back.

import type { ModelOutput } from '../models/outputs.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import { Callable } from '../support/callable.js';
import { ClearformerError } from '../support/error.js';
import { asyncDisposeSymbol, disposeSymbol } from '../support/resource.js';
import type { Tensor } from '../tensor/tensor.js';

/** A model that gives a score for every class or token. */
export type LogitsModel = PreTrainedModel<ModelOutput & { logits: Tensor<'float32'> }>;

/** A task, the model that does it, and what stands before the model. Call it, then `dispose()` of it. */
export abstract class Pipeline<
  Arguments extends readonly unknown[],
  Result,
  Model extends PreTrainedModel,
> extends Callable<Arguments, Promise<Result>> {
  /** The task, as upstream spells it. */
  readonly task: string;
  readonly model: Model;

  /** @internal */
  constructor(task: string, model: Model) {
    super();
    this.task = task;
    this.model = model;
  }

  /** Gives all memory back; calls that are under way reject with `disposed`. */
  dispose(): Promise<void> {
    return this.model.dispose();
  }
  /** For `using`: disposes without waiting for it. */
  [disposeSymbol](): void {
    void this.dispose();
  }
  /** For `await using`: the same as dispose(). */
  [asyncDisposeSymbol](): Promise<void> {
    return this.dispose();
  }
}

/** A member of a model's output that this task cannot do without. */
export function needed<T>(value: T | undefined, call: string, name: string): T {
  if (value !== undefined) return value;
  throw new ClearformerError('unsupported', `${call}: this model gives no ${name}`);
}
