// The contenders: ours in each build, and the peers. A contender is { name, role, library, make?, spec }: `make` says
// what it loads (models/make.ts), `spec` is opened by contenders/.

import { ggufTypes } from '../models/gguf.js';
import type {
  Contender,
  DType,
  Engine,
  Input,
  Item,
  ModelName,
  Pace,
  Precision,
  Setting,
  Source,
  Spec,
  Task,
} from '../types.js';

const variants = ['simd128', 'relaxed'];
const targets = ['avx512', 'avx2'];
export const precisions: Readonly<Record<DType, Precision>> = { fp32: 'fp32', q8: 'int8', q4: 'int4', fp16: 'fp32' };

/**
 * The contenders of an item; in quick runs as WebAssembly without peers that take most of the time and came first
 * nowhere.
 */
export function contendersOf(item: Item, setting: Setting, { quick = false }: Pick<Pace, 'quick'>): Contender[] {
  const isSlow = ({ peer, dtype, spec }: Contender): boolean =>
    peer === 'wllama' || (peer !== undefined && dtype === 'q4') || spec.keepCache === true;
  return item.contenders(setting).filter((contender) => !(quick && setting.engine !== 'native' && isSlow(contender)));
}

/** Our package, in both builds; if with several threads, beside itself with one. */
interface Ours {
  task: Task;
  model: ModelName;
  input: Input;
  dtypes: readonly DType[];
}

export function ours({ task, model, input, dtypes }: Ours, { engine, threads }: Setting): Contender[] {
  const make: Source = { make: 'checkpoint', model };
  if (engine === 'native')
    return targets.flatMap((target) =>
      dtypes.map((dtype) => ({
        name: `clearformer ${target} ${dtype}`,
        role: 'ours',
        dtype,
        variant: target,
        make,
        spec: { kind: 'native', library: '', target, task, dtype, threads, input },
      })),
    );
  const builds = variants.flatMap((variant) =>
    dtypes.map(
      (dtype): Contender => ({
        name: `clearformer ${variant} ${dtype}`,
        role: 'ours',
        dtype,
        variant,
        make,
        spec: { kind: 'clearformer', library: 'clearformer', variant, task, dtype, threads, input, cache: 'none' },
      }),
    ),
  );
  if (threads === 1) return builds;
  const alone = builds.map((one) => ({
    ...one,
    name: `${one.name}, one thread`,
    threads: 1,
    spec: { ...one.spec, threads: 1 },
  }));
  return [...builds, ...alone];
}

/** A single kernel or peak rate; `name` is shown. */
interface Work {
  name: string;
  role: 'ours' | 'limit';
  dtype: DType;
  variant: string;
  input: Input;
}

export function work({ name, role, dtype, variant, input }: Work, engine: Engine): Contender {
  const spec: Spec =
    engine === 'native'
      ? { kind: 'native', library: '', threads: 1, target: variant, input }
      : { kind: 'kernels', library: 'kernels', threads: 1, variant, share: `kernels ${variant}`, input };
  return { name: `${name} ${variant}`, role, dtype, variant, spec };
}

export const variantsOf = (engine: Engine): readonly string[] => (engine === 'native' ? targets : variants);

/** onnxruntime on a graph; natively its build for Node. */
interface Peer {
  name?: string;
  dtype: DType;
  make: Source;
  input: Input;
  keepCache?: boolean;
}

export function onnxruntime(
  { name = '', dtype, make, input, keepCache = false }: Peer,
  { engine, threads }: Setting,
): Contender {
  const runtime = engine === 'native' ? 'native' : 'web';
  const label = runtime === 'native' ? 'onnxruntime-node' : 'onnxruntime-web';
  return {
    name: [label, precisions[dtype], name].filter(Boolean).join(' '),
    role: 'peer',
    peer: label,
    dtype,
    make,
    spec: { kind: 'onnxruntime', library: 'onnxruntime', runtime, threads, input, keepCache },
  };
}

/** wllama (llama.cpp), which runs in browsers only. */
export function wllama(
  { task, model, dtype, input }: { task: Task; model: ModelName; dtype: DType; input: Input },
  { threads }: Setting,
): Contender {
  const precision = precisions[dtype];
  return {
    name: `wllama ${ggufTypes[precision]}`,
    role: 'peer',
    peer: 'wllama',
    dtype,
    make: { make: 'gguf', model, precision },
    spec: { kind: 'wllama', library: 'wllama', threads, task, dtype, input },
  };
}

export function tensorflow(input: Input, { threads }: Setting): Contender {
  return {
    name: 'tfjs-wasm fp32',
    role: 'peer',
    peer: 'tfjs-wasm',
    dtype: 'fp32',
    spec: { kind: 'tensorflow', library: 'tensorflow', threads, input },
  };
}
