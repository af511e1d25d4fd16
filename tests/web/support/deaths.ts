// Kills workers at random moments, and records how pending promises settle, and how soon.

/** The moments are the same in every run; KILL_SEED sets another seed. Number per kind: 60 with KILLS=60. */
export const kills = Number(process.env.KILLS ?? 5);
const seed = Number(process.env.KILL_SEED ?? 15);

/** `count` numbers from 0 to `end`. */
export function moments(count: number, end: number, salt: number): number[] {
  let state = (seed * 7919 + salt) >>> 0;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 2 ** 32) * end;
  });
}

/** How a promise settled: with its value, or rejected with a code. `ms` counts from the kill. */
export interface Outcome {
  code: string;
  message: string;
  ms: number;
}

/** The allowed outcomes when a worker is killed. */
export const typed = ['value', 'worker_failed', 'poisoned', 'wasm_unavailable'];

/**
 * No promise may hang or fail untyped; that half of them settle within a second holds on a busy machine as well. For a
 * worker that dies from inside the moment is unknown: it counts from its start, which comes late there.
 */
export function problemsOf(outcomes: readonly Outcome[], manner: Manner): string[] {
  const wrong = outcomes.filter(({ code }) => !typed.includes(code)).map(({ code, message }) => `${code}: ${message}`);
  const times = outcomes.map(({ ms }) => ms).sort((a, b) => a - b);
  const median = times[times.length >> 1] ?? 0;
  const limit = manner === 'terminate' ? 1000 : 5000;
  return median < limit ? wrong : [...wrong, `half of them took longer than ${Math.round(median)} ms`];
}

/**
 * `work`'s outcome; `killed` returns the moment of the kill, as from performance.now(). Also runs in pages: uses
 * nothing from outside.
 */
export async function outcomeOf(work: () => Promise<unknown>, killed: () => number): Promise<Outcome> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hangs = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject({ code: 'hangs', message: '' }), 15_000);
  });
  const told = await Promise.race([work(), hangs]).then(
    () => ({ code: 'value', message: '' }),
    (thrown: { code?: string; message?: string }) => ({ code: String(thrown.code), message: String(thrown.message) }),
  );
  clearTimeout(timer);
  return { ...told, ms: Math.max(0, performance.now() - killed()) };
}

/** How a worker dies: terminated from outside, by itself, by an uncaught trap, by a trap in the core. */
export const manners = ['terminate', 'close', 'trap', 'core'] as const;
/** And, in a browser, right after its first message, which says that it runs. */
export type Manner = (typeof manners)[number] | 'word';

/** A script that wraps the package's worker script and dies after that many milliseconds. Also runs in pages. */
export function dyingScript(script: string, manner: Manner, after: number): string {
  return `
const node = globalThis.process !== undefined;
// (module (func (export "f") unreachable))
const trap = new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0,
  3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 5, 1, 3, 0, 0, 11))).exports.f;
if ('${manner}' === 'close') setTimeout(() => (node ? process.exit(7) : close()), ${after});
if ('${manner}' === 'word') {
  const { postMessage } = globalThis;
  globalThis.postMessage = (...given) => {
    postMessage(...given);
    close();
  };
}
if ('${manner}' === 'trap') setTimeout(() => trap(), ${after}); // caught by nobody
if ('${manner}' === 'core') {
  // Whatever of the core is called next: its glue sees a real trap.
  const begun = performance.now();
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = async (...given) => {
    const { exports } = await instantiate(...given);
    const trapping = (call) => (...given) => (performance.now() - begun > ${after} ? trap() : call(...given));
    for (const table of Object.values(exports).filter((value) => value instanceof WebAssembly.Table)) {
      const get = table.get.bind(table); // the glue takes the core's functions from there
      table.get = (index) => trapping(get(index));
    }
    const replaced = Object.entries(exports).map(([name, value]) => [name, typeof value === 'function' ? trapping(value) : value]);
    return { exports: Object.fromEntries(replaced) };
  };
}
await import(${JSON.stringify(script)});
`;
}
