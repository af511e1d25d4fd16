// Our package as a user runs it: in a worker on a page, in the main thread in Node.

import type { KeyValueCache, LoadOptions, ModelInfo, ModelInputs, Tensor } from 'clearformer';
import type { Files, Input, Spec, Task } from '../types.js';
import { imported } from './imported.js';
import { sampled, tokenRows, values } from './inputs.js';
import type { Running } from './running.js';

/** The tensor that represents a task's outputs. */
type Floats = Tensor<'float32'>;

/** The interface of our models that the tasks use. */
interface Model {
  (
    inputs: ModelInputs,
    options?: { use_cache?: boolean },
  ): Promise<{
    last_hidden_state?: Floats | undefined;
    logits?: Floats | undefined;
    past_key_values?: KeyValueCache | undefined;
  }>;
  generate(inputs: ModelInputs, options: object): Promise<{ logits?: Floats[]; past_key_values?: KeyValueCache }>;
  run_with_cache(inputs: ModelInputs, options: { names_filter: string }): Promise<[Floats, unknown]>;
  info(): ModelInfo;
  dispose(): Promise<void>;
}

/** A task on its input: `values` are compared, `after` is not timed. */
interface Work {
  run(): Promise<unknown>;
  after?: () => Promise<unknown>;
  values(): Promise<Float32Array>;
}

type Making = (model: Model, input: Required<Input>) => Work | Promise<Work>;

/** A required part of an output. */
function given<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('the model left out what is measured');
  return part;
}

const classNames: Readonly<Record<Task, string>> = {
  encode: 'AutoModel',
  prefill: 'AutoModelForCausalLM',
  decode: 'AutoModelForCausalLM',
  image: 'AutoModelForImageClassification',
  watch: 'AutoModel',
};

function loadOptions({ variant, threads, dtype, cache }: Spec): LoadOptions {
  const options: LoadOptions = { deterministic: variant === 'simd128', numThreads: threads };
  if (dtype && dtype !== 'fp32') options.dtype = dtype;
  if (cache) options.cache = cache;
  return options;
}

const tasks: Readonly<Record<Task, Making>> = {
  encode(model, { batch, length, vocabulary }) {
    const input_ids = tokenRows(batch, length, vocabulary);
    const run = () => model({ input_ids });
    return { run, values: async () => given((await run()).last_hidden_state).data };
  },
  prefill(model, { length, vocabulary }) {
    const input_ids = tokenRows(1, length, vocabulary);
    const options = { max_new_tokens: 1, do_sample: false };
    return {
      run: () => model.generate({ input_ids }, options),
      async values() {
        const asked = { ...options, return_dict_in_generate: true, output_logits: true };
        const { logits, past_key_values } = await model.generate({ input_ids }, asked);
        await past_key_values?.dispose();
        return given(logits?.[0]).data;
      },
    };
  },
  async decode(model, { past, vocabulary }) {
    const [row = []] = tokenRows(1, past + 1, vocabulary);
    const read = await model({ input_ids: [row.slice(0, past)] }, { use_cache: true });
    const past_key_values = given(read.past_key_values);
    const input_ids = [row.slice(past)];
    const run = () => model({ input_ids, past_key_values });
    const after = () => past_key_values.crop(past);
    return {
      run,
      after,
      async values() {
        const { logits } = await run();
        await after();
        return given(logits).data;
      },
    };
  },
  /** The output, and every hook selected by `names`; without names nothing is captured. */
  watch(model, input) {
    const { length, vocabulary, names } = input;
    if (names === '') return tasks.encode(model, input);
    const input_ids = tokenRows(1, length, vocabulary);
    const run = () => model.run_with_cache({ input_ids }, { names_filter: names });
    return { run, values: async () => (await run())[0].data };
  },
  image(model, { size }) {
    const pixel_values = { data: values(3 * size * size), dims: [1, 3, size, size] };
    const run = () => model({ pixel_values });
    return { run, values: async () => given((await run()).logits).data };
  },
};

interface Loader {
  from_pretrained(source: string | Files, options: LoadOptions): Promise<Model>;
}

/** Contenders in one page or process that differ only in the task's input share the model. */
const shared = new Map<string, Model>();

async function load(spec: Spec): Promise<Model> {
  const names = (await imported(spec.library)) as Record<string, Loader>;
  return given(names[classNames[given(spec.task)]]).from_pretrained(given(spec.checkpoint), loadOptions(spec));
}

const usual: Required<Input> = {
  ...{ kind: 'text', batch: 1, length: 1, past: 0, vocabulary: 1, names: '', ids64: false, heads: 1, headSize: 1 },
  ...{ size: 1, m: 1, k: 1, n: 1, d: 1, work: '' },
};

export async function open(spec: Spec): Promise<Running> {
  const model = (spec.share && shared.get(spec.share)) || (await load(spec));
  if (spec.share) shared.set(spec.share, model);
  const info = await model.info();
  if (info.relaxed !== (spec.variant === 'relaxed')) throw new Error(`this engine runs the ${info.simd} build only`);
  if (info.threads.used !== spec.threads)
    throw new Error(`runs with ${info.threads.used} threads: ${info.threads.reason}`);
  const task = await tasks[given(spec.task)](model, { ...usual, ...spec.input });
  return {
    about: { simd: info.simd, threads: info.threads.used, worker: info.worker, heapBytes: info.heapBytes },
    run: task.run,
    after: task.after,
    sample: async () => sampled(await task.values()),
    close: () => (spec.share ? undefined : model.dispose()),
  };
}
