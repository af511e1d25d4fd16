// Positions as arguments, and the mask that tells which of them are padding.

import { ClearformerError, quoted } from '../support/error.js';
import { Tensor } from '../tensor/tensor.js';

/** One position or several, negative from the end. A number drops the axis, a list keeps it. */
export type Positions = number | readonly number[];

/**
 * The indices of `pos` among `length` positions; undefined means all. Throws `invalid_argument` for positions out of
 * range.
 */
export function placesOf(call: string, pos: Positions | undefined, length: number): number[] {
  if (pos === undefined) return Array.from({ length }, (_, place) => place);
  const given = Array.isArray(pos) && pos.length > 0 ? pos : [pos]; // an empty list is no position either
  return given.map((one: number) => {
    const place = Number.isInteger(one) && one < 0 ? one + length : one;
    if (Number.isInteger(place) && place >= 0 && place < length) return place;
    throw new ClearformerError('invalid_argument', `${call}: no position ${quoted(one)} among ${length}`, {
      option: 'pos',
    });
  });
}

/** Selects positions of a tensor [batch, pos, …features] as [batch, places, features]. */
export function takePlaces({ data, dims }: Tensor<'float32'>, places: readonly number[]): Tensor<'float32'> {
  const [batch = 0, length = 0, ...rest] = dims;
  const width = rest.reduce((product, extent) => product * extent, 1);
  const taken = new Float32Array(batch * places.length * width);
  for (let row = 0; row < batch; row++) {
    places.forEach((place, at) => {
      const from = (row * length + place) * width;
      taken.set(data.subarray(from, from + width), (row * places.length + at) * width);
    });
  }
  return new Tensor('float32', taken, [batch, places.length, width]);
}

interface Masks<Mask> {
  attention_mask?: Mask | undefined;
  decoder_attention_mask?: Mask | undefined;
}

/** The mask of the positions of a hook, whose axis of positions has this name; undefined if there is none. */
export function maskAt<Mask>(hook: string, axis: string | undefined, inputs: Masks<Mask>): Mask | undefined {
  if (axis === undefined || hook.startsWith('vision_model.')) return undefined;
  const ofDecoder = hook.startsWith('decoder.') && !(hook.includes('cross_attn') && axis === 'key_pos');
  return ofDecoder ? inputs.decoder_attention_mask : inputs.attention_mask;
}
