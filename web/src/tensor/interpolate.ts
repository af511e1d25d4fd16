// Resizes images as tensors, like torch's interpolate without align_corners and antialias: one pass along the rows, one
// along the columns.
//   out(i) = Σ_j w(j) · in(first + j) around c = (i + 1/2)·n/n' - 1/2, with edges replicated
// Cubic convolution (Keys 1981) with a = -3/4, as in torch.

import { ClearformerError } from '../support/error.js';
import { checkOptions, expectArgument, expectKnown } from '../support/options.js';
import { listed } from './elements.js';
import { exportedTensor } from './exported_tensor.js';
import { Tensor } from './tensor.js';

/** How values between pixels are interpolated. */
export type InterpolationMode = 'nearest' | 'bilinear' | 'bicubic';

type Weights = (fraction: number) => readonly number[];

const a = -0.75;
const near = (x: number) => ((a + 2) * x - (a + 3)) * x * x + 1;
const far = (x: number) => ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;

/** The weights of four pixels, starting one before the centre's; `bilinear` uses only the middle two. */
const kernels: Readonly<Record<'bilinear' | 'bicubic', Weights>> = {
  bilinear: (x) => [0, 1 - x, x, 0],
  bicubic: (x) => [far(x + 1), near(x), near(1 - x), far(2 - x)],
};

/** Resizes one axis of data [outer, from, inner] to `to` elements. */
function along(
  data: Float32Array,
  [outer, from, inner]: readonly [number, number, number],
  to: number,
  mode: InterpolationMode,
): Float32Array {
  const out = new Float32Array(outer * to * inner);
  for (let i = 0; i < to; i++) {
    const nearest = Math.min(Math.floor(Math.fround(i * Math.fround(from / to))), from - 1); // torch's rounding
    const exact = ((i + 0.5) * from) / to - 0.5;
    const center = mode === 'bilinear' ? Math.max(exact, 0) : exact;
    const first = mode === 'nearest' ? nearest : Math.floor(center) - 1;
    const weights = mode === 'nearest' ? [1] : kernels[mode](center - Math.floor(center));
    for (let o = 0; o < outer; o++) {
      for (let n = 0; n < inner; n++) {
        let sum = 0;
        weights.forEach((weight, j) => {
          const at = Math.min(Math.max(first + j, 0), from - 1);
          sum += weight * (data[(o * from + at) * inner + n] as number);
        });
        out[(o * to + i) * inner + n] = sum;
      }
    }
  }
  return out;
}

function resized(call: string, input: Tensor, size: readonly number[], mode: InterpolationMode): Tensor<'float32'> {
  const [height, width] = size as [number, number];
  expectKnown(call, 'mode', mode, ['nearest', ...Object.keys(kernels)]);
  if (![height, width].every((extent) => Number.isInteger(extent) && extent > 0)) {
    throw new ClearformerError('invalid_argument', `${call}: size must be [height, width] in pixels`, {
      option: 'size',
    });
  }
  const [rows, columns] = input.dims.slice(-2) as [number, number];
  const planes = input.dims.slice(0, -2);
  const count = planes.reduce((product, extent) => product * extent, 1);
  if (count * Math.max(rows, height) * width > 2 ** 30) {
    throw new ClearformerError('out_of_memory', `${call}: [${height}, ${width}] has more than ${2 ** 30} elements`);
  }
  const wide = along(input.to('float32').data, [count * rows, columns, 1], width, mode);
  const data = along(wide, [count, rows, width], height, mode);
  return new Tensor('float32', data, [...planes, height, width]);
}

/** Resizes an image [channel, height, width] to [height, width]. */
export function interpolate(
  image: Tensor,
  size: readonly [number, number],
  mode: InterpolationMode = 'bilinear',
): Tensor<'float32'> {
  const input = exportedTensor('interpolate', image);
  expectArgument('interpolate', Array.isArray(size), 'a size [height, width]', size);
  if (input.dims.length !== 3) {
    const message = `interpolate: needs dims [channel, height, width], got [${input.dims.join(', ')}]`;
    throw new ClearformerError('shape_mismatch', message);
  }
  return resized('interpolate', input, size, mode);
}

/** Options of `interpolate_4d`. */
export interface InterpolateOptions {
  /** [height, width] in pixels, optionally preceded by the unchanged leading axes. */
  size: readonly number[];
  /** Default `bilinear`. */
  mode?: InterpolationMode | undefined;
}

/** Resizes images [batch, channel, height, width]. */
export async function interpolate_4d(images: Tensor, options: InterpolateOptions): Promise<Tensor<'float32'>> {
  const { size = [], mode = 'bilinear' } = options ?? {};
  const input = exportedTensor('interpolate_4d', images);
  checkOptions('interpolate_4d', options, ['size', 'mode']);
  expectArgument('interpolate_4d', Array.isArray(size), 'a size [height, width]', size);
  const leading = [...input.dims.slice(0, 4 - size.length), ...size].slice(0, 2);
  if (input.dims.length !== 4 || leading.some((extent, axis) => extent !== input.dims[axis])) {
    const message = `interpolate_4d: dims [${input.dims.join(', ')}] do not fit size ${listed(size)}`;
    throw new ClearformerError('shape_mismatch', message);
  }
  return resized('interpolate_4d', input, size.slice(-2), mode);
}
