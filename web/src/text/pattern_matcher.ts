// Regular expression matching in time linear in the text for every pattern: backtracking in JavaScript's order with
// memoization, so that no state is tried twice at the same position after it has failed there. Source: Davis, Servant,
// Lee 2021, "Using Selective Memoization to Defeat Regular Expression Denial of Service".

import { ClearformerError } from '../support/error.js';
import type { CodePoints } from './code_points.js';
import type { Match, Pattern } from './pattern.js';
import type { PatternNode } from './pattern_syntax.js';
import { unsupported } from './step.js';

const mostStates = 20_000;
/**
 * Repeated lookarounds that succeed can still take longer: the number of steps is bounded, with a part per character.
 */
const steps = { always: 500_000, each: 200 };
const mostRemembered = 1_000_000;
const unmatchedInStep = 256; // positions without a match

type State =
  | { kind: 'accept' }
  | { kind: 'set'; holds: (code: number) => boolean; next: number }
  /** `first` is tried before `second`. */
  | { kind: 'split'; first: number; second: number }
  | { kind: 'atomic'; program: Program; next: number }
  | { kind: 'look'; program: Program; negated: boolean; next: number };

/** A pattern or the body of a group, matched forwards, or backwards for lookbehinds. */
interface Program {
  readonly states: readonly State[];
  readonly start: number;
  readonly backwards: boolean;
  /** A repeated body may match the empty string: then a state can only fail because it is already active. */
  readonly repeatsNothing: boolean;
}

/** A regular expression over code points. */
export class PatternMatcher implements Pattern {
  readonly #program: Program;
  readonly #source: string;

  constructor(source: string, tree: PatternNode) {
    this.#source = source;
    this.#program = new Compiler(source).program(tree, false);
  }

  *[Symbol.matchAll](text: string): Generator<Match | undefined> {
    const scan = new Scan(text, this.#source);
    for (let [index, last] = [0, -1]; index <= text.length; ) {
      const found = scan.run(this.#program, index);
      const end = found === index && found === last ? undefined : found; // as in the crate, a match is not followed by an empty one
      last = end ?? last;
      if (end !== undefined) yield { 0: text.slice(index, end), index };
      else if (index % unmatchedInStep === 0) yield;
      index = end !== undefined && end > index ? end : index + lengthAt(text, index);
    }
  }

  [Symbol.replace](text: string, content: (match: string) => string): string {
    let result = '';
    let last = 0;
    for (const match of this[Symbol.matchAll](text)) {
      if (match === undefined) continue;
      result += text.slice(last, match.index) + content(match[0]);
      last = match.index + match[0].length;
    }
    return result + text.slice(last);
  }
}

class Compiler {
  readonly #source: string;
  #count = 0;
  #states: State[] = [];
  #backwards = false;
  #repeatsNothing = false;

  constructor(source: string) {
    this.#source = source;
  }

  program(tree: PatternNode, backwards: boolean): Program {
    const outer = [this.#states, this.#backwards, this.#repeatsNothing] as const;
    [this.#states, this.#backwards, this.#repeatsNothing] = [[], backwards, false];
    const start = this.#before(tree, this.#add({ kind: 'accept' }));
    const made = { states: this.#states, start, backwards, repeatsNothing: this.#repeatsNothing };
    [this.#states, this.#backwards, this.#repeatsNothing] = outer;
    return made;
  }

  #add(state: State): number {
    if (++this.#count > mostStates)
      throw unsupported(`the pattern ${this.#source.slice(0, 100)} has more than ${mostStates} states`);
    return this.#states.push(state) - 1;
  }

  /** The state that matches `node` and continues with `next`. */
  #before(node: PatternNode, next: number): number {
    switch (node.kind) {
      case 'set':
        return this.#add({ kind: 'set', holds: memberOf(node.set), next });
      case 'sequence':
        return this.#backwards
          ? node.parts.reduce((after, part) => this.#before(part, after), next)
          : node.parts.reduceRight((after, part) => this.#before(part, after), next);
      case 'choice':
        return node.parts
          .map((part) => this.#before(part, next))
          .reduceRight((second, first) => this.#add({ kind: 'split', first, second }));
      case 'repeat':
        return this.#repeat(node, next);
      case 'atomic':
        return this.#add({ kind: 'atomic', program: this.program(node.body, this.#backwards), next });
      case 'look':
        return this.#add({
          kind: 'look',
          program: this.program(node.body, node.behind),
          negated: node.negated,
          next,
        });
    }
  }

  #repeat({ body, least, most, lazy }: PatternNode & { kind: 'repeat' }, next: number): number {
    let entry = next;
    const either = (again: number) => (lazy ? { first: next, second: again } : { first: again, second: next });
    if (most === Number.POSITIVE_INFINITY) {
      if (canBeEmpty(body)) this.#repeatsNothing = true;
      entry = this.#add({ kind: 'accept' }); // until its body exists
      this.#states[entry] = { kind: 'split', ...either(this.#before(body, entry)) };
    } else {
      for (let i = least; i < most; i++) entry = this.#add({ kind: 'split', ...either(this.#before(body, entry)) });
    }
    for (let i = 0; i < least; i++) entry = this.#before(body, entry);
    return entry;
  }
}

function canBeEmpty(node: PatternNode): boolean {
  if (node.kind === 'set') return false;
  if (node.kind === 'sequence') return node.parts.every(canBeEmpty);
  if (node.kind === 'choice') return node.parts.some(canBeEmpty);
  if (node.kind === 'repeat') return node.least === 0 || canBeEmpty(node.body);
  return node.kind === 'look' || canBeEmpty(node.body);
}

/** One match attempt on a text. */
class Scan {
  readonly #text: string;
  readonly #source: string;
  /** Per program, the states and positions that have failed or are active: a second try is useless in both cases. */
  readonly #tried = new Map<Program, Set<number>>();
  #stepsLeft: number;

  constructor(text: string, source: string) {
    this.#text = text;
    this.#source = source;
    this.#stepsLeft = steps.always + steps.each * text.length;
  }

  /** The end of a match that begins at `start` (backwards: the start of one that ends there). */
  run(program: Program, start: number): number | undefined {
    const { states, repeatsNothing } = program;
    let tried = this.#tried.get(program);
    if (tried === undefined || tried.size > mostRemembered) {
      tried = new Set();
      this.#tried.set(program, tried);
    }
    // The backtracking stack, as pairs of state and position. A negative entry ~state marks the state as active.
    const left = [program.start, start];
    while (left.length > 0) {
      let at = left.pop() ?? 0;
      let number: number | undefined = left.pop() ?? 0;
      while (number !== undefined && number >= 0) {
        this.#count();
        const state: State | undefined = states[number];
        if (state === undefined || state.kind === 'accept') {
          if (repeatsNothing) tried.clear();
          else this.#forget(program, tried, left);
          return at;
        }
        if (state.kind === 'split') {
          const key = this.#key(program, number, at);
          if (tried.has(key)) break;
          tried.add(key);
          left.push(~number, at, state.second, at);
          number = state.first;
        } else {
          const end = this.#pass(state, program, at);
          number = end === undefined ? undefined : state.next;
          at = end ?? at;
        }
      }
    }
    return undefined;
  }

  /** The position after a state other than a split, if it matches. */
  #pass(state: Exclude<State, { kind: 'accept' | 'split' }>, { backwards }: Program, at: number): number | undefined {
    const text = this.#text;
    if (state.kind === 'atomic') return this.run(state.program, at);
    if (state.kind === 'look') return (this.run(state.program, at) !== undefined) !== state.negated ? at : undefined;
    if (backwards) {
      const from = at - (at > 1 && (text.codePointAt(at - 2) ?? 0) > 0xffff ? 2 : 1);
      return from >= 0 && state.holds(text.codePointAt(from) ?? 0) ? from : undefined;
    }
    return at < text.length && state.holds(text.codePointAt(at) ?? 0) ? at + lengthAt(text, at) : undefined;
  }

  /** After a match: active states have not failed. */
  #forget(program: Program, tried: Set<number>, left: readonly number[]): void {
    for (let i = 0; i < left.length; i += 2) {
      const number = left[i] ?? 0;
      if (number < 0) tried.delete(this.#key(program, ~number, left[i + 1] ?? 0));
    }
  }

  #key({ states }: Program, number: number, at: number): number {
    return at * states.length + number;
  }

  #count(): void {
    if (--this.#stepsLeft >= 0) return;
    throw new ClearformerError(
      'unsupported',
      `tokenizer.json: the pattern ${this.#source.slice(0, 100)} takes too long for a text of ${this.#text.length} characters`,
      { file: 'tokenizer.json' },
    );
  }
}

/** UTF-16 code units of the character at a position; 1 at the end. */
function lengthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

function memberOf(set: CodePoints): (code: number) => boolean {
  const inRanges = (code: number) => {
    let [low, high] = [0, set.length]; // the number of edges at or before the code is odd within a range
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((set[middle] ?? 0) + (middle % 2) <= code) low = middle + 1;
      else high = middle;
    }
    return low % 2 === 1;
  };
  const ascii = Uint8Array.from({ length: 128 }, (_, code) => Number(inRanges(code)));
  return (code) => (code < 128 ? ascii[code] === 1 : inRanges(code));
}
