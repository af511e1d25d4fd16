// Products and attention, each beside the machine's peak rate for it.

import { attentionForms } from '../onnx/operations.js';
import type { Contender, DType, Engine, Input, Item } from '../types.js';
import { onnxruntime, precisions, tensorflow, variantsOf, work } from './contenders.js';

type Size = Readonly<Record<'m' | 'k' | 'n', number>>;

const singleRow = [1, 768, 50257] as const;
const productSizes: readonly (readonly [number, number, number])[] = [
  [128, 384, 384],
  [128, 384, 1536],
  [128, 768, 3072],
  [512, 768, 768],
  [1024, 1024, 1024],
  singleRow,
];
const lengthPlaces = [128, 512, 1024, 2048, 4096];
const headCount = 12;
const headSize = 64;
/** For causal attention GroupQueryAttention was six times slower than MultiHeadAttention: only short ones are shown. */
const groupQueryLongest = 512;
const tensorflowLongest = 1024; // 3.9 s per run at 2048: it materialises all scores

/** The peak rate for a kernel, by build and type. */
const limitNames: Readonly<Record<string, Partial<Record<DType, string>>>> = {
  simd128: { fp32: 'peak_f32', q8: 'peak_i16', q4: 'peak_i16' },
  relaxed: { fp32: 'peak_f32_relaxed', q8: 'peak_i8', q4: 'peak_i8' },
  avx2: { fp32: 'peak_f32' },
  avx512: { fp32: 'peak_f32', q8: 'peak_i8', q4: 'peak_i8' },
};
const kernelNames: Readonly<Record<DType, string>> = {
  fp32: 'matmul',
  fp16: 'matmul_fp16',
  q8: 'matmul_q8',
  q4: 'matmul_q4',
};
/** Bytes of a weight, relative to a float: a single-row product is compared with reading as many. */
const bytesOf: Readonly<Record<DType, number>> = { fp32: 1, fp16: 1 / 2, q8: 1 / 4, q4: 18 / 32 / 4 };

function limitOf(variant: string, dtype: DType, { m, k, n }: Size, engine: Engine): Contender[] {
  const streams = m === 1;
  const limit = streams ? 'peak_stream' : limitNames[variant]?.[dtype];
  if (limit === undefined) return [];
  const input = { work: limit, m, k, n: streams ? Math.round(n * bytesOf[dtype]) : n };
  return [work({ name: `limit ${dtype} (${limit})`, role: 'limit', dtype, variant, input }, engine)];
}

function productItem([m, k, n]: readonly [number, number, number], dtype: DType): Item {
  const size = { m, k, n };
  return {
    id: `matmul-${m}x${k}x${n}-${dtype}`,
    part: 'matmul',
    title: `MatMul ${m}×${k}×${n}, ${dtype}`,
    amount: { gflop: (2 * m * k * n) / 1e9 },
    contenders(setting) {
      const { engine } = setting;
      const kernels = variantsOf(engine).flatMap((variant) => [
        work(
          { name: `kernel ${dtype}`, role: 'ours', dtype, variant, input: { work: kernelNames[dtype], ...size } },
          engine,
        ),
        ...limitOf(variant, dtype, size, engine),
      ]);
      const precision = precisions[dtype];
      const input: Input = { kind: 'product', ...size };
      const peers = [onnxruntime({ dtype, make: { make: 'product', ...size, precision }, input }, setting)];
      if (dtype === 'fp32' && engine !== 'native') peers.push(tensorflow(input, setting));
      return [...kernels, ...peers];
    },
  };
}

function attentionItem(n: number, causal: boolean): Item {
  const shape = { n, heads: headCount, d: headSize };
  const multiplyAdds = headCount * n * n * headSize * 2;
  return {
    id: `attention-${n}${causal ? '-causal' : ''}`,
    part: 'attention',
    title: `Attention ${headCount} × ${headSize}, n = ${n}${causal ? ', causal' : ''}`,
    amount: { gflop: (2 * multiplyAdds) / 1e9 / (causal ? 2 : 1) },
    contenders(setting) {
      const { engine } = setting;
      const name = causal ? 'attention_causal' : 'attention';
      const input = { work: name, m: headCount, k: headSize, n };
      const kernels = variantsOf(engine).flatMap((variant) => [
        work({ name: 'kernel fp32', role: 'ours', dtype: 'fp32', variant, input }, engine),
        // As many operations as a product of (n, d) by (d, 2 · heads · n): the two of attention.
        ...limitOf(variant, 'fp32', { m: n, k: headSize, n: (causal ? 1 : 2) * headCount * n }, engine),
      ]);
      const fed: Input = { kind: 'attention', ...shape };
      const forms = attentionForms[causal ? 'causal' : 'plain'].filter(
        (form) => n <= groupQueryLongest || form === 'MultiHeadAttention',
      );
      const peers = forms.map((form) =>
        onnxruntime(
          { name: form, dtype: 'fp32', make: { make: 'attention', ...shape, causal, form }, input: fed },
          setting,
        ),
      );
      if (!causal && engine !== 'native' && n <= tensorflowLongest) peers.push(tensorflow(fed, setting));
      return [...kernels, ...peers];
    },
  };
}

export const operationItems = [
  ...(['fp32', 'q8', 'q4'] as const).flatMap((dtype) => productSizes.map((size) => productItem(size, dtype))),
  productItem(singleRow, 'fp16'),
  ...[false, true].flatMap((causal) => lengthPlaces.map((n) => attentionItem(n, causal))),
];
