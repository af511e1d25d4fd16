// Versions of the peers and of ours, as they are installed.
import { readFileSync } from 'node:fs';

const versionIn = (path) => {
  try {
    return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')).version;
  } catch {
    return 'not installed';
  }
};

export const versions = {
  clearformer: versionIn('../../package.json'),
  'onnxruntime-web': versionIn('node_modules/onnxruntime-web/package.json'),
  'onnxruntime-node': versionIn('node_modules/onnxruntime-node/package.json'),
  'tfjs-backend-wasm': versionIn('node_modules/@tensorflow/tfjs-backend-wasm/package.json'),
};
