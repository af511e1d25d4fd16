// Where a contender's code and files are, as each host reads them.
import { inProject } from '../../../scripts/build/fresh.mjs';

const PEERS = 'tests/bench/node_modules';
const TENSORFLOW = { web: 'build/bench/tensorflow.js', node: 'tests/bench/tensorflow_node.cjs' };

const LIBRARIES = {
  kernels: ({ variant }) => `build/wasm/tests/bench/clearformer-bench-${variant}.mjs`,
  // Start-up is measured as bundled: a page does not fetch two dozen files.
  clearformer: ({ kind }) => (kind === 'startup' ? 'build/bench/own/index.js' : 'dist/index.js'),
  onnxruntime: () => `${PEERS}/onnxruntime-web/dist/ort.wasm.min.mjs`,
  tensorflow: (_, where) => TENSORFLOW[where],
};
const WASM_FOLDERS = {
  onnxruntime: `${PEERS}/onnxruntime-web/dist/`,
  tensorflow: `${PEERS}/@tensorflow/tfjs-backend-wasm/dist/`,
};

/** The same spec with paths for a page ('web') or for a process ('node'). `path` is what the contender loads, if any. */
export function placed(spec, path, where) {
  const at = (name) => (where === 'web' ? `/files/${name}` : inProject(name));
  const result = { ...spec, library: at(LIBRARIES[spec.library](spec, where)) };
  const folder = WASM_FOLDERS[spec.library];
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
