// What a value is, whichever realm made it: frames, jsdom and Node's vm have classes of their own.

interface Kinds {
  ArrayBuffer: ArrayBuffer;
  AudioBuffer: AudioBuffer;
  BigInt64Array: BigInt64Array;
  Float32Array: Float32Array;
  Float64Array: Float64Array;
  Int32Array: Int32Array;
  Module: object;
  Object: object;
  RegExp: RegExp;
  Uint8Array: Uint8Array;
  Uint8ClampedArray: Uint8ClampedArray;
  URL: URL;
}

/** The name of a value's class, of built-in ones also for classes derived from them. */
export const kindOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

/** Whether a value is of one of these classes. */
export const isA = <K extends keyof Kinds>(value: unknown, ...kinds: readonly K[]): value is Kinds[K] =>
  (kinds as readonly string[]).includes(kindOf(value));

/** Whether a value is an object with members, or a module: no list, and none of a built-in class such as Promise. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isA(value, 'Object', 'Module') && !(Symbol.iterator in value);

/** Whether a value is a Blob or a File, which in happy-dom have no name. */
export const isBlob = (value: unknown): value is Blob => typeof (value as Blob | undefined)?.stream === 'function';
