// Engines that compute wrong results are rejected before anything is loaded: simulated by builds with changed
// instructions and constants.

import { readFileSync } from 'node:fs';
import { AutoModelForCausalLM } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { storiesPath } from './support/references.js';
import { variants } from './support/variants.js';

const dist = new URL('../../dist/', import.meta.url);
const build = (name: string) => new Uint8Array(readFileSync(new URL(`clearformer-${name}.wasm`, dist)));
const f32 = (value: number) => [...new Uint8Array(Float32Array.of(value).buffer)];

/** The build with every occurrence of the bytes `from` replaced by `to`; fails if there is none. */
function changed(name: string, from: readonly number[], to: readonly number[]): Uint8Array {
  const wasm = Buffer.from(build(name));
  const [old, made] = [Buffer.from(from), Buffer.from(to)];
  let found = 0;
  for (let at = wasm.indexOf(old); at >= 0; at = wasm.indexOf(old, at + old.length)) {
    made.copy(wasm, at);
    found++;
  }
  expect(found).toBeGreaterThan(0);
  return new Uint8Array(wasm);
}

// exp(x) = 2^n · p(x − n ln 2): log2(e), from where loops load it.
const faults = [
  {
    fault: 'subtracts where it should add',
    // f32x4.add, f32x4.sub; f32x4.relaxed_madd, f32x4.relaxed_nmadd
    from: { simd128: [0xfd, 0xe4, 0x01], relaxed: [0xfd, 0x85, 0x02] },
    to: { simd128: [0xfd, 0xe5, 0x01], relaxed: [0xfd, 0x86, 0x02] },
    what: 'a matrix product',
  },
  {
    fault: 'has another log2(e)',
    from: { simd128: f32(Math.LOG2E), relaxed: f32(Math.LOG2E) },
    to: { simd128: f32(1.5), relaxed: f32(1.5) },
    what: 'a softmax',
  },
];

describe.each(variants)('%s', (name) => {
  it.each(faults)('is refused where it $fault', async ({ from, to, what }) => {
    const wasmBinary = changed(name, from[name], to[name]);
    for (const worker of [false, true]) {
      const failure = await failureOf(() => AutoModelForCausalLM.from_pretrained(storiesPath, { wasmBinary, worker }));
      expect(failure.code).toBe('unsupported');
      expect(failure.message).toContain('computes wrong');
      expect(failure.message).toContain(name);
      expect(failure.message).toContain(process.versions.v8);
      expect(failure.message).toContain(what);
    }
  });

  it('is taken as it is', async () => {
    const model = await AutoModelForCausalLM.from_pretrained(storiesPath, { wasmBinary: build(name) });
    expect(model.info().simd).toBe(name);
    await model.dispose();
  });
});
