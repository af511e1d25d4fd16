// The effect of a mask on one head: the additive mask, the masked scores, the weights, and the model's predictions.

import { type ActivationEdit, type HookName, Mask, scaled_dot_product_attention, Tensor } from 'clearformer';
import type { Book, Sentence } from '../../book/book.js';
import { leadingOdds, type Odds } from '../../book/odds.js';
import { activation, type Shelved } from '../../book/shelf.js';
import { within } from '../../book/within.js';
import type { Float } from '../head/head_numbers.js';
import { type HeadHooks, headHooks } from '../head/hooks.js';

export type Preset = 'none' | 'causal' | 'padding' | 'both' | 'prefix' | 'without' | 'empty' | 'painted';
export const presets: readonly Preset[] = [
  'none',
  'causal',
  'padding',
  'both',
  'prefix',
  'without',
  'empty',
  'painted',
];

interface MaskRequest {
  readonly preset: Preset;
  /** How many keys are text; the others are padding. */
  readonly length: number;
  /** Length of the bidirectional prefix. */
  readonly prefix: number;
  /** The key that only its own query may attend to. */
  readonly without: number;
  /** The fully masked query of the preset `empty`. */
  readonly emptyRow: number;
  /** The painted mask as the address stores it, e.g. `both7,3:2f`: a preset, and each row that differs from it. */
  readonly rows: string;
}

type Sizes = Omit<MaskRequest, 'rows'>;

/** Which keys each query may attend to, [query][key]. */
export type Allowed = readonly (readonly boolean[])[];

export function allowedOf(request: MaskRequest, n: number): Allowed {
  return request.preset === 'painted' ? readRows(request.rows, n) : presetRows(request, n);
}

function presetRows({ preset, length, prefix, without, emptyRow }: Sizes, n: number): Allowed {
  const sees = (query: number, key: number): boolean => {
    if (preset === 'padding') return key < length;
    if (preset === 'both') return key <= query && key < length;
    if (preset === 'prefix') return key <= query || key < prefix;
    if (preset === 'without') return key <= query && (key !== without || query === without);
    if (preset === 'empty') return key <= query && query !== emptyRow;
    return preset === 'none' || key <= query;
  };
  return Array.from({ length: n }, (_, query) => Array.from({ length: n }, (_, key) => sees(query, key)));
}

/** The preset under the painted cells, with its parameter: `causal`, `both7`. */
function baseText({ preset, length, prefix, without, emptyRow, rows }: MaskRequest): string {
  if (preset === 'painted') return rows.split(',')[0] ?? '';
  const sizes: Partial<Record<Preset, number>> = { padding: length, both: length, prefix, without, empty: emptyRow };
  return `${preset}${sizes[preset] ?? ''}`;
}

function readBase(text: string, n: number): Allowed {
  const [, name, digits] = /^([a-z]+)(\d*)$/.exec(text) ?? [];
  const preset = presets.find((one) => one === name && one !== 'painted') ?? 'causal';
  const size = Number(digits ?? 0);
  return presetRows({ preset, length: size, prefix: size, without: size, emptyRow: size }, n);
}

/** A row as a number in base 36, one bit per key. */
const rowText = (row: readonly boolean[]): string =>
  row.reduce((bits, sees, key) => bits | (sees ? 1n << BigInt(key) : 0n), 0n).toString(36);

/** The address's text of the mask after one cell is changed. */
export function paintedRows(request: MaskRequest, n: number, { row, column, sees }: Painting): string {
  const base = baseText(request);
  const before = readBase(base, n);
  const now = allowedOf(request, n).map((seen, r) => (r === row ? seen.with(column, sees) : seen));
  const others = now.flatMap((seen, r) => {
    const same = seen.every((one, key) => one === before[r]?.[key]);
    return same ? [] : [`${r}:${rowText(seen)}`];
  });
  return [base, ...others].join();
}

interface Painting {
  readonly row: number;
  readonly column: number;
  /** The new value of the cell. */
  readonly sees: boolean;
}

/** An integer of any size in base 36. */
function bitsOf(text: string): bigint {
  let bits = 0n;
  for (const digit of text) bits = bits * 36n + BigInt(Number.parseInt(digit, 36) || 0);
  return bits;
}

function readRows(text: string, n: number): Allowed {
  const [base = '', ...others] = text.split(',');
  const allowed = readBase(base, n).map((row) => [...row]);
  for (const other of others) {
    const [row = '', bits = ''] = other.split(':');
    const found = bitsOf(bits);
    const seen = allowed[Number(row)];
    if (seen) allowed[Number(row)] = seen.map((_, key) => ((found >> BigInt(key)) & 1n) === 1n);
  }
  return allowed;
}

export const flags = (allowed: Allowed, of: boolean): Tensor<'uint8'> =>
  new Tensor(
    'uint8',
    Uint8Array.from(allowed.flat(), (sees) => (sees === of ? 1 : 0)),
    [allowed.length, allowed.length],
  );

/** The package's mask, by the most specific constructor, and that call. */
function maskOf(request: MaskRequest, allowed: Allowed): { mask: Mask | null; call: string } {
  const { preset, length } = request;
  if (preset === 'none') return { mask: null, call: 'null' };
  if (preset === 'causal') return { mask: Mask.causal(), call: 'Mask.causal()' };
  const lengths = `Mask.valid_lens([${length}])`;
  if (preset === 'padding') return { mask: Mask.valid_lens([length]), call: lengths };
  if (preset === 'both')
    return { mask: Mask.causal().and(Mask.valid_lens([length])), call: `Mask.causal().and(${lengths})` };
  return { mask: Mask.allow(flags(allowed, true)), call: 'Mask.allow(rows)' };
}

export interface MaskData {
  readonly sentence: Sentence;
  readonly labels: readonly string[];
  readonly hooks: HeadHooks;
  readonly request: MaskRequest;
  readonly allowed: Allowed;
  readonly mask: Mask | null;
  readonly call: string;
  readonly q: Float;
  readonly k: Float;
  readonly v: Float;
  /** The additive mask: 0 and −∞. */
  readonly added: Float;
  /** Scores before the mask, and after it. */
  readonly scores: Float;
  readonly masked: Float;
  readonly weights: Float;
  readonly output: Float;
  readonly odds: readonly Odds[];
}

interface HeadOf {
  readonly layer: number;
  readonly head: number;
  /** Whether the mask is applied to this head only or to all heads. */
  readonly where: 'head' | 'all';
}

export async function maskData(
  book: Book,
  { where, ...asked }: HeadOf,
  wanted: Omit<MaskRequest, 'emptyRow'>,
): Promise<MaskData> {
  const shelved = await book.shelf.model(book.modelName);
  const hooks = headHooks(shelved.model, asked.layer, asked.head);
  const { layer, head } = hooks;
  const sentence = await book.sentence(book.modelName);
  const clean = await book.shelf.pass(sentence.inputs, { names: [hooks.q, hooks.k, hooks.v] });
  const q = activation(clean, hooks.q).slice(0, null, head);
  const k = activation(clean, hooks.k).slice(0, null, hooks.kvHead);
  const v = activation(clean, hooks.v).slice(0, null, hooks.kvHead);
  const n = sentence.ids.length;
  const request = {
    ...wanted,
    length: within(wanted.length, n + 1),
    prefix: within(wanted.prefix, n + 1),
    without: within(wanted.without, n),
    emptyRow: sentence.focus,
  };
  const allowed = allowedOf(request, n);
  const { mask, call } = maskOf(request, allowed);
  const nothing = new Tensor('float32', new Float32Array(q.data.length), q.dims);
  const [, added] = await scaled_dot_product_attention(nothing, nothing, nothing, { mask, need_scores: 'masked' });
  const [, scores] = await scaled_dot_product_attention(q, k, v, { need_scores: 'raw' });
  const [, masked] = await scaled_dot_product_attention(q, k, v, { mask, need_scores: 'masked' });
  const [output, weights] = await scaled_dot_product_attention(q, k, v, { mask, need_weights: true });
  const key = ['mask', where, where === 'head' ? [layer, head] : [], baseText(request), request.rows].join(' ');
  const edits = { key, make: () => maskEdits(sentence, shelved, hooks, allowed, where) };
  const names: string[] = [];
  const now = await book.shelf.pass(sentence.inputs, { names, edits });
  return {
    sentence,
    labels: sentence.tokens.map(({ label }) => label),
    hooks,
    request,
    allowed,
    mask,
    call,
    q,
    k,
    v,
    added,
    scores,
    masked,
    weights,
    output,
    odds: await leadingOdds(shelved, clean, now, 3),
  };
}

/**
 * Edits that apply the mask in the running model: the masked scores are replaced by the raw ones, with −∞ at masked
 * keys. For all heads, each layer's raw scores are read with the preceding layers already masked.
 */
async function maskEdits(
  { inputs }: Sentence,
  { model }: Shelved,
  hooks: HeadHooks,
  allowed: Allowed,
  where: 'head' | 'all',
): Promise<ActivationEdit[]> {
  const edits: ActivationEdit[] = [];
  const layers = where === 'head' ? [hooks.layer] : Array.from({ length: hooks.layers }, (_, layer) => layer);
  for (const layer of layers) {
    const { raw, scores } = headHooks(model, layer, 0);
    // Not cached by the shelf: the scores of long texts are too large.
    const [, cache] = await model.run_with_cache(inputs.inputs, { names_filter: [raw as HookName], edits });
    const all = activation({ cache }, raw);
    const value = where === 'head' ? all.slice(0, hooks.head) : all.slice(0);
    edits.push({
      hook: scores as HookName,
      ...(where === 'head' && { head: hooks.head }),
      op: 'replace',
      value: hidden(value, allowed),
    });
  }
  return edits;
}

/** [..., query, key] with −∞ where a query may not attend to a key. */
function hidden({ data, dims }: Float, allowed: Allowed): Float {
  const n = allowed.length;
  const kept = data.map((value, i) => (allowed[Math.floor(i / n) % n]?.[i % n] ? value : Number.NEGATIVE_INFINITY));
  return new Tensor('float32', kept, dims);
}
