// The paths of a contender's code and files, for each host.

import { inProject } from '../../../scripts/build/fresh.js';
import type { Spec } from '../types.js';

const peersFolder = 'tests/bench/node_modules';
/** The contenders for a page, and for a process: the latter is where it finds the peers' packages. */
export const pageContenders = 'build/bench/contender.js';
export const childScript = `${peersFolder}/.bench/child.mjs`;

type Where = 'web' | 'node';

export const tensorflowFiles: Readonly<Record<Where, string>> = {
  web: 'build/bench/tensorflow.js',
  node: `${peersFolder}/.bench/tensorflow.cjs`,
};

const libraryFiles: Readonly<Record<string, (spec: Spec, where: Where) => string>> = {
  kernels: ({ variant }) => `build/wasm/tests/bench/clearformer-bench-${variant}.mjs`,
  // Start-up is measured bundled: a page does not load two dozen files.
  clearformer: ({ kind }, where) =>
    kind === 'startup' || (kind === 'loading' && where === 'web') ? 'build/bench/own/index.js' : 'dist/index.js',
  onnxruntime: () => `${peersFolder}/onnxruntime-web/dist/ort.wasm.min.mjs`,
  tensorflow: (_, where) => tensorflowFiles[where],
  wllama: () => `${peersFolder}/@wllama/wllama/esm/index.js`,
};
const wasmFolders: Readonly<Record<string, string>> = {
  onnxruntime: `${peersFolder}/onnxruntime-web/dist/`,
  tensorflow: `${peersFolder}/@tensorflow/tfjs-backend-wasm/dist/`,
  wllama: `${peersFolder}/@wllama/wllama/esm/wasm/`,
};

/**
 * The same spec with paths for a page ('web') or for a process ('node'). `path` is what the contender loads, if any.
 */
export function placed(spec: Spec, path: string | undefined, where: Where): Spec {
  const at = (file: string): string => (where === 'web' ? `/files/${file}` : inProject(file));
  const name = String(spec.library);
  const file = libraryFiles[name]?.(spec, where);
  if (file === undefined) throw new Error(`no library is called ${name}`);
  const result: Spec = { ...spec, library: at(file) };
  const folder = wasmFolders[name];
  if (folder) result.wasmFolder = at(folder);
  if (spec.library === 'onnxruntime' && where === 'node') {
    result.library = 'onnxruntime-web';
    delete result.wasmFolder;
  }
  if (path === undefined) return result;
  if (spec.library === 'clearformer') result.checkpoint = at(path);
  else result.graph = at(path);
  return result;
}
