// Common to fuzzing tests: number of runs and seed, unexpected values, and mutations of bytes, texts and JSON.
// `npm run fuzz -- typescript` sets the variables: CLEARFORMER_FUZZ_TIMES for more runs, CLEARFORMER_FUZZ_SEED for
// another seed, CLEARFORMER_FUZZ_UNTIL for the time (as from Date.now()) at which to stop.

import { ClearformerError } from 'clearformer';
import fc, { type Arbitrary } from 'fast-check';

const times = Number(process.env.CLEARFORMER_FUZZ_TIMES ?? 1);
const seed = Number(process.env.CLEARFORMER_FUZZ_SEED ?? 20260101);
const until = Number(process.env.CLEARFORMER_FUZZ_UNTIL ?? Number.POSITIVE_INFINITY);
const leastTime = 2000; // for a test that starts late, in milliseconds
const mostTimer = 2 ** 31 - 1; // maximum delay of timers

interface Counts {
  done: number;
  refused: number;
}

/**
 * Checks `property` on `usual` samples, or as many as requested, and reports how they ended. A property of inputs that
 * can be large gives one more time by `allow`.
 */
export async function fuzz<Value>(
  name: string,
  usual: number,
  values: Arbitrary<Value>,
  property: (value: Value, allow: (milliseconds: number) => void) => unknown,
): Promise<Counts> {
  const counts = { done: 0, refused: 0 };
  const numRuns = Math.ceil(usual * times);
  const check = fc.asyncProperty(values, async (value) => {
    const start = performance.now();
    let most = mostTime;
    const allow = (milliseconds: number) => {
      most += milliseconds;
    };
    if (await isRefused(() => property(value, allow))) counts.refused++;
    else counts.done++;
    const took = performance.now() - start;
    if (took > most) throw new Error(`took ${took} ms`);
  });
  const timeLeft = Math.min(Math.max(until - Date.now(), leastTime), mostTimer);
  await fc.assert(check, { seed, numRuns, interruptAfterTimeLimit: timeLeft });
  console.log(
    `fuzz ${name}: ${counts.done + counts.refused} runs, seed ${seed}: ${counts.done} done, ${counts.refused} refused`,
  );
  return counts;
}

// In milliseconds: far more than any input of these sizes takes, even on a busy machine.
const mostTime = 10_000;

/** Whether `work` was rejected with a typed error with a message; any other error is rethrown. */
export async function isRefused(work: () => unknown): Promise<boolean> {
  try {
    await work();
    return false;
  } catch (thrown) {
    if (thrown instanceof ClearformerError && thrown.code !== 'internal' && thrown.message.length > 10) return true;
    throw thrown;
  }
}

/** Values of every type, as in an untrusted file or a careless call. */
export const anything: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    '',
    'x',
    '65',
    [],
    {},
    [[]],
    0,
    -1,
    1,
    0.5,
    65.5,
    1e9,
    2 ** 31,
    2 ** 53,
    -0,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    undefined,
  ),
  fc.constantFrom<unknown>(
    'constructor',
    '__proto__',
    'toString',
    '(a+)+$',
    '\ud800',
    '\u0000',
    '[',
    '\\p{L}+',
    '.*.*',
  ),
  fc.constantFrom<unknown>({ toString: 1, valueOf: 1 }, [{ toString: 1 }], { length: 3 }, new Float32Array(3)),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Mostly valid, sometimes anything. */
export const mostly = (right: Arbitrary<unknown>): Arbitrary<unknown> =>
  fc.oneof({ weight: 16, arbitrary: right }, { weight: 1, arbitrary: anything });

/** Any of these options. */
export const some = (options: Record<string, Arbitrary<unknown>>): Arbitrary<Record<string, unknown>> =>
  fc.record(options, { requiredKeys: [] });

interface Change {
  /** The branch to take at each level. */
  path: number[];
  kind: 'replace' | 'remove' | 'repeat' | 'rename';
  value: unknown;
}

const change: Arbitrary<Change> = fc.record({
  path: fc.array(fc.nat(1000), { minLength: 1, maxLength: 6 }),
  kind: fc.constantFrom('replace', 'replace', 'replace', 'remove', 'repeat', 'rename'),
  value: anything,
});

type Tree = Record<string, unknown> | unknown[];
const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !ArrayBuffer.isView(value);

function changed(root: unknown, { path, kind, value }: Change): unknown {
  const copy: unknown = structuredClone(root);
  let at = copy;
  for (const [depth, turn] of path.entries()) {
    if (!isTree(at)) break;
    const keys = Object.keys(at);
    const key = keys[turn % Math.max(keys.length, 1)];
    if (key === undefined) break;
    const node = at as Record<string, unknown>;
    if (depth < path.length - 1 && isTree(node[key])) {
      at = node[key];
      continue;
    }
    if (kind === 'replace') node[key] = value;
    else if (kind === 'remove') delete node[key];
    else if (kind === 'repeat' && Array.isArray(at)) at.push(at[turn % at.length]);
    else node[`${key}x`] = node[key];
    break;
  }
  return copy;
}

/** One of `trees`, with one to three random changes. */
export const damagedJson = (trees: readonly unknown[]): Arbitrary<unknown> =>
  fc
    .tuple(fc.constantFrom(...trees), fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([tree, changes]) => changes.reduce(changed, tree));

/** One of `files` with some bytes overwritten, often truncated; mostly near the beginning. */
export const damagedBytes = (files: readonly Uint8Array[]): Arbitrary<Uint8Array> =>
  fc
    .record({
      file: fc.constantFrom(...files),
      bytes: fc.array(fc.tuple(fc.oneof(fc.nat(64), fc.nat(64), fc.nat(1 << 20)), fc.nat(255)), { maxLength: 6 }),
      kept: fc.oneof(
        { weight: 3, arbitrary: fc.constant(1) },
        { weight: 1, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
      ),
    })
    .map(({ file, bytes, kept }) => {
      const copy = file.slice(0, Math.ceil(file.length * kept));
      for (const [place, byte] of bytes) if (copy.length > 0) copy[place % copy.length] = byte;
      return copy;
    });

/** One of `texts` with pieces of `words` inserted, removed or moved. */
export const damagedText = (texts: readonly string[], words: readonly string[]): Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom(...texts),
      fc.array(fc.tuple(fc.nat(), fc.nat(12), fc.oneof(fc.constantFrom('', ...words), fc.string({ maxLength: 3 }))), {
        minLength: 1,
        maxLength: 4,
      }),
    )
    .map(([text, changes]) =>
      changes.reduce((all, [place, removed, put]) => {
        const at = place % (all.length + 1);
        return all.slice(0, at) + put + all.slice(at + removed);
      }, text),
    );
