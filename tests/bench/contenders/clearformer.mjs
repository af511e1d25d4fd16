// Ours, as a user of the package runs it: in the worker in a page, in the thread in Node.
import { sampled, tokenRows, values } from './inputs.mjs';

const CLASSES = {
  encode: 'AutoModel',
  prefill: 'AutoModelForCausalLM',
  decode: 'AutoModelForCausalLM',
  image: 'AutoModelForImageClassification',
  watch: 'AutoModel',
};

function loadOptions({ variant, threads, dtype, cache }) {
  const options = { deterministic: variant === 'simd128', numThreads: threads };
  if (dtype !== 'fp32') options.dtype = dtype;
  if (cache) options.cache = cache;
  return options;
}

const tasks = {
  encode(model, { batch = 1, length, vocabulary }) {
    const input_ids = tokenRows(batch, length, vocabulary);
    const run = () => model({ input_ids });
    return { run, values: async () => (await run()).last_hidden_state.data };
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
        return logits[0].data;
      },
    };
  },
  async decode(model, { past, vocabulary }) {
    const [row] = tokenRows(1, past + 1, vocabulary);
    const { past_key_values } = await model({ input_ids: [row.slice(0, past)] }, { use_cache: true });
    const input_ids = [row.slice(past)];
    const run = () => model({ input_ids, past_key_values });
    const after = () => past_key_values.crop(past);
    return {
      run,
      after,
      async values() {
        const { logits } = await run();
        await after();
        return logits.data;
      },
    };
  },
  /** The output, and every hook that `names` means; without names nothing is captured. */
  watch(model, { length, vocabulary, names }) {
    const input_ids = tokenRows(1, length, vocabulary);
    if (names === undefined) return tasks.encode(model, { length, vocabulary });
    const run = () => model.run_with_cache({ input_ids }, { names_filter: names });
    return { run, values: async () => (await run())[0].data };
  },
  image(model, { size }) {
    const pixel_values = { data: values(3 * size * size), dims: [1, 3, size, size] };
    const run = () => model({ pixel_values });
    return { run, values: async () => (await run()).logits.data };
  },
};

/** Contenders that share a page or a process and differ in nothing but the task's input share the model, too. */
const shared = new Map();

async function load(spec) {
  const package_ = await import(spec.library);
  return package_[CLASSES[spec.task]].from_pretrained(spec.checkpoint, loadOptions(spec));
}

export async function open(spec) {
  const model = shared.get(spec.share) ?? (await load(spec));
  if (spec.share) shared.set(spec.share, model);
  const info = await model.info();
  if (info.relaxed !== (spec.variant === 'relaxed')) throw new Error(`this engine runs the ${info.simd} build only`);
  if (info.threads.used !== spec.threads)
    throw new Error(`runs with ${info.threads.used} threads: ${info.threads.reason}`);
  const task = await tasks[spec.task](model, spec.input);
  return {
    about: { simd: info.simd, threads: info.threads.used, worker: info.worker, heapBytes: info.heapBytes },
    run: task.run,
    after: task.after,
    sample: async () => sampled(await task.values()),
    close: () => (spec.share ? undefined : model.dispose()),
  };
}
