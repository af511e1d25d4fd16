// Mask: which keys a query may attend to, and biases added to its scores. Upstream libraries disagree on the meaning of
// `true`, so a mask is made by a named constructor.

import type { MaskTerm } from '../runtime/border.js';
import { ClearformerError } from '../support/error.js';
import { flags, floats, integers, type TensorInput } from '../tensor/tensor_input.js';
import { whole } from './arguments.js';

/**
 * masked(t, s) = -inf where query t may not attend to key s, else score(t, s) + additive(t, s), before softmax.
 * A mask broadcasts from the right to the scores [batch, head, query, key]. A fully masked query gets
 * weights 0 and output 0 (in the d2l classes equal weights).
 */
export class Mask {
  /** @internal The conjunction of these terms. */
  readonly terms: readonly MaskTerm[];

  /** @internal Without terms, no restriction; use the static methods for others. */
  constructor(terms: readonly MaskTerm[] = []) {
    this.terms = terms;
  }

  /**
   * True (or 1) = attend: scaled_dot_product_attention, ONNX, Hugging Face's attention_mask. Dims [key] to [batch,
   * head, query, key].
   */
  static allow(allowed: TensorInput): Mask {
    return new Mask([{ kind: 'allow', ...flags('Mask.allow', allowed) }]);
  }

  /** True (or 1) = do not attend: the masks of torch.nn.MultiheadAttention and its relatives. */
  static ignore(ignored: TensorInput): Mask {
    return new Mask([{ kind: 'ignore', ...flags('Mask.ignore', ignored) }]);
  }

  /** Added to the scores: biases, or 0 and -Infinity. Throws `invalid_argument` for NaN and +Infinity. */
  static additive(values: TensorInput): Mask {
    const { data, dims } = floats('Mask.additive', values);
    const wrong = data.findIndex((value) => !(value < Number.POSITIVE_INFINITY));
    if (wrong >= 0)
      throw refused('Mask.additive', `element ${wrong} is ${data[wrong]}, only numbers and -Infinity can be added`);
    return new Mask([{ kind: 'additive', data: data.slice(), dims }]);
  }

  /** Causal: query t attends to keys 0 … t + past, with `past` keys before the first query (a cache's length). */
  static causal(past = 0): Mask {
    return new Mask([{ kind: 'causal', past: whole('Mask.causal', 'past', past, 0) }]);
  }

  /** The first n keys, d2l.ai's valid lengths: n per sequence, dims [batch], or per query, dims [batch, query]. */
  static valid_lens(lengths: TensorInput): Mask {
    const { data, dims } = integers('Mask.valid_lens', lengths);
    if (dims.length !== 1 && dims.length !== 2) {
      throw new ClearformerError(
        'shape_mismatch',
        `Mask.valid_lens: needs dims [batch] or [batch, query], got [${dims.join(', ')}]`,
      );
    }
    const wrong = data.findIndex((length) => length < 0);
    if (wrong >= 0) throw refused('Mask.valid_lens', `length ${wrong} is ${data[wrong]}, it must be 0 or more`);
    return new Mask([{ kind: 'valid_lens', data: data.slice(), dims }]);
  }

  /** Combines two masks: a key is masked if either masks it; additive values are summed. */
  and(other: Mask): Mask {
    return new Mask([...this.terms, ...termsOf('Mask.and', other)]);
  }
}

/** The terms of an optional mask; throws `invalid_argument` for anything but a Mask. */
export function termsOf(what: string, mask: Mask | null | undefined): readonly MaskTerm[] {
  if (mask === undefined || mask === null) return [];
  if (mask instanceof Mask) return mask.terms;
  throw refused(what, 'needs a Mask (Mask.allow, ignore, additive, causal or valid_lens says what its values mean)');
}

/** The sizes of an attention; without a batch, `batch` is null. */
export interface AttentionSize {
  batch: number | null;
  heads: number;
  queries: number;
  keys: number;
}

/**
 * A key padding mask: dims [batch, key], or [key] without a batch, apply to every head and query, as [batch, 1, 1,
 * key].
 */
export function overKeys(what: string, terms: readonly MaskTerm[], { batch, keys }: AttentionSize): MaskTerm[] {
  return terms.map((term) => {
    if (term.kind === 'causal' || term.kind === 'valid_lens') return term;
    expectDims(what, term.dims, [batch === null ? [keys] : [batch, keys]]);
    return { ...term, dims: [batch ?? 1, 1, 1, keys] };
  });
}

/** torch's masks [query, key] and [batch · head, query, key], and those of the core, [batch, head, query, key]. */
export function overHeads(what: string, terms: readonly MaskTerm[], size: AttentionSize): MaskTerm[] {
  const { heads, queries, keys } = size;
  const batch = size.batch ?? 1;
  return terms.map((term) => {
    if (term.kind === 'causal' || term.kind === 'valid_lens') return term;
    expectDims(what, term.dims, [
      [queries, keys],
      [batch * heads, queries, keys],
      [batch, heads, queries, keys],
    ]);
    return term.dims.length !== 3 ? term : { ...term, dims: [batch, heads, queries, keys] };
  });
}

function expectDims(what: string, dims: readonly number[], known: readonly (readonly number[])[]): void {
  if (known.some((one) => String(one) === String(dims))) return;
  const wanted = known.map((one) => `[${one.join(', ')}]`).join(' or ');
  throw new ClearformerError('shape_mismatch', `${what}: needs dims ${wanted}, got [${dims.join(', ')}]`);
}

function refused(what: string, rule: string): ClearformerError {
  return new ClearformerError('invalid_argument', `${what}: ${rule}`);
}
