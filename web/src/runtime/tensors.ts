// The tensors that are passed to the core and that it returns.

/** The typed array for each element type. */
export interface TensorData {
  float32: Float32Array;
  int32: Int32Array;
  int64: BigInt64Array;
  uint8: Uint8Array;
  int8: Int8Array;
}
/** The element types of tensors. */
export type TensorType = keyof TensorData;

/** A tensor passed to the core. */
export interface TensorIn {
  data: Float32Array | Int32Array | BigInt64Array | Uint8Array;
  dims: number[];
}

/** A tensor returned by the core: a copy in JavaScript memory. */
export type TensorOut<T extends TensorType = TensorType> = {
  [K in T]: { type: K; data: TensorData[K]; dims: number[] };
}[T];
