// The base class of pipelines: callable objects that own a model.

import type { ModelOutput } from '../models/outputs.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import { Callable } from '../support/callable.js';
import { ClearformerError } from '../support/error.js';
import { asyncDisposeSymbol, disposeSymbol } from '../support/resource.js';
import type { Tensor } from '../tensor/tensor.js';

/** A model that returns logits for classes or tokens. */
export type LogitsModel = PreTrainedModel<ModelOutput & { logits: Tensor<'float32'> }>;

/** A task with its model and preprocessing. Call it, and release it with `dispose()`. */
export abstract class Pipeline<
  Arguments extends readonly unknown[],
  Result,
  Model extends PreTrainedModel,
> extends Callable<Arguments, Promise<Result>> {
  /** The task, by transformers' name; `embeddings` is this package's own. */
  readonly task: string;
  readonly model: Model;

  /** @internal */
  constructor(task: string, model: Model) {
    super();
    this.task = task;
    this.model = model;
  }

  /** Releases all memory; running calls reject with `disposed`. */
  dispose(): Promise<void> {
    return this.model.dispose();
  }
  /** For `using`: disposes without waiting. */
  [disposeSymbol](): void {
    void this.dispose();
  }
  /** For `await using`: the same as dispose(). */
  [asyncDisposeSymbol](): Promise<void> {
    return this.dispose();
  }
}

/** A member of a model's output that this task requires. */
export function needed<T>(value: T | undefined, call: string, name: string): T {
  if (value !== undefined) return value;
  throw new ClearformerError('unsupported', `${call}: this model gives no ${name}`);
}
