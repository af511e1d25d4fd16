// The result of `complexity`.

/** The cost of one layer that maps n vectors of size d to n vectors of size d, and its path length. */
export interface Complexity {
  /** Exact number of multiply-adds, without biases and nonlinearities. */
  multiply_adds: number;
  /** Those of the projections of queries, keys, values and output, 4 n d²; 0 for layers without them. */
  projection_multiply_adds: number;
  /** Steps that depend on the previous one. */
  sequential_operations: number;
  /** Layers (recurrent: steps) between any two positions. */
  maximum_path_length: number;
  /** The same as order of growth: `O(n²·d)`. */
  work: string;
  sequential: string;
  path_length: string;
}
