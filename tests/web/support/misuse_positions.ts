// The calls of the misuse test for positions and patches: random arguments and the naive twin's result for each.

import {
  alibi_bias,
  interpolate_positions,
  learned_encoding,
  patch_embedding,
  prepend_tokens,
  relative_position_bias,
  rotary,
  shift_matrix,
  sinusoidal_encoding,
} from 'clearformer';
import { type Draw, numbersOf, present } from './misuse.js';
import type { Attempt } from './misuse_calls.js';
import { type Numbers, need } from './naive.js';

const wrongSizes = [0, -1, 1.5, Number.NaN, '2', null, {}, 2 ** 40];
const isSize = (value: unknown, least = 1) =>
  Number.isInteger(value) && (value as number) >= least && (value as number) < 2 ** 31;

/** sin and cos of position · 10000^(-2j/d), interleaved. */
function sinusoids(position: number, d: number): number[] {
  return Array.from({ length: d }, (_, i) => {
    const angle = position / 10000 ** ((2 * Math.floor(i / 2)) / d);
    return i % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
  });
}

function encodings(draw: Draw): Attempt {
  const positions = draw.tensor(draw.of([draw.size()], [2, 3]), 'ids', 50);
  const d = draw.either([1, 2, 5, 6], wrongSizes);
  if (draw.chance(3)) {
    const table = draw.tensor([draw.of(3, 60), draw.size()]);
    const answer = () => {
      const [rows, at] = numbersOf(table, positions) as [Numbers, Numbers];
      const [count, width] = rows.dims as [number, number];
      need(rows.dims.length === 2 && at.data.every((position) => position < count), 'rows of a table');
      const data = at.data.flatMap((position) => rows.data.slice(position * width, (position + 1) * width));
      return [{ dims: [...at.dims, width], data }];
    };
    return { call: () => learned_encoding(table.input, positions.input), answer };
  }
  if (draw.chance(3)) {
    const delta = draw.either([-3, 0, 5], [0.5, Number.NaN, null, '1', 2 ** 40]);
    const turned = (i: number) => {
      const [row, column] = [Math.floor(i / d), i % d];
      if (Math.floor(row / 2) !== Math.floor(column / 2)) return 0;
      const [sine, cosine] = sinusoids(delta, d).slice(2 * Math.floor(row / 2)) as [number, number];
      return row === column ? cosine : row % 2 === 0 ? sine : -sine;
    };
    const answer = () => {
      need(isSize(d) && d % 2 === 0 && isSize(delta, -(2 ** 31)), 'even sizes, a whole shift');
      return [{ dims: [d, d], data: Array.from({ length: d * d }, (_, i) => turned(i)) }];
    };
    return { call: () => shift_matrix(delta, d), answer };
  }
  const answer = () => {
    need(isSize(d), 'a size');
    const count = positions.input as unknown;
    const [at] =
      typeof count === 'number'
        ? [{ dims: [count], data: Array.from({ length: count }, (_, i) => i) }]
        : (numbersOf(positions) as [Numbers]);
    return [{ dims: [...at.dims, d], data: at.data.flatMap((position) => sinusoids(position, d)) }];
  };
  return { call: () => sinusoidal_encoding(positions.input, d), answer };
}

function biases(draw: Draw): Attempt {
  const [queries, keys, heads] = [
    draw.either([1, 3], wrongSizes.slice(1)),
    draw.either([2, 5], wrongSizes.slice(1)),
    draw.either([1, 2, 4, 8], wrongSizes),
  ];
  const query_offset = draw.either([undefined, 2], wrongSizes.slice(1));
  const span = { queries, keys, query_offset };
  const spanFits = () =>
    need([queries, keys, query_offset ?? 0].every((size) => isSize(size, 0)) && query_offset !== null, 'sizes');
  const at = (i: number) =>
    [Math.floor(i / keys / queries), (Math.floor(i / keys) % queries) + (query_offset ?? 0), i % keys] as const;
  if (draw.chance(2)) {
    const answer = () => {
      spanFits();
      need(isSize(heads), 'heads');
      const value = (i: number) => {
        const [head, query, key] = at(i);
        return -(2 ** (-8 * ((head + 1) / heads))) * Math.abs(query - key);
      };
      return [
        { dims: [1, heads, queries, keys], data: Array.from({ length: heads * queries * keys }, (_, i) => value(i)) },
      ];
    };
    return { call: () => alibi_bias(heads, span), answer };
  }
  // With as many buckets as distances each earlier key has its own.
  const table = draw.tensor([32, 3]);
  const answer = () => {
    spanFits();
    const [rows] = numbersOf(table) as [Numbers];
    need(rows.dims.length === 2 && rows.dims[0] === 32, 'a table of 32 buckets');
    const width = rows.dims[1] as number;
    const value = (i: number) => {
      const [head, query, key] = at(i);
      return rows.data[Math.max(query - key, 0) * width + head] as number;
    };
    return [
      { dims: [1, width, queries, keys], data: Array.from({ length: width * queries * keys }, (_, i) => value(i)) },
    ];
  };
  return {
    call: () => relative_position_bias(table.input, { ...span, num_buckets: 32, bidirectional: false }),
    answer,
  };
}

function rotations(draw: Draw): Attempt {
  const [batch, heads, length, d] = [draw.size(), draw.size(), draw.size(), draw.either([2, 4, 6], [3])] as [
    number,
    number,
    number,
    number,
  ];
  const x = draw.tensor([batch, heads, length, d]);
  const positions = draw.tensor(draw.of([length], [batch, length]), 'ids', 30);
  const interleaved = draw.either([undefined, true, false], ['yes', 1, null]);
  const rope_theta = draw.either([undefined, 100], [0, -1, Number.NaN, '1', {}, [1]]);
  const answer = () => {
    need([undefined, true, false].includes(interleaved), 'a flag');
    need(rope_theta === undefined || (typeof rope_theta === 'number' && rope_theta > 0), 'a base');
    const [{ dims, data }, at] = numbersOf(x, positions) as [Numbers, Numbers];
    need(dims.length === 4 && (dims[3] as number) % 2 === 0 && (dims[3] as number) > 0, 'pairs');
    const [sequences, h, n, width] = dims as [number, number, number, number];
    const own = at.dims.length === 2 && at.dims[0] === sequences && at.dims[1] === n;
    need(
      own ||
        (at.dims.length === 1 && at.dims[0] === n) ||
        (at.dims.length === 2 && at.dims[0] === 1 && at.dims[1] === n),
      'a position each',
    );
    const turned = data.map((value, i) => {
      const [feature, t, sequence] = [i % width, Math.floor(i / width) % n, Math.floor(i / width / n / h)];
      const half = width / 2;
      const pair = interleaved === true ? Math.floor(feature / 2) : feature % half;
      const first = interleaved === true ? feature % 2 === 0 : feature < half;
      const other = data[i + (interleaved === true ? 1 : half) * (first ? 1 : -1)] as number;
      const position = at.data[(own && at.dims.length === 2 ? sequence * n : 0) + t] as number;
      const angle = position * (rope_theta ?? 10000) ** ((-2 * pair) / width);
      return value * Math.cos(angle) + (first ? -other : other) * Math.sin(angle);
    });
    return [{ dims, data: turned }];
  };
  return { call: () => rotary(x.input, positions.input, { interleaved, rope_theta }), answer };
}

function patches(draw: Draw): Attempt {
  const [batch, channels, rows, columns, features] = [
    draw.size(),
    draw.size(),
    draw.of(1, 2),
    draw.of(1, 2),
    draw.size(),
  ];
  if (draw.chance(3)) {
    const [tokens, x] = [
      draw.tensor(draw.of([features], [1, 1, features], [2, features])),
      draw.tensor([batch, rows, features]),
    ];
    const answer = () => {
      const [front, { dims, data }] = numbersOf(tokens, x) as [Numbers, Numbers];
      need(front.dims.length > 0 && dims.length === 3 && front.dims.at(-1) === dims[2], 'one width');
      const [sequences, n, width] = dims as [number, number, number];
      const count = front.dims.slice(0, -1).reduce((all, extent) => all * extent, 1);
      const one = (b: number) => [...front.data, ...data.slice(b * n * width, (b + 1) * n * width)];
      return [
        { dims: [sequences, count + n, width], data: Array.from({ length: sequences }, (_, b) => one(b)).flat() },
      ];
    };
    return { call: () => prepend_tokens(tokens.input, x.input), answer };
  }
  if (draw.chance(3)) {
    const table = draw.tensor([1 + rows * columns, features]);
    const grid = draw.either<[number, number]>(
      [[rows, columns]],
      [[rows, columns + 9], [0, 1], [1], null, 3, ['1', 1], [Number.NaN, 1]],
    );
    const answer = () => {
      need(Array.isArray(grid) && grid.every((side) => isSize(side)) && grid.length === 2, 'a grid');
      const [{ dims, data }] = numbersOf(table) as [Numbers];
      need(dims.length === 2 || (dims.length === 3 && dims[0] === 1), 'a table');
      need((dims.at(-2) as number) >= grid[0] * grid[1], 'rows for the grid');
      return [{ dims, data }];
    };
    return { call: () => interpolate_positions(table.input, grid, grid), answer };
  }
  const [height, width] = [rows * draw.of(1, 2), columns * draw.of(1, 3)];
  const [images, weight, bias] = [
    draw.tensor([batch, channels, height, width]),
    draw.tensor([features, channels, rows, columns]),
    draw.of(undefined, draw.tensor([features])),
  ];
  const drop_remainder = draw.either([true], ['yes', 1, null]);
  const answer = () => {
    need(drop_remainder === true, 'a flag');
    const [w, x, b] = numbersOf(...[weight, images, present(bias)].filter((one) => one !== undefined)) as [
      Numbers,
      Numbers,
      Numbers?,
    ];
    need(
      w.dims.length === 4 && x.dims.length === 4 && w.dims[1] === x.dims[1] && !w.dims.includes(0),
      'images and a kernel',
    );
    const [d, c, p, q] = w.dims as [number, number, number, number];
    const [n, , h, v] = x.dims as [number, number, number, number];
    const [down, across] = [Math.floor(h / p), Math.floor(v / q)];
    need((b === undefined || (b.dims.length === 1 && b.dims[0] === d)) && down * across > 0, 'a bias, and patches');
    const value = (i: number) => {
      const [feature, patch, image] = [i % d, Math.floor(i / d) % (down * across), Math.floor(i / d / down / across)];
      let sum = b?.data[feature] ?? 0;
      for (let k = 0; k < c * p * q; k++) {
        const [channel, y, z] = [Math.floor(k / p / q), Math.floor(k / q) % p, k % q];
        const pixel = ((image * c + channel) * h + Math.floor(patch / across) * p + y) * v + (patch % across) * q + z;
        sum += (w.data[feature * c * p * q + k] as number) * (x.data[pixel] as number);
      }
      return sum;
    };
    return [{ dims: [n, down * across, d], data: Array.from({ length: n * down * across * d }, (_, i) => value(i)) }];
  };
  return { call: () => patch_embedding(images.input, weight.input, { bias: bias?.input, drop_remainder }), answer };
}

/** Random calls for positions and patches, by kind. */
export const positionCalls = [encodings, biases, rotations, patches];
