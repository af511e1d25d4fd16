// The steps of tokenizer.json: objects with a `type`, and what that type needs. Everything else is refused by name.

import { ClearformerError } from '../support/error.js';

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

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asStep(value: unknown, kind: string): Step {
  if (isObject(value) && typeof value.type === 'string') return { ...value, type: value.type };
  throw malformed(`a ${kind} has no type`);
}

/** The steps of a Sequence. */
export function stepsOf(step: Step, key: string): Step[] {
  const list = step[key];
  if (!Array.isArray(list)) throw malformed(`${step.type}: ${key} must be a list`);
  return list.map((each) => asStep(each, key.slice(0, -1)));
}

export function textOf(step: Step, key: string, usual?: string): string {
  const value = step[key] ?? usual;
  if (typeof value === 'string') return value;
  throw malformed(`${step.type}: ${key} must be a text`);
}

/** One character. */
export function characterOf(step: Step, key: string, usual?: string): string {
  const text = textOf(step, key, usual);
  if (Array.from(text).length === 1) return text;
  throw malformed(`${step.type}: ${key} must be one character`);
}

export function flagOf(step: Step, key: string, usual?: boolean): boolean {
  const value = step[key] ?? usual;
  if (typeof value === 'boolean') return value;
  throw malformed(`${step.type}: ${key} must be true or false`);
}

/** A whole number from `least` up. */
export function countOf(step: Step, key: string, least: number, usual?: number): number {
  const value = step[key] ?? usual;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value;
  throw malformed(`${step.type}: ${key} must be a whole number from ${least} up`);
}
