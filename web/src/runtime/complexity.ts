// The answer of `complexity`, as the core gives it.

/** What one layer costs that maps n vectors of size d to as many, and how far apart it leaves two positions. */
export interface Complexity {
  /** Multiplications with additions, exactly; biases and nonlinearities left out. */
  multiply_adds: number;
  /** Those of the projections of queries, keys, values and output, 4 n d²; 0 for layers without. */
  projection_multiply_adds: number;
  /** Steps that have to wait for each other. */
  sequential_operations: number;
  /** Layers (recurrent: steps) between any two positions. */
  maximum_path_length: number;
  /** The same as orders: `O(n²·d)`. */
  work: string;
  sequential: string;
  path_length: string;
}
