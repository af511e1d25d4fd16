// The same for Node, where the packages find their files themselves.
const core = require('@tensorflow/tfjs-core');
const { setThreadsCount } = require('@tensorflow/tfjs-backend-wasm');

module.exports = { ...core, setThreadsCount, setWasmPaths() {} };
