// A contender as the runner drives it, in a page and in a Node process alike: opened, timed in slices, closed.

const kinds = {
  clearformer: () => import('./clearformer.mjs'),
  onnxruntime: () => import('./onnxruntime.mjs'),
  tensorflow: () => import('./tensorflow.mjs'),
  kernels: () => import('./kernels.mjs'),
  startup: () => import('./startup.mjs'),
};

const opened = new Map();

/** Loads what `spec` describes under `id`; resolves to what is to be told about it. */
export async function open(id, spec) {
  const { open: load } = await kinds[spec.kind]();
  const contender = await load(spec);
  opened.set(id, contender);
  return contender.about;
}

/** Some of its output. */
export const sample = (id) => opened.get(id).sample();

/** Milliseconds of one run, over as many runs as fill `budget` milliseconds. */
export async function time(id, budget) {
  const contender = opened.get(id);
  if (contender.timed) return timedByItself(contender, budget);
  let total = 0;
  let runs = 0;
  while (runs === 0 || total < budget) {
    const start = performance.now();
    await contender.run();
    total += performance.now() - start;
    runs += 1;
    await contender.after?.();
  }
  return total / runs;
}

function timedByItself(contender, budget) {
  contender.repetitions ??= 1;
  for (;;) {
    const start = performance.now();
    const each = contender.timed(contender.repetitions);
    const total = performance.now() - start;
    if (total * 2 >= budget) return each;
    contender.repetitions = Math.max(
      contender.repetitions + 1,
      Math.ceil((contender.repetitions * budget) / (total + 0.01)),
    );
  }
}

export async function close(id) {
  await opened.get(id)?.close();
  opened.delete(id);
}
