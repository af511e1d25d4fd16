// The steps of tokenizer.json: objects with a `type` and its parameters. Everything else is rejected by name.

import { isId, isText, isWhole, lastId, shownValue } from '../checkpoint/file_rules.js';
import { ClearformerError } from '../support/error.js';
import { isObject } from '../support/kinds.js';

/** One step of tokenizer.json. */
export type Step = { readonly type: string } & Readonly<Record<string, unknown>>;

export function malformed(why: string): ClearformerError {
  return new ClearformerError('malformed_config', `tokenizer.json: ${why}`, { file: 'tokenizer.json' });
}

export function unsupported(what: string): ClearformerError {
  return new ClearformerError('unsupported', `tokenizer.json: ${what}`, { file: 'tokenizer.json' });
}

export function unknownStep(kind: string, type: string): ClearformerError {
  return unsupported(`${kind} ${type} is not known`);
}

export function asStep(value: unknown, kind: string): Step {
  if (isObject(value) && typeof value.type === 'string') {
    // Types are keys of objects, which inherit 'constructor' and the like.
    if (value.type in Object.prototype) throw unknownStep(kind, value.type);
    return { ...value, type: value.type };
  }
  throw malformed(`a ${kind} has no type`);
}

/** The steps of a Sequence. */
export function stepsOf(step: Step, key: string): Step[] {
  const list = step[key];
  if (!Array.isArray(list)) throw mustBe(step, key, 'a list');
  return list.map((each) => asStep(each, key.slice(0, -1)));
}

/** The error for an invalid value of a step, which it names. */
export function mustBe(step: Step, key: string, rule: string): ClearformerError {
  return malformed(`${step.type}: ${key} must be ${rule}, and is ${shownValue(step[key])}`);
}

/** A parameter of a step, by default `usual`, that is of a kind. */
function parameterOf<T>(step: Step, key: string, usual: T | undefined, is: (value: T) => boolean, rule: string): T {
  const value = (step[key] ?? usual) as T;
  if (is(value)) return value;
  throw mustBe(step, key, rule);
}

export const textOf = (step: Step, key: string, usual?: string): string =>
  parameterOf(step, key, usual, isText, 'a text');

/** One character. */
export function characterOf(step: Step, key: string, usual?: string): string {
  const text = textOf(step, key, usual);
  if (Array.from(text).length === 1) return text;
  throw mustBe(step, key, 'one character');
}

export const flagOf = (step: Step, key: string, usual?: boolean): boolean =>
  parameterOf(step, key, usual, (value) => typeof value === 'boolean', 'true or false');

/** An integer >= `least`. */
export const countOf = (step: Step, key: string, least: number, usual?: number): number =>
  parameterOf(step, key, usual, (value) => isWhole(value, least), `a whole number from ${least} up`);

/** The id of a token, which `what` names. */
export function idOf(value: unknown, what: string): number {
  if (isId(value)) return value;
  throw malformed(`${what} must be a whole number from 0 to ${lastId}, and is ${shownValue(value)}`);
}

/** Returns a reader for the ids of a list's tokens, which must be unique. */
export function idReader(list: string): (value: unknown, token: string) => number {
  const tokens = new Map<number, string>();
  return (value, token) => {
    const name = JSON.stringify(token);
    const id = idOf(value, `the id of ${name} in ${list}`);
    const other = tokens.get(id) ?? token;
    if (other !== token) throw malformed(`${list}: ${JSON.stringify(other)} and ${name} have the id ${id}`);
    tokens.set(id, token);
    return id;
  };
}
