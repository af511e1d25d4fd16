// Products and attention, each beside the machine's limit for it.

import { ATTENTION_FORMS } from '../onnx/operations.mjs';
import { onnxruntime, tensorflow, variantsOf, work } from './contenders.mjs';

const PRODUCTS = [
  [128, 384, 384],
  [128, 384, 1536],
  [128, 768, 3072],
  [512, 768, 768],
  [1024, 1024, 1024],
  [1, 768, 50257],
];
const LENGTHS = [128, 512, 1024, 2048, 4096];
const HEADS = 12;
const HEAD_SIZE = 64;
/** For causal attention GroupQueryAttention was six times slower than MultiHeadAttention: shown, but not for long. */
const GROUP_QUERY_LONGEST = 512;
const TENSORFLOW_LONGEST = 1024; // 3.9 s a run at 2048: it holds all scores

/** Which limit a kernel has, by build and type. */
const LIMITS = {
  simd128: { fp32: 'peak_f32', q8: 'peak_i16', q4: 'peak_i16' },
  relaxed: { fp32: 'peak_f32_relaxed', q8: 'peak_i8', q4: 'peak_i8' },
  avx2: { fp32: 'peak_f32' },
  avx512: { fp32: 'peak_f32', q8: 'peak_i8', q4: 'peak_i8' },
};
const KERNELS = { fp32: 'matmul', q8: 'matmul_q8', q4: 'matmul_q4' };
/** Bytes of a weight, against those of a float: what a product of one row streams. */
const BYTES = { fp32: 1, q8: 1 / 4, q4: 18 / 32 / 4 };

function limitOf(variant, dtype, { m, k, n }, engine) {
  const streams = m === 1;
  const limit = streams ? 'peak_stream' : LIMITS[variant][dtype];
  if (limit === undefined) return [];
  const input = { work: limit, m, k, n, scale: streams ? BYTES[dtype] : 1 };
  return [work({ name: `limit ${dtype} (${limit})`, role: 'limit', dtype, variant, input }, engine)];
}

function productItem([m, k, n], dtype) {
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
          { name: `kernel ${dtype}`, role: 'ours', dtype, variant, input: { work: KERNELS[dtype], ...size } },
          engine,
        ),
        ...limitOf(variant, dtype, size, engine),
      ]);
      const precision = { fp32: 'fp32', q8: 'int8', q4: 'int4' }[dtype];
      const input = { kind: 'product', ...size };
      const peers = [onnxruntime({ dtype, make: { make: 'product', ...size, precision }, input }, setting)];
      if (dtype === 'fp32' && engine !== 'native') peers.push(tensorflow(input, setting));
      return [...kernels, ...peers];
    },
  };
}

function attentionItem(n, causal) {
  const shape = { n, heads: HEADS, d: HEAD_SIZE };
  const multiplyAdds = HEADS * n * n * HEAD_SIZE * 2;
  return {
    id: `attention-${n}${causal ? '-causal' : ''}`,
    part: 'attention',
    title: `Attention ${HEADS} × ${HEAD_SIZE}, n = ${n}${causal ? ', causal' : ''}`,
    amount: { gflop: (2 * multiplyAdds) / 1e9 / (causal ? 2 : 1) },
    contenders(setting) {
      const { engine } = setting;
      const name = causal ? 'attention_causal' : 'attention';
      const input = { work: name, m: HEADS, k: HEAD_SIZE, n };
      const kernels = variantsOf(engine).flatMap((variant) => [
        work({ name: 'kernel fp32', role: 'ours', dtype: 'fp32', variant, input }, engine),
        // As many operations as a product of (n, d) by (d, 2 · heads · n): both of attention's.
        ...limitOf(variant, 'fp32', { m: n, k: HEAD_SIZE, n: (causal ? 1 : 2) * HEADS * n }, engine),
      ]);
      const fed = { kind: 'attention', ...shape };
      const forms = ATTENTION_FORMS[causal ? 'causal' : 'plain'].filter(
        (form) => n <= GROUP_QUERY_LONGEST || form === 'MultiHeadAttention',
      );
      const peers = forms.map((form) =>
        onnxruntime(
          { name: form, dtype: 'fp32', make: { make: 'attention', ...shape, causal, form }, input: fed },
          setting,
        ),
      );
      if (!causal && engine !== 'native' && n <= TENSORFLOW_LONGEST) peers.push(tensorflow(fed, setting));
      return [...kernels, ...peers];
    },
  };
}

export const operationItems = [
  ...['fp32', 'q8', 'q4'].flatMap((dtype) => PRODUCTS.map((size) => productItem(size, dtype))),
  ...[false, true].flatMap((causal) => LENGTHS.map((n) => attentionItem(n, causal))),
];
