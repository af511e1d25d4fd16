// A contender as driven by the runner, in a page and in a Node process alike: opened, timed in slices, closed.

import type { About, Sample, Spec } from '../types.js';
import { averaged, type Running } from './running.js';

type Opening = (spec: Spec) => Promise<Running>;

const kinds: Readonly<Record<Exclude<Spec['kind'], 'native'>, () => Promise<{ open: Opening }>>> = {
  clearformer: () => import('./clearformer.js'),
  onnxruntime: () => import('./onnxruntime.js'),
  tensorflow: () => import('./tensorflow.js'),
  wllama: () => import('./wllama.js'),
  kernels: () => import('./kernels.js'),
  loading: () => import('./loading.js'),
  startup: () => import('./startup.js'),
};

const opened = new Map<string, { contender: Running; repetitions: number }>();

function openedAs(id: string): { contender: Running; repetitions: number } {
  const found = opened.get(id);
  if (!found) throw new Error(`no contender is open as ${id}`);
  return found;
}

/** Loads what `spec` describes under `id`; resolves to information about it. */
export async function open(id: string, spec: Spec): Promise<About> {
  if (spec.kind === 'native') throw new Error('the native program is no module');
  const { open: load } = await kinds[spec.kind]();
  const contender = await load(spec);
  opened.set(id, { contender, repetitions: 1 });
  return contender.about;
}

/** A sample of its output. */
export const sample = async (id: string): Promise<Sample | undefined> => openedAs(id).contender.sample();

/** Milliseconds of one run, averaged over as many runs as fill `budget` milliseconds. */
export async function time(id: string, budget: number): Promise<number> {
  const { contender } = openedAs(id);
  if (contender.timed) return timedByItself(id, budget);
  return averaged(contender, budget);
}

async function timedByItself(id: string, budget: number): Promise<number> {
  const entry = openedAs(id);
  for (;;) {
    const start = performance.now();
    const each = (await entry.contender.timed?.(entry.repetitions)) ?? 0;
    const total = performance.now() - start;
    if (total * 2 >= budget) return each;
    entry.repetitions = Math.max(entry.repetitions + 1, Math.ceil((entry.repetitions * budget) / (total + 0.01)));
  }
}

export async function close(id: string): Promise<void> {
  await opened.get(id)?.contender.close();
  opened.delete(id);
}
