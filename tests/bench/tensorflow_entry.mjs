// What of TensorFlow.js the contenders use, as one file for a page.

export { setThreadsCount, setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
export * from '@tensorflow/tfjs-core';
