// From a folder of 100 MB to the first token; and the limit: the same bytes read, and copied once into a WebAssembly
// memory.

import type { LoadOptions } from 'clearformer';
import type { Spec } from '../types.js';
import { imported } from './imported.js';
import type { Running } from './running.js';

const pageBytes = 65_536;

async function clearformer(
  { AutoModelForCausalLM }: typeof import('clearformer'),
  { checkpoint = '', dtype }: Spec,
): Promise<void> {
  const options: LoadOptions = { deterministic: true, cache: 'none', numThreads: 1, dtype };
  const model = await AutoModelForCausalLM.from_pretrained(checkpoint, options);
  await model.generate({ input_ids: [[1, 403, 407, 261]] }, { max_new_tokens: 1, do_sample: false });
}

/** The chunks of a file behind a path of a server, or on disk. */
async function* chunksOf(path: string): AsyncIterable<Uint8Array> {
  const { process } = globalThis as { process?: NodeJS.Process }; // no import of Node's modules: a page includes this file
  const disk = process?.getBuiltinModule('node:fs');
  if (disk) return yield* disk.createReadStream(path, { highWaterMark: 1 << 20 });
  const reader = (await fetch(path)).body?.getReader();
  for (;;) {
    const { value } = (await reader?.read()) ?? {};
    if (value === undefined) return;
    yield value;
  }
}

async function bytes({ checkpoint }: Spec): Promise<void> {
  const memory = new WebAssembly.Memory({ initial: 0, maximum: 4096 });
  let at = 0;
  for await (const chunk of chunksOf(`${String(checkpoint)}/model.safetensors`)) {
    const missing = at + chunk.byteLength - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.max(Math.ceil(missing / pageBytes), 256));
    new Uint8Array(memory.buffer).set(chunk, at);
    at += chunk.byteLength;
  }
  if (at === 0) throw new Error('nothing was read');
}

/** The library is imported before: start-up is an item of its own. */
export async function open(spec: Spec): Promise<Running> {
  const library = (await imported(spec.library)) as typeof import('clearformer');
  const run = () => (spec.starts === 'bytes' ? bytes(spec) : clearformer(library, spec));
  return { about: {}, run, sample: () => undefined, close: () => {} };
}
