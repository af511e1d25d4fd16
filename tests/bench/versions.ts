// Installed versions of the peers and of our package.

import { readFileSync } from 'node:fs';
import { inProject } from '../../scripts/build/fresh.js';

const versionIn = (path: string): string => {
  try {
    return JSON.parse(readFileSync(inProject(path), 'utf8')).version;
  } catch {
    return 'not installed';
  }
};

export const versions = {
  clearformer: versionIn('package.json'),
  'onnxruntime-web': versionIn('tests/bench/node_modules/onnxruntime-web/package.json'),
  wllama: versionIn('tests/bench/node_modules/@wllama/wllama/package.json'),
  'onnxruntime-node': versionIn('tests/bench/node_modules/onnxruntime-node/package.json'),
  'tfjs-backend-wasm': versionIn('tests/bench/node_modules/@tensorflow/tfjs-backend-wasm/package.json'),
};
