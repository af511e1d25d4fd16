// The calls of the misuse test that create a module, load weights into it and run it.

import { d2l, Mask, nn } from 'clearformer';
import { type Argument, type Draw, numbersOf, present } from './misuse.js';
import { type Attempt, dot } from './misuse_calls.js';
import { attention, linear, type Numbers, need } from './naive.js';

function modules(draw: Draw): Attempt {
  const [inputs, outputs] = [draw.size(), draw.size()];
  const given = [
    draw.either([inputs], [0, -1, 0.5, Number.NaN, '3', null, inputs + 1, 2 ** 40, {}, 3n]),
    outputs,
  ] as const;
  const exact = given[0] === inputs;
  const spoil = <T extends object>(state: T) =>
    draw.either<T>([state], [{}, null, [], 'weights', { ...state, more: [1] }, new Uint8Array(9), new Map()]);
  const [weight, bias] = [draw.tensor([outputs, inputs]), draw.tensor([outputs])];
  const [x, ids] = [
    draw.tensor(draw.of([inputs], [2, inputs], [2, 3, inputs])),
    draw.tensor([2, 3], 'ids', outputs + (draw.chance(6) ? 3 : 0)),
  ];
  if (draw.chance(3)) {
    const state = { weight: weight.input };
    const used = spoil(state);
    return {
      call: async () =>
        run(await new nn.Embedding(given[1], given[0]).load_state_dict(used as never), (module) =>
          module.forward(ids.input),
        ),
      answer: () => {
        const [table, index] = numbersOf(weight, ids) as [Numbers, Numbers];
        need(
          used === state &&
            exact &&
            String(table.dims) === String([outputs, inputs]) &&
            index.data.every((id) => id < outputs),
          'rows of the table',
        );
        return [
          {
            dims: [...index.dims, inputs],
            data: index.data.flatMap((id) => table.data.slice(id * inputs, (id + 1) * inputs)),
          },
        ];
      },
    };
  }
  const state = { weight: weight.input, bias: bias.input };
  const used = spoil(state);
  return {
    call: async () =>
      run(await new nn.Linear(given[0], given[1]).load_state_dict(used as never), (module) => module.forward(x.input)),
    answer: () => {
      const [w, b, input] = numbersOf(weight, bias, x) as [Numbers, Numbers, Numbers];
      need(
        used === state && exact && String(w.dims) === String([outputs, inputs]) && String(b.dims) === String([outputs]),
        'weights of these sizes',
      );
      need(input.dims.length > 0 && input.dims.at(-1) === inputs, 'features of the input');
      return [linear(input, w, b)];
    },
  };
}

async function run<M extends { dispose(): Promise<void> }>(
  module: M,
  forward: (module: M) => Promise<unknown>,
): Promise<unknown> {
  try {
    return await forward(module);
  } finally {
    await module.dispose();
  }
}

/** Multi-head attention, torch's or d2l's, with identity weights: attention itself, head by head. */
function heads(draw: Draw): Attempt {
  const torch = draw.chance(2);
  const width = draw.of(2, 4, 6);
  const num_heads = draw.either([1, 2, width], [0, -1, 5, 1.5, Number.NaN, '2', null]);
  const identity = Array.from({ length: width }, (_, row) =>
    Array.from({ length: width }, (__, column) => (row === column ? 1 : 0)),
  );
  const [batch, queries, keys] = [draw.size(), draw.size(), draw.size()];
  const [q, k, v] = [
    draw.tensor([batch, queries, width]),
    draw.tensor([batch, keys, width]),
    draw.tensor([batch, keys, width]),
  ];
  const lens = draw.of(undefined, draw.tensor(draw.of([batch], [batch, queries]), 'lengths', keys + 2));
  const answer = () => {
    need([1, 2, width].includes(num_heads), 'heads divide the width');
    const all = numbersOf(q, k, v) as [Numbers, Numbers, Numbers];
    const batched = all.map(({ dims, data }) => ({ dims: torch && dims.length === 2 ? [1, ...dims] : dims, data }));
    need(
      all.every(({ dims }) => dims.length === all[0].dims.length) &&
        batched.every(({ dims }) => dims.length === 3 && dims[2] === width && dims[0] === batched[0]?.dims[0]) &&
        batched[1]?.dims[1] === batched[2]?.dims[1],
      'sizes',
    );
    const d = width / num_heads;
    const split = ({ dims, data }: Numbers): Numbers => {
      const [b, n] = dims as [number, number];
      const at = (i: number) => {
        const [feature, t, head, sequence] = [
          i % d,
          Math.floor(i / d) % n,
          Math.floor(i / d / n) % num_heads,
          Math.floor(i / d / n / num_heads),
        ];
        return data[(sequence * n + t) * width + head * d + feature] as number;
      };
      return { dims: [b, num_heads, n, d], data: Array.from({ length: data.length }, (_, i) => at(i)) };
    };
    const masks =
      present(lens) === undefined
        ? []
        : [{ kind: 'valid_lens' as const, values: numbersOf(lens as Argument)[0] as Numbers }];
    const [a, b, c] = batched.map(split) as [Numbers, Numbers, Numbers];
    const { output } = attention(a, b, c, {
      score: dot,
      scale: 1 / Math.sqrt(d),
      masks,
      grouped: false,
      empty: torch ? 'zeros' : 'uniform',
    });
    const [sequences, , n] = output.dims as [number, number, number];
    const joined = (i: number) => {
      const [feature, t, sequence] = [i % width, Math.floor(i / width) % n, Math.floor(i / width / n)];
      return output.data[((sequence * num_heads + Math.floor(feature / d)) * n + t) * d + (feature % d)] as number;
    };
    const lead = all[0].dims.length === 2 ? [] : [sequences];
    return [{ dims: [...lead, n, width], data: Array.from({ length: output.data.length }, (_, i) => joined(i)) }];
  };
  const d2lState = { 'W_q.weight': identity, 'W_k.weight': identity, 'W_v.weight': identity, 'W_o.weight': identity };
  const torchState = { in_proj_weight: [...identity, ...identity, ...identity], 'out_proj.weight': identity };
  const call = async () => {
    if (!torch) {
      const module = await new d2l.MultiHeadAttention(width, num_heads).load_state_dict(d2lState);
      return run(module, () => module.forward(q.input, k.input, v.input, lens?.input));
    }
    const module = await new nn.MultiheadAttention(width, num_heads, { bias: false }).load_state_dict(torchState);
    const attn_mask = present(lens) && Mask.valid_lens((lens as Argument).input);
    const options = { attn_mask, need_weights: false };
    return run(module, async () => (await module.forward(q.input, k.input, v.input, options))[0]);
  };
  return { call, answer };
}

/** Random calls of modules, by kind. */
export const moduleCalls = [modules, heads];
