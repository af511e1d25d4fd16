// Rotary positions: a query and a key of the model, rotated by the package to any two positions, and their dot product.

import { bmm, ClearformerError, matmul, type RotaryOptions, rotary, type Tensor } from 'clearformer';
import { type Book, firstModel, type Sentence } from '../../book/book.js';
import { activation } from '../../book/shelf.js';
import { largestDifference, reshaped, stacked, transposed } from '../../book/tensors.js';
import { within } from '../../book/within.js';
import type { Made } from './places.js';

type Float = Tensor<'float32'>;

/** Positions that the query and the key can be moved to. */
export const reach = 48;

interface TurnedAsked {
  readonly layer: number;
  readonly head: number;
  /** The token of the key; negative: from the end. */
  readonly key: number;
  /** The positions of the query and the key; undefined: their own in the sentence. */
  readonly queryPlace: number | undefined;
  readonly keyPlace: number | undefined;
}

export interface Turned {
  readonly model: string;
  readonly sentence: Sentence;
  readonly layer: number;
  readonly head: number;
  /** The key/value head that it shares. */
  readonly group: number;
  readonly layers: number;
  readonly heads: number;
  readonly key: number;
  readonly queryPlace: number;
  readonly keyPlace: number;
  readonly options: RotaryOptions;
  /** The projections before rotation, and rotated to their positions: [1, d_head]. */
  readonly plainQuery: Made;
  readonly plainKey: Made;
  readonly query: Made;
  readonly keyRow: Made;
  /** The contribution of each pair to the dot product: [pairs]. */
  readonly parts: Made;
  /** [1, 1]. */
  readonly product: Made;
  /** The dot product for each distance, with the key at its position: [reach]. */
  readonly byDistance: Made;
  /** The largest absolute difference from the head's own values at the sentence's positions. */
  readonly difference: number;
}

const rotaryKeys = [
  'rope_theta',
  'rope_parameters',
  'rope_scaling',
  'partial_rotary_factor',
  'max_position_embeddings',
] as const;

/** A larger difference from the model's own values is not of rounding. */
const rounding = 1e-3;

/**
 * With the model of the sentence if that turns its projections whole, as `rotary` does and nothing else before, which
 * its own values at more than one position show; else with the story model.
 */
export async function turnedOf(book: Book, asked: TurnedAsked): Promise<Turned> {
  const { model } = await book.shelf.model(book.modelName);
  const config = model.config as Readonly<Record<string, unknown>>;
  const { partial_rotary_factor: turning = 1 } = { ...config, ...(config.rope_parameters as object) };
  const own = turning === 1 ? await turnedIn(book, book.modelName, asked).catch(whereRefused) : undefined;
  const shown = own && own.sentence.ids.length > 1 && own.difference < rounding;
  return shown ? own : turnedIn(book, firstModel, asked);
}

/** Of a model without such hooks or such a rotation. */
function whereRefused(thrown: unknown): undefined {
  if (thrown instanceof ClearformerError && ['invalid_argument', 'unsupported'].includes(thrown.code)) return undefined;
  throw thrown;
}

async function turnedIn(book: Book, name: string, asked: TurnedAsked): Promise<Turned> {
  const { model } = await book.shelf.model(name);
  const { n_layers: layers, n_heads: heads, n_key_value_heads, d_head: d } = model.cfg;
  const layer = within(asked.layer, layers);
  const head = within(asked.head, heads);
  const sentence = await book.sentence(name, reach);
  const key = within(asked.key, sentence.ids.length);
  const hooks = ['hook_q', 'hook_k', 'hook_rot_q', 'hook_rot_k'].map((hook) => `blocks.${layer}.attn.${hook}`);
  const pass = await book.shelf.pass(sentence.inputs, { names: hooks });
  const groups = Number(n_key_value_heads ?? heads);
  const group = Math.floor((head * groups) / heads);
  const allOf = (hook: number, of: number): Float => activation(pass, hooks[hook] ?? '').slice(0, null, of);
  const taken = (hook: number, pos: number, of: number): Made => ({
    source: `${hooks[hook]}[0, ${pos}, ${of}]`,
    numbers: reshaped(allOf(hook, of).slice(pos), [1, d]),
  });
  const [plainQuery, plainKey] = [taken(0, sentence.focus, head), taken(1, key, group)];
  const config = model.config as Readonly<Record<string, unknown>>;
  const options: RotaryOptions = Object.fromEntries(
    rotaryKeys.filter((one) => config[one] !== undefined && config[one] !== null).map((one) => [one, config[one]]),
  );
  const turn = async ({ source, numbers }: Made, place: number): Promise<Made> => ({
    source: `rotary(${source}, [${place}])`,
    numbers: reshaped(await rotary(reshaped(numbers, [1, 1, 1, d]), [place], options), [1, d]),
  });
  const queryPlace = within(asked.queryPlace ?? sentence.focus, reach);
  const keyPlace = within(asked.keyPlace ?? key, reach);
  const [query, keyRow] = [await turn(plainQuery, queryPlace), await turn(plainKey, keyPlace)];
  const offBy = async (hook: number, of: number): Promise<number> => {
    const rows = reshaped(allOf(hook, of), [1, 1, sentence.ids.length, d]);
    const turned = await rotary(rows, [...sentence.ids.keys()], options);
    return largestDifference(turned.data, allOf(hook + 2, of).data);
  };
  const column = transposed(keyRow.numbers);
  const away = await rotary(
    reshaped(stacked(Array.from({ length: reach }, () => plainQuery.numbers.data)), [1, 1, reach, d]),
    Array.from({ length: reach }, (_, distance) => keyPlace + distance),
    options,
  );
  return {
    model: name,
    sentence,
    layer,
    head,
    group,
    layers,
    heads,
    key,
    queryPlace,
    keyPlace,
    options,
    plainQuery,
    plainKey,
    query,
    keyRow,
    parts: {
      source: `bmm(pairs of ${query.source}, pairs of ${keyRow.source})`,
      numbers: await partsOf(query.numbers, keyRow.numbers),
    },
    product: { source: `matmul(${query.source}, ${keyRow.source}ᵀ)`, numbers: await matmul(query.numbers, column) },
    byDistance: {
      source: `matmul(rotary(${plainQuery.source}, [${keyPlace} … ${keyPlace + reach - 1}]), ${keyRow.source}ᵀ)`,
      numbers: reshaped(await matmul(reshaped(away, [reach, d]), column), [reach]),
    },
    difference: Math.max(await offBy(0, head), await offBy(1, group)),
  };
}

/** The pairs (xᵢ, xᵢ₊ᵣ/₂) as rows. */
export function pairsOf({ data }: Float): Float {
  const half = data.length / 2;
  return stacked(Array.from({ length: half }, (_, j) => [data[j] ?? 0, data[half + j] ?? 0]));
}

async function partsOf(query: Float, key: Float): Promise<Float> {
  const half = query.data.length / 2;
  const products = await bmm(reshaped(pairsOf(query), [half, 1, 2]), reshaped(pairsOf(key), [half, 2, 1]));
  return reshaped(products, [half]);
}
