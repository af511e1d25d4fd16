// A matrix as a product of two thin ones, such as the circuits of a head, with TransformerLens' names.

import { matmul, svd } from '../primitives/functional.js';
import { ClearformerError } from '../support/error.js';
import { exportedTensor } from '../tensor/exported_tensor.js';
import type { Tensor } from '../tensor/tensor.js';

/** U [m, k], S [k] and Vh [k, n] of a matrix U·diag(S)·Vh. */
export interface SingularValues {
  U: Tensor<'float32'>;
  S: Tensor<'float32'>;
  Vh: Tensor<'float32'>;
}

/** A·B of A [m, r] and B [r, n], which is only formed on request. */
export class FactoredMatrix {
  readonly A: Tensor<'float32'>;
  readonly B: Tensor<'float32'>;

  /** Throws `shape_mismatch` unless A is [m, r] and B [r, n], `dtype_mismatch` for other types. */
  constructor(A: Tensor<'float32'>, B: Tensor<'float32'>) {
    this.A = exportedTensor('FactoredMatrix', A) as Tensor<'float32'>;
    this.B = exportedTensor('FactoredMatrix', B) as Tensor<'float32'>;
    for (const { type } of [this.A, this.B]) {
      if (type !== 'float32')
        throw new ClearformerError('dtype_mismatch', `FactoredMatrix: needs float32, got ${type}`);
    }
    if (A.dims.length !== 2 || B.dims.length !== 2 || A.dims[1] !== B.dims[0]) {
      throw new ClearformerError(
        'shape_mismatch',
        `FactoredMatrix: [${A.dims.join(', ')}] and [${B.dims.join(', ')}] have no product`,
      );
    }
  }

  /** [m, n]. */
  get shape(): readonly [number, number] {
    return [this.A.dims[0] as number, this.B.dims[1] as number];
  }
  /** The transpose, Bᵀ·Aᵀ. */
  get T(): FactoredMatrix {
    return new FactoredMatrix(this.B.transpose(0, 1), this.A.transpose(0, 1));
  }
  /** The product [m, n]. */
  AB(): Promise<Tensor<'float32'>> {
    return matmul(this.A, this.B);
  }
  /** The Frobenius norm, in double precision from the factors: ‖AB‖² = Σ (AᵀA) ⊙ (BBᵀ). */
  norm(): number {
    const [a, b] = [gram(this.A.transpose(0, 1)), gram(this.B)];
    const sum = a.reduce((total, value, at) => total + value * (b[at] as number), 0);
    return Math.sqrt(Math.max(sum, 0));
  }
  /** The singular value decomposition, without forming the product: k = min(m, r, n). */
  svd(): Promise<SingularValues> {
    return svd(this.A, this.B);
  }
}

/** The products of all pairs of rows. */
function gram({ data, dims }: Tensor<'float32'>): Float64Array {
  const [rows = 0, width = 0] = dims;
  return Float64Array.from({ length: rows * rows }, (_, at) => {
    const [one, other] = [Math.floor(at / rows) * width, (at % rows) * width];
    let sum = 0;
    for (let i = 0; i < width; i++) sum += (data[one + i] as number) * (data[other + i] as number);
    return sum;
  });
}
