// The weights of a projection, measured on the running model: its input is replaced by each unit vector, and the output
// is that row of the weights (times a norm's own weight); the zero vector gives the bias.

import { type HookName, Tensor } from 'clearformer';
import { activation, type PassInputs, type Shelf, type Shelved } from '../../book/shelf.js';
import type { Float } from './head_numbers.js';
import type { HeadHooks } from './hooks.js';

/** [d_model + 1, d_head] for Q, K and V of one head; the last row is the bias. */
export type Projections = Readonly<Record<'Q' | 'K' | 'V', Float>>;

/** `count` rows of the identity starting at `from`, zero beyond its end. */
function units(from: number, count: number, width: number): Float {
  const rows = new Float32Array(count * width);
  for (let i = 0; i < count; i++) if (from + i < width) rows[i * width + from + i] = 1;
  return new Tensor('float32', rows, [count, width]);
}

export async function readProjections(shelf: Shelf, { name, model }: Shelved, hooks: HeadHooks): Promise<Projections> {
  const width = model.cfg.d_model;
  const room = model.cfg.n_ctx > 0 ? model.cfg.n_ctx : 512;
  const { Q, K, V } = hooks.plain;
  const parts: Projections[] = [];
  for (let from = 0; from <= width; from += room) {
    const count = Math.min(room, width + 1 - from);
    const inputs: PassInputs = {
      model: name,
      key: `units ${count}`,
      inputs: { input_ids: [new Array(count).fill(0)] },
    };
    const edits = [{ hook: hooks.input as HookName, op: 'replace', value: units(from, count, width) }] as const;
    const pass = await shelf.pass(inputs, { names: [Q, K, V], edits });
    parts.push({
      Q: activation(pass, Q).slice(0, null, hooks.head),
      K: activation(pass, K).slice(0, null, hooks.kvHead),
      V: activation(pass, V).slice(0, null, hooks.kvHead),
    });
  }
  return {
    Q: joined(parts.map((part) => part.Q)),
    K: joined(parts.map((part) => part.K)),
    V: joined(parts.map((part) => part.V)),
  };
}

function joined(parts: readonly Float[]): Float {
  const rows = parts.reduce((sum, { dims }) => sum + (dims[0] ?? 0), 0);
  const data = Float32Array.from(parts.flatMap((part) => Array.from(part.data)));
  return new Tensor('float32', data, [rows, parts[0]?.dims[1] ?? 0]);
}
