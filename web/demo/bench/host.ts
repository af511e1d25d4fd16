// The page as a host of the bench: contenders run in the page, on files that are made when they are opened.

import * as clearformer from 'clearformer';
import { open as openClearformer } from '../../../tests/bench/contenders/clearformer.js';
import { dataName, open as openOrt } from '../../../tests/bench/contenders/onnxruntime.js';
import { averaged, type Running } from '../../../tests/bench/contenders/running.js';
import { checkpointFiles } from '../../../tests/bench/models/checkpoint.js';
import { shapes } from '../../../tests/bench/models/shapes.js';
import { randomWeights, type Weights } from '../../../tests/bench/models/weights.js';
import { modelGraph } from '../../../tests/bench/onnx/models.js';
import { type Bytes, joined } from '../../../tests/bench/onnx/protobuf.js';
import type { Files, Host, ModelName, Opened, Source, Spec } from '../../../tests/bench/types.js';
import { loadOnnxruntime } from '../chapters/cost/onnxruntime.js';

/** The weights of the last model: its contenders share them. */
let latest: { model: ModelName; weights: Weights } | undefined;

function weightsOf(model: ModelName): Weights {
  if (latest?.model !== model) latest = { model, weights: randomWeights(shapes[model]) };
  return latest.weights;
}

/** In memory: a browser that writes large blobs to its disk may have no room for GPT-2. */
function filesOf(model: ModelName): Files {
  const files = Object.entries(checkpointFiles(shapes[model], weightsOf(model)));
  const bytes = (part: string | Bytes): Bytes => (typeof part === 'string' ? new TextEncoder().encode(part) : part);
  return Object.fromEntries(files.map(([name, parts]) => [name, joined(parts.map(bytes))]));
}

async function opened(spec: Spec, source: Source): Promise<Running> {
  if (source.make === 'checkpoint')
    return openClearformer({ ...spec, library: clearformer, checkpoint: filesOf(source.model) });
  if (source.make !== 'model') throw new TypeError(`the page makes no ${source.make}`);
  const { model, precision } = source;
  const library = await loadOnnxruntime();
  if (!library) throw new TypeError('this copy of the page has no onnxruntime-web');
  const { graph, data } = modelGraph(shapes[model], weightsOf(model), precision).external(dataName.replace('.bin', ''));
  return openOrt({ ...spec, library: library.ort, graph: { graph, data: joined(data) } });
}

/** `path` is the source as JSON. After `signal` nothing is started. */
export const pageHost = (signal: AbortSignal): Host => ({
  version: navigator.userAgent,
  async open(_, spec, path = ''): Promise<Opened> {
    signal.throwIfAborted();
    const running = await opened(spec, JSON.parse(path) as Source);
    return {
      about: running.about,
      sample: async () => running.sample(),
      async time(budget) {
        signal.throwIfAborted();
        await new Promise((resolve) => setTimeout(resolve, 0)); // the page stays usable
        return averaged(running, budget);
      },
      close: async () => void (await running.close()),
    };
  },
  stop: async () => {
    latest = undefined;
  },
});

/** The instructions, threads and version with which the package runs here. */
export async function ownDevice(): Promise<clearformer.ModelInfo> {
  const model = await clearformer.AutoModelForCausalLM.from_pretrained(filesOf('gpt2-tiny'));
  try {
    return model.info();
  } finally {
    await model.dispose();
  }
}
