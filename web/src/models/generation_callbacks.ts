// Calls the caller's callbacks with all sequences so far, which only they need.

import type { StepValue } from '../runtime/border.js';
import { ClearformerError, textOf } from '../support/error.js';
import { Tensor } from '../tensor/tensor.js';
import type { GenerationRequest } from './generation_options.js';
import { answersOf } from './plain_values.js';

/** The sequences of a generation with callbacks. */
export class Callbacks {
  #rows: bigint[][];
  readonly #request: GenerationRequest;

  constructor(prompt: readonly (readonly number[])[], request: GenerationRequest) {
    this.#rows = prompt.map((row) => row.map(BigInt));
    this.#request = request;
  }

  /** The rows that end after the tokens of a step. */
  async ended({ token_ids, beam_indices }: StepValue): Promise<number[]> {
    this.#branch(token_ids.data.length);
    const rows = this.#rows;
    const parent = (row: number) => rows[beam_indices?.data[row] ?? row] as bigint[];
    this.#rows = Array.from(token_ids.data, (id, row) => [...parent(row), BigInt(id)]);
    const found = new Set<number>();
    for (const criterion of this.#request.criteria) {
      const answer = answersOf(this.#request.call, await criterion(this.#copy()), this.#rows.length);
      for (const row of this.#rows.keys()) if (answer[row]) found.add(row);
    }
    return [...found];
  }

  /** The scores [row, vocabulary] after the callers' processors. */
  async processed(scores: Tensor<'float32'>): Promise<Tensor<'float32'>> {
    this.#branch(scores.dims[0] as number);
    let held = scores;
    for (const processor of this.#request.processors) {
      const given = (await processor(this.#copy(), held)) ?? held;
      if (!(given instanceof Tensor) || given.type !== 'float32' || String(given.dims) !== String(scores.dims)) {
        const what = given instanceof Tensor ? `${given.type} [${given.dims}]` : textOf(given);
        const message = `${this.#request.call}: logits_processor must give float32 [${scores.dims}], it gave ${what}`;
        throw new ClearformerError('invalid_argument', message, { option: 'logits_processor' });
      }
      held = given;
    }
    return held;
  }

  /** After the prompt has been processed once, each row is repeated for its sequences. */
  #branch(count: number): void {
    const share = count / this.#rows.length;
    if (share > 1) this.#rows = this.#rows.flatMap((row) => Array.from({ length: share }, () => row));
  }

  #copy(): bigint[][] {
    return this.#rows.map((row) => [...row]);
  }
}
