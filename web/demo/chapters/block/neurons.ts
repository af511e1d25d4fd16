// The feed-forward network at one token: each neuron's pre-activation and activation, and the curves.

import { gelu, relu, silu, Tensor } from 'clearformer';
import type { Book } from '../../book/book.js';
import { activation } from '../../book/shelf.js';
import type { Reading } from './reading.js';

type Row = Tensor<'float32'>;
export const curves = ['relu', 'gelu', 'silu'] as const;
export type Curve = (typeof curves)[number];

export const curveNames: Readonly<Record<Curve, string>> = { relu: 'ReLU', gelu: 'GELU', silu: 'SiLU' };
/** A gated network's name, by its activation. */
export const gateNames: Readonly<Record<Curve, string>> = { relu: 'ReGLU', gelu: 'GEGLU', silu: 'SwiGLU' };

const functions: Readonly<Record<Curve, (x: Row) => Promise<Row>>> = {
  relu: (x) => relu(x),
  gelu: (x) => gelu(x),
  silu: (x) => silu(x),
};

export interface Neurons {
  /** Each neuron's pre-activation and activation, [neuron]. */
  readonly pre: Row;
  readonly post: Row;
  /** The linear branch that the gate is multiplied with, in a gated network. */
  readonly linear: Row | undefined;
  /** The chosen activation function of `pre`. */
  readonly bent: Row;
  readonly curve: Curve;
  /** The model's activation function. */
  readonly own: Curve;
  /** Sampled points of each curve, all at the same x, [point]. */
  readonly xs: Row;
  readonly ys: Readonly<Record<Curve, Row>>;
}

/** The curve of an activation's name in a config. */
const curveOf = (name: string): Curve => (name.includes('gelu') ? 'gelu' : name.includes('relu') ? 'relu' : 'silu');

export async function neurons(book: Book, reading: Reading, chosen: string): Promise<Neurons> {
  const { stack, layer, focus, given, specs, shape, hooks } = reading;
  const at = (leaf: string): string => `${stack}.${layer}.mlp.${leaf}`;
  const gated = hooks.has(at('hook_pre_linear'));
  const names = ['hook_pre', 'hook_post', ...(gated ? ['hook_pre_linear'] : [])].map(at);
  const edits = await book.edits(given, specs);
  const pass = await book.shelf.pass(given, { names, edits });
  const row = (leaf: string): Row => activation(pass, at(leaf)).slice(0, focus);
  const own = curveOf(shape.activation);
  const curve = curves.find((one) => one === chosen) ?? own;
  const pre = row('hook_pre');
  const reach = Math.max(3, Math.ceil(pre.data.reduce((most, x) => Math.max(most, Math.abs(x)), 0)));
  const count = 161;
  const xs = new Tensor(
    'float32',
    Float32Array.from({ length: count }, (_, i) => reach * ((2 * i) / (count - 1) - 1)),
    [count],
  );
  const [a, b, c] = await Promise.all(curves.map((one) => functions[one](xs)));
  return {
    ...{ pre, post: row('hook_post'), linear: gated ? row('hook_pre_linear') : undefined },
    ...{ bent: await functions[curve](pre), curve, own, xs },
    ys: { relu: a ?? xs, gelu: b ?? xs, silu: c ?? xs },
  };
}
