// Copies of arrays that callers give.

interface Sliced {
  readonly buffer: ArrayBufferLike;
  slice(): unknown;
}

/**
 * A copy of the elements, in a buffer of its own. A Node Buffer is a Uint8Array whose `slice` copies nothing; the method
 * of the class that all typed arrays share does.
 */
export const copied = <T extends Sliced>(data: T): ReturnType<T['slice']> & T =>
  Uint8Array.prototype.slice.call(data as unknown as Uint8Array) as unknown as ReturnType<T['slice']> & T;
