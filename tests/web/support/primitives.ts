// Common to tests of functions and modules: fixture cases as Tensors and masks, and bounds on rounding errors.

import { Mask, Tensor } from 'clearformer';
import { expect } from 'vitest';
import {
  type Case,
  casesOf,
  distance,
  fixturePath,
  type Reference,
  randomGroup,
  readReferences,
} from './references.js';

/** A case of a fixture with its tensors. */
export class Example {
  readonly name: string;
  readonly op: string;
  readonly options: Record<string, unknown>;
  readonly #case: Case;
  readonly #tensors: Map<string, Reference>;

  constructor(one: Case, tensors: Map<string, Reference>) {
    this.#case = one;
    this.#tensors = tensors;
    this.name = one.name;
    this.op = one.op;
    this.options = one.options;
  }

  has(name: string): boolean {
    return name in this.#case.inputs || name in this.#case.outputs;
  }

  /** The names of its inputs and outputs. */
  get inputs(): string[] {
    return Object.keys(this.#case.inputs);
  }
  get outputs(): string[] {
    return Object.keys(this.#case.outputs);
  }

  /** Another property of the case. */
  property(name: string): unknown {
    return this.#case[name];
  }

  /** An input or an output. */
  tensor(name: string): Tensor {
    const found = this.#tensors.get(this.#case.inputs[name] ?? this.#case.outputs[name] ?? '');
    if (found === undefined) throw new Error(`${this.name} has no ${name}`);
    return tensorOf(found);
  }

  /** The tensors with the case's prefix, followed by `below`. */
  stateDict(below = ''): Record<string, Tensor> {
    const prefix = `${String(this.#case.weights)}${below}`;
    const own = [...this.#tensors].filter(([key]) => key.startsWith(prefix));
    return Object.fromEntries(own.map(([key, found]) => [key.slice(prefix.length), tensorOf(found)]));
  }

  /** The mask in the inputs `name_boolean` and `name_additive`; `truth` is the meaning of a boolean 1. */
  mask(name: string, truth: 'allow' | 'ignore'): Mask | undefined {
    const parts: Mask[] = [];
    if (this.has(`${name}_boolean`)) parts.push(Mask[truth](this.tensor(`${name}_boolean`)));
    if (this.has(`${name}_additive`)) parts.push(Mask.additive(this.tensor(`${name}_additive`)));
    return parts.reduce<Mask | undefined>((all, part) => all?.and(part) ?? part, undefined);
  }
}

function tensorOf({ data, dims }: Reference): Tensor {
  return data instanceof Float32Array ? new Tensor('float32', data, dims) : new Tensor('int64', data, dims);
}

/** Random cases of modules, or the folder of others that tests/references/modules_random.py wrote. */
export const drawnModules = randomGroup('modules_random', 'CLEARFORMER_MODULE_CASES');

/** All cases of a folder of fixtures, or those of one op; throws if there are none. */
export function examplesOf(folder: string, op?: string): Example[] {
  const files = new Map<string, Map<string, Reference>>();
  const read = (file: string) => {
    const known = files.get(file) ?? readReferences(fixturePath(`${folder}/${file}`));
    files.set(file, known);
    return known;
  };
  const cases = casesOf(folder).filter((one) => op === undefined || one.op === op);
  if (cases.length === 0) throw new Error(`${folder} has no cases of ${op ?? 'any operation'}`);
  return cases.map((one) => new Example(one, one.file === undefined ? new Map() : read(one.file)));
}

/** Unit roundoff of float32: a rounded result is within this fraction of the exact one. */
const roundoff = 2 ** -24;
const smallestNormal = 2 ** -126;

/**
 * γ(n) = n·u / (1 - n·u): n successive roundings change a result by at most this fraction.
 * Source: Higham, Accuracy and Stability of Numerical Algorithms, lemma 3.1.
 */
export function gamma(roundings: number): number {
  return (roundings * roundoff) / (1 - roundings * roundoff);
}

/** The error bound of an element: absolute + relative · |wanted|. */
export interface Bound {
  absolute?: number | ((index: number) => number);
  relative?: number;
}

/** The largest finite magnitude. */
export function largest(...tensors: Tensor[]): number {
  let most = 0;
  for (const { data } of tensors) {
    for (const value of data)
      if (Math.abs(Number(value)) < Number.POSITIVE_INFINITY) most = Math.max(most, Math.abs(Number(value)));
  }
  return most;
}

/**
 * Checks dims, and that every element is within the bound (infinities equal); reports the worst. The reference is
 * rounded once.
 */
export function expectWithin(name: string, found: Tensor, wanted: Tensor, { absolute = 0, relative = 0 }: Bound): void {
  expect([name, ...found.dims]).toEqual([name, ...wanted.dims]);
  let worst = { index: -1, ratio: 0 };
  wanted.data.forEach((value: number | bigint, index: number) => {
    const exact = Number(value);
    const got = Number(found.data[index]);
    const error = distance(got, exact);
    const fixed = typeof absolute === 'number' ? absolute : absolute(index);
    const bound = fixed + (relative + roundoff) * Math.abs(exact) + smallestNormal;
    const ratio = Number.isFinite(error) ? error / bound : error; // of an infinite bound, too
    if (ratio > worst.ratio) worst = { index, ratio };
  });
  const { index, ratio } = worst;
  report(name, ratio);
  const sentence = `${name}[${index}] is ${found.data[index]}, wanted ${wanted.data[index]}: ${ratio} times the bound`;
  expect(ratio <= 1, sentence).toBe(true);
}

const worstByGroup = new Map<string, number>();

/** With BOUNDS in the environment: reports the worst ratio of error to bound for each group (a name's first word). */
function report(name: string, ratio: number): void {
  const group = name.split(' ')[0] as string;
  if (process.env.BOUNDS === undefined || ratio <= (worstByGroup.get(group) ?? 0)) return;
  worstByGroup.set(group, ratio);
  console.log(`${group}: ${ratio.toFixed(3)} of the bound (${name})`);
}
