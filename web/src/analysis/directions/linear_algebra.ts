// Small dense linear algebra in float64: what probes and control vectors are computed with. Matrices are row-major.

/** The eigenvalues of a symmetric matrix [n, n], largest first, and its eigenvectors as rows. */
export interface Eigen {
  values: Float64Array;
  vectors: Float64Array;
}

/** Cyclic Jacobi rotations (Golub & Van Loan, section 8.5): off-diagonal elements end below 2^-50 of the norm. */
export function symmetricEigen(matrix: Float64Array, n: number): Eigen {
  const a = matrix.slice();
  const v = new Float64Array(n * n);
  for (let i = 0; i < n; i++) v[i * n + i] = 1;
  const norm = Math.sqrt(a.reduce((sum, value) => sum + value * value, 0));
  for (let sweep = 0; sweep < 60; sweep++) {
    let largest = 0;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        largest = Math.max(largest, Math.abs(a[p * n + q] as number));
        rotate(a, v, n, p, q);
      }
    }
    if (largest <= norm * 2 ** -50) break;
  }
  const order = Array.from({ length: n }, (_, i) => i).sort(
    (i, j) => (a[j * n + j] as number) - (a[i * n + i] as number),
  );
  const vectors = new Float64Array(n * n);
  for (const [to, from] of order.entries()) vectors.set(v.subarray(from * n, (from + 1) * n), to * n);
  return { values: Float64Array.from(order, (i) => a[i * n + i] as number), vectors };
}

/** Makes a[p, q] zero. Rows of v turn with the columns of a. */
function rotate(a: Float64Array, v: Float64Array, n: number, p: number, q: number): void {
  const off = a[p * n + q] as number;
  if (off === 0) return;
  const theta = ((a[q * n + q] as number) - (a[p * n + p] as number)) / (2 * off);
  const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  const turn = (of: Float64Array, i: number, j: number) => {
    const [x, y] = [of[i] as number, of[j] as number];
    of[i] = c * x - s * y;
    of[j] = s * x + c * y;
  };
  for (let k = 0; k < n; k++) turn(a, k * n + p, k * n + q);
  for (let k = 0; k < n; k++) {
    turn(a, p * n + k, q * n + k);
    turn(v, p * n + k, q * n + k);
  }
}

/** x with A·x = b for a symmetric positive definite A [n, n] and b [n, columns], by Cholesky; undefined if it is not. */
export function solvePositive(matrix: Float64Array, b: Float64Array, n: number): Float64Array | undefined {
  const l = matrix.slice();
  const columns = b.length / n;
  for (let j = 0; j < n; j++) {
    for (let i = j; i < n; i++) {
      let sum = l[i * n + j] as number;
      for (let k = 0; k < j; k++) sum -= (l[i * n + k] as number) * (l[j * n + k] as number);
      if (i === j && !(sum > 0)) return undefined;
      l[i * n + j] = i === j ? Math.sqrt(sum) : sum / (l[j * n + j] as number);
    }
  }
  const x = b.slice();
  for (let column = 0; column < columns; column++) {
    const at = (i: number) => i * columns + column;
    for (let i = 0; i < n; i++) {
      let sum = x[at(i)] as number;
      for (let k = 0; k < i; k++) sum -= (l[i * n + k] as number) * (x[at(k)] as number);
      x[at(i)] = sum / (l[i * n + i] as number);
    }
    for (let i = n - 1; i >= 0; i--) {
      let sum = x[at(i)] as number;
      for (let k = i + 1; k < n; k++) sum -= (l[k * n + i] as number) * (x[at(k)] as number);
      x[at(i)] = sum / (l[i * n + i] as number);
    }
  }
  return x;
}

/** rows · rowsᵀ [n, n] of a matrix [n, width]. */
export function gram(rows: Float64Array, n: number, width: number): Float64Array {
  const products = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = 0;
      for (let k = 0; k < width; k++) sum += (rows[i * width + k] as number) * (rows[j * width + k] as number);
      products[i * n + j] = sum;
      products[j * n + i] = sum;
    }
  }
  return products;
}

/** The transpose of a matrix [n, width]. */
export function transposed(rows: Float64Array, n: number, width: number): Float64Array {
  return Float64Array.from(rows, (_, at) => rows[(at % n) * width + Math.floor(at / n)] as number);
}

/** The mean of the rows of a matrix [n, width]. */
export function meanRow(rows: Float64Array, n: number, width: number): Float64Array {
  const mean = new Float64Array(width);
  rows.forEach((value, at) => {
    mean[at % width] = (mean[at % width] as number) + value / n;
  });
  return mean;
}

/**
 * The direction [width] in which rows [n, width] vary most around their mean: a unit vector whose largest element is
 * positive. Zeros if the rows are equal.
 */
export function principalDirection(rows: Float64Array, n: number, width: number): Float64Array {
  const mean = meanRow(rows, n, width);
  const centred = rows.map((value, at) => value - (mean[at % width] as number));
  if (n > width) {
    const { vectors } = symmetricEigen(gram(transposed(centred, n, width), width, n), width);
    return unit(vectors.slice(0, width));
  }
  const { vectors } = symmetricEigen(gram(centred, n, width), n);
  const direction = new Float64Array(width);
  centred.forEach((value, at) => {
    direction[at % width] = (direction[at % width] as number) + value * (vectors[Math.floor(at / width)] as number);
  });
  return unit(direction);
}

function unit(direction: Float64Array): Float64Array {
  const norm = Math.sqrt(direction.reduce((sum, value) => sum + value * value, 0));
  if (norm === 0) return direction;
  const largest = direction.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0);
  return direction.map((value) => (Math.sign(largest) * value) / norm);
}
