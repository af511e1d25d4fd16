// Who takes part: ours in each build, and the peers. A contender is { name, role, library, make?, spec }: `make` says
// what it loads (models/make.mjs), `spec` is what contenders/ opens.

const VARIANTS = ['simd128', 'relaxed'];
const TARGETS = ['avx512', 'avx2'];
export const PRECISIONS = { fp32: 'fp32', q8: 'int8', q4: 'int4' };

/** Ours through the package, in both builds. */
export function ours({ task, model, input, dtypes }, { engine, threads }) {
  const make = { make: 'checkpoint', model };
  if (engine === 'native')
    return TARGETS.flatMap((target) =>
      dtypes.map((dtype) => ({
        name: `clearformer ${target} ${dtype}`,
        role: 'ours',
        dtype,
        variant: target,
        make,
        spec: { kind: 'native', target, task, dtype, threads, input },
      })),
    );
  return VARIANTS.flatMap((variant) =>
    dtypes.map((dtype) => ({
      name: `clearformer ${variant} ${dtype}`,
      role: 'ours',
      dtype,
      variant,
      make,
      spec: { kind: 'clearformer', library: 'clearformer', variant, task, dtype, threads, input, cache: 'none' },
    })),
  );
}

/** A kernel or a limit by itself; `name` is what is shown. */
export function work({ name, role, dtype, variant, input }, engine) {
  const spec =
    engine === 'native'
      ? { kind: 'native', target: variant, input }
      : { kind: 'kernels', library: 'kernels', variant, share: `kernels ${variant}`, input };
  return { name: `${name} ${variant}`, role, dtype, variant, spec };
}

export const variantsOf = (engine) => (engine === 'native' ? TARGETS : VARIANTS);

/** onnxruntime on a graph; natively its build for Node. */
export function onnxruntime({ name = '', dtype, make, input, keepCache = false }, { engine, threads }) {
  const runtime = engine === 'native' ? 'native' : 'web';
  const label = runtime === 'native' ? 'onnxruntime-node' : 'onnxruntime-web';
  return {
    name: [label, PRECISIONS[dtype] ?? dtype, name].filter(Boolean).join(' '),
    role: 'peer',
    peer: label,
    dtype,
    make,
    spec: { kind: 'onnxruntime', library: 'onnxruntime', runtime, threads, input, keepCache },
  };
}

export function tensorflow(input, { threads }) {
  return {
    name: 'tfjs-wasm fp32',
    role: 'peer',
    peer: 'tfjs-wasm',
    dtype: 'fp32',
    spec: { kind: 'tensorflow', library: 'tensorflow', threads, input },
  };
}
