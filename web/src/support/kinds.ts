// What a value is, whichever realm made it: frames, jsdom and Node's vm have classes of their own.

interface Kinds {
  ArrayBuffer: ArrayBuffer;
  BigInt64Array: BigInt64Array;
  Blob: Blob;
  FileList: FileList;
  Float32Array: Float32Array;
  Int32Array: Int32Array;
  Uint8Array: Uint8Array;
  Uint8ClampedArray: Uint8ClampedArray;
  URL: URL;
}

/** The name of a value's class, of built-in ones also for classes derived from them. */
export const kindOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

/** Whether a value is of that class. Files are Blobs. */
export const isA = <K extends keyof Kinds>(value: unknown, kind: K): value is Kinds[K] =>
  kindOf(value).replace(/^File$/, 'Blob') === kind;
