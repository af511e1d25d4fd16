// Stopping criteria and logits processors, with transformers.js' names: callbacks that end sequences and change the
// scores that tokens are chosen from.

import { Callable } from '../support/callable.js';
import { ClearformerError } from '../support/error.js';
import { expectArgument } from '../support/options.js';
import type { Tensor } from '../tensor/tensor.js';
import { idList, type TokenIds } from '../text/token_lists.js';
import { answersOf } from './plain_values.js';

/** Returns whether each sequence (its ids so far, including the prompt) ends, or one answer for all. */
export type StoppingCriterion = (input_ids: bigint[][]) => Answer | Promise<Answer>;
type Answer = boolean | ArrayLike<boolean | number | bigint> | Tensor;

/**
 * Changes the scores [sequence, vocabulary] that the next tokens are chosen from: in place, row by row through
 * `scores[i].data`, or by returning others of the same dims.
 */
export type ScoresProcessor = (input_ids: bigint[][], scores: Tensor<'float32'>) => Changed | Promise<Changed>;
// biome-ignore lint/suspicious/noConfusingVoidType: a function that changes them in place gives nothing back
type Changed = Tensor<'float32'> | void;

function withoutCall(made: object): ClearformerError {
  return new ClearformerError('invalid_argument', `${made.constructor.name}: its class has no _call()`);
}

/** Base class of criteria: `_call` returns for each sequence whether it ends. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export abstract class StoppingCriteria extends Callable<[bigint[][], unknown?], Answer> {
  /** Returns for each sequence whether it ends. Of transformers' two arguments the scores are not given. */
  override _call(_input_ids: bigint[][], _scores?: unknown): Answer {
    throw withoutCall(this);
  }
}

/** Callable as a criterion. */
export interface StoppingCriteria {
  /** Returns for each sequence whether it ends. */
  // biome-ignore lint/style/useShorthandFunctionType: a type of this name would not merge with the class
  (input_ids: bigint[][]): Answer;
}

/** What a member of a list gave, which must be no promise. */
function atOnce<T>(list: string, given: T): T {
  if (typeof (given as PromiseLike<unknown> | undefined)?.then !== 'function') return given;
  void Promise.resolve(given).catch(() => {}); // a failure of it would be unhandled
  const cure = 'give async functions to generate() as an array';
  throw new ClearformerError('invalid_argument', `${list}: its members must answer at once: ${cure}`);
}

/** The members of a list, given as one or as several. Throws `invalid_argument` for what is no function. */
function membersIn<F>(list: string, given: F | Iterable<F>): F[] {
  const members = (given as Iterable<F> | undefined)?.[Symbol.iterator] ? [...(given as Iterable<F>)] : [given as F];
  for (const one of members) expectArgument(list, typeof one === 'function', 'functions', one);
  return members;
}

type SyncCriterion = (input_ids: bigint[][]) => Answer;

/** Several criteria combined: a sequence ends when any of them says so. */
export class StoppingCriteriaList extends StoppingCriteria {
  /** The criteria, in order. */
  readonly criteria: SyncCriterion[] = [];

  constructor(criteria: Iterable<SyncCriterion> = []) {
    super();
    this.extend(criteria);
  }
  /** Appends a criterion. */
  push(item: SyncCriterion): void {
    this.extend([item]);
  }
  /** Appends a criterion, an array of them or another list. */
  extend(items: SyncCriterion | Iterable<SyncCriterion>): void {
    this.criteria.push(...membersIn('StoppingCriteriaList', items));
  }
  /** @internal */
  override _call(input_ids: bigint[][]): readonly boolean[] {
    const list = 'StoppingCriteriaList';
    const answers = this.criteria.map((criterion) =>
      answersOf(list, atOnce(list, criterion(input_ids)), input_ids.length),
    );
    return input_ids.map((_, row) => answers.some((answer) => answer[row]));
  }
  /** The criteria, in order. */
  [Symbol.iterator](): Iterator<SyncCriterion> {
    return this.criteria.values();
  }
}

/** Ends a sequence at `max_length` tokens, including the prompt. */
export class MaxLengthCriteria extends StoppingCriteria {
  readonly max_length: number;

  constructor(max_length: number) {
    super();
    expectArgument('MaxLengthCriteria', typeof max_length === 'number' && max_length >= 0, 'a number', max_length);
    this.max_length = max_length;
  }
  /** @internal */
  override _call(input_ids: bigint[][]): readonly boolean[] {
    return input_ids.map((ids) => ids.length >= this.max_length);
  }
}

/** Ends a sequence after one of these tokens. */
export class EosTokenCriteria extends StoppingCriteria {
  readonly eos_token_id: readonly number[];

  constructor(eos_token_id: number | bigint | TokenIds) {
    super();
    this.eos_token_id = idList(eos_token_id, 'EosTokenCriteria');
  }
  /** @internal */
  override _call(input_ids: bigint[][]): readonly boolean[] {
    return input_ids.map((ids) => this.eos_token_id.includes(Number(ids.at(-1))));
  }
}

/** Ends all sequences with the next token after `interrupt()` was called. */
export class InterruptableStoppingCriteria extends StoppingCriteria {
  interrupted = false;

  /** Ends all sequences with the next token. */
  interrupt(): void {
    this.interrupted = true;
  }
  /** Allows another generation. */
  reset(): void {
    this.interrupted = false;
  }
  /** @internal */
  override _call(input_ids: bigint[][]): readonly boolean[] {
    return input_ids.map(() => this.interrupted);
  }
}

/** Base class of processors: `_call` changes scores. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export abstract class LogitsProcessor extends Callable<[bigint[][], Tensor<'float32'>], Tensor<'float32'>> {
  /** Returns the scores [sequence, vocabulary], changed. */
  override _call(_input_ids: bigint[][], _scores: Tensor<'float32'>): Tensor<'float32'> {
    throw withoutCall(this);
  }
}

/** Callable as a processor. */
export interface LogitsProcessor {
  /** Changes scores [sequence, vocabulary]. */
  // biome-ignore lint/style/useShorthandFunctionType: a type of this name would not merge with the class
  (input_ids: bigint[][], scores: Tensor<'float32'>): Tensor<'float32'>;
}

/** The same as a LogitsProcessor. */
export abstract class LogitsWarper extends LogitsProcessor {}

type SyncProcessor = (input_ids: bigint[][], scores: Tensor<'float32'>) => Changed;

/** Several processors, applied in order. */
export class LogitsProcessorList extends LogitsProcessor {
  /** The processors, in order. */
  readonly processors: SyncProcessor[] = [];

  constructor(processors: Iterable<SyncProcessor> = []) {
    super();
    this.extend(processors);
  }
  /** Appends a processor. */
  push(item: SyncProcessor): void {
    this.extend([item]);
  }
  /** Appends several. */
  extend(items: Iterable<SyncProcessor>): void {
    this.processors.push(...membersIn('LogitsProcessorList', items));
  }
  /** @internal */
  override _call(input_ids: bigint[][], scores: Tensor<'float32'>): Tensor<'float32'> {
    const changed = (processor: SyncProcessor, held: Tensor<'float32'>) =>
      atOnce('LogitsProcessorList', processor(input_ids, held)) ?? held;
    return this.processors.reduce((held, processor) => changed(processor, held), scores);
  }
  /** The processors, in order. */
  [Symbol.iterator](): Iterator<SyncProcessor> {
    return this.processors.values();
  }
}
