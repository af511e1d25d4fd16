// The WASM file: which build this engine supports, where its bytes come from; compiled once for all models.

import { configuration } from '../support/config.js';
import { ClearformerError, messageOf } from '../support/error.js';
import { expectArgument } from '../support/options.js';
import { nodeModule, urlOf } from '../support/platform.js';
import { assets } from './assets.js';
import type { Variant } from './build_info.js';
import { withRemedy } from './remedy.js';

/** Where the WASM comes from and which build to use. */
export interface RuntimeOptions {
  /** URL of the .wasm file, or (ending with a slash) of the folder with all builds. */
  wasmUrl?: string | URL | undefined;
  /** The bytes of the .wasm file. */
  wasmBinary?: ArrayBuffer | Uint8Array | undefined;
  /** Never use relaxed SIMD: the same bits on every engine. */
  deterministic?: boolean | undefined;
}

/** A compiled module and the size of its file. */
export interface CompiledCore {
  readonly module: WebAssembly.Module;
  readonly bytes: number;
  /** What errors call it. */
  readonly where: string;
  /** Whether it imports shared memory, which threads need. */
  readonly shared: boolean;
  /** Whether a core of it has passed the self test in this program. */
  tested?: boolean;
}

// Minimal modules that use the instructions in question: `v128` with i32x4.splat, and f32x4.relaxed_madd.
const splat = [0x41, 0x00, 0xfd, 0x11];
const relaxedMadd = [0xfd, 0x85, 0x02];
const probes: Record<Variant, readonly number[]> = {
  simd128: [...splat],
  relaxed: [...splat, ...splat, ...splat, ...relaxedMadd],
};

/** Whether this engine supports the build's instructions. */
export function canRun(variant: Variant): boolean {
  const body = [0x00, ...probes[variant], 0x0b];
  const before = [
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...[0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b], // types: () -> v128
    ...[0x03, 0x02, 0x01, 0x00], // functions
  ];
  return WebAssembly.validate(Uint8Array.from([...before, 0x0a, body.length + 2, 0x01, body.length, ...body]));
}

/** Whether the build with the same bits on every engine is requested, in the options or for the whole package. */
export function isDeterministic(options: RuntimeOptions): boolean {
  return options.deterministic ?? configuration.deterministic ?? false;
}

/**
 * The build to use: the fastest supported by this engine, or the reproducible one. Throws `unsupported` if it supports
 * neither.
 */
export function chooseVariant(deterministic: boolean): Variant {
  if (typeof WebAssembly !== 'object') {
    throw new ClearformerError('unsupported', 'this engine has no WebAssembly');
  }
  if (!deterministic && canRun('relaxed')) return 'relaxed';
  if (canRun('simd128')) return 'simd128';
  throw new ClearformerError(
    'unsupported',
    'this engine has no WebAssembly SIMD (Chrome 91, Firefox 89, Safari 16.4 or newer have it)',
  );
}

const compiledByOrigin = new Map<string, Promise<CompiledCore>>();
/** For memory of its own, for shared memory. */
const compiledByBytes = [new WeakMap<object, Promise<CompiledCore>>(), new WeakMap<object, Promise<CompiledCore>>()];

/**
 * The compiled module, for memory that threads share or for memory of its own; cached by the origin of its bytes. A
 * failure is not cached.
 */
export function compileCore(options: RuntimeOptions, shared: boolean): Promise<CompiledCore> {
  const binary = givenBinary(options);
  const isBinary = binary === undefined || typeof binary?.byteLength === 'number';
  expectArgument('wasmBinary', isBinary, 'an ArrayBuffer or Uint8Array', binary);
  if (binary !== undefined) {
    const compiled = compiledByBytes[Number(shared)] as WeakMap<object, Promise<CompiledCore>>;
    const bytes = binary instanceof Uint8Array ? binary : new Uint8Array(binary);
    return remember(compiled, binary, () => compile(bytes, 'wasmBinary', shared));
  }
  const file = fileOf(options);
  const where = nameOf(file);
  return remember(compiledByOrigin, `${where} ${shared}`, async () =>
    compile(await (file instanceof URL ? readWasm(file) : file), where, shared),
  );
}

/** The bytes that the caller passed instead of a URL. */
function givenBinary({ wasmBinary, wasmUrl }: RuntimeOptions): ArrayBuffer | Uint8Array | undefined {
  return wasmBinary ?? (wasmUrl === undefined ? configuration.wasmBinary : undefined);
}

/** A file, or its bytes if it is embedded or was passed. */
type WasmFile = URL | Promise<Uint8Array>;

/** The first file of the build that these options select. */
function fileOf(options: RuntimeOptions): WasmFile {
  const variant = chooseVariant(isDeterministic(options));
  const name = `clearformer-${variant}.wasm`;
  const given = options.wasmUrl ?? configuration.wasmUrl;
  if (given !== undefined) return fileAt(given, name);
  try {
    return assets.wasm(variant);
  } catch {
    return fileAt('./', name); // a script bundled for old browsers has no URL relative to which files could be found
  }
}

/** What errors call it. */
function nameOf(file: WasmFile): string {
  return file instanceof URL ? file.href : 'the inline copy';
}

/** What `make` makes for this key, once; a failure is not kept. */
export function remember<K, V>(
  memory: { get(key: K): Promise<V> | undefined; set(key: K, value: Promise<V>): unknown; delete(key: K): unknown },
  key: K,
  make: () => Promise<V>,
): Promise<V> {
  const known = memory.get(key);
  if (known !== undefined) return known;
  const made = make();
  memory.set(key, made);
  made.catch(() => memory.delete(key));
  return made;
}

/** A URL that ends with a slash is the folder of all builds. */
function fileAt(given: string | URL, name: string): URL {
  const url = urlOf('wasmUrl', given);
  return url.pathname.endsWith('/') ? new URL(name, url) : url;
}

/** The error for a file that cannot be loaded because of `what`, with the remedy. */
async function unavailable(where: string, what: string, cause?: unknown): Promise<ClearformerError> {
  const why = await withRemedy(`${where} ${what}`, ({ wasmCure }) => wasmCure(where, what, assets.inOneFile));
  return new ClearformerError('wasm_unavailable', why, { where }, cause);
}

async function readWasm(url: URL): Promise<Uint8Array> {
  try {
    if (url.protocol === 'file:') return await nodeModule('node:fs/promises').readFile(url);
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    return new Uint8Array(await answer.arrayBuffer());
  } catch (cause) {
    throw await unavailable(url.href, `could not be read (${messageOf(cause)})`, cause);
  }
}

/**
 * The program for shared memory, as it is linked, or else with the other flag in the import of its memory, 1 instead of
 * 3: atomic instructions are valid with either. The flag is among the imports, before the memory's sizes in pages, 256
 * and 65,536. They are looked for as numbers, which are the same in scripts that a page reads in another encoding.
 */
function forMemory(shared: boolean, bytes: Uint8Array, head: string): Uint8Array | undefined {
  const [before = '', after] = head.split(',2,3,128,2,128,128,4,');
  if (after === undefined) return undefined;
  if (shared) return bytes;
  const changed = new Uint8Array(bytes); // the caller's bytes stay as they are
  changed[before.split(',').length + 1] = 1;
  return changed;
}

/** Compiles a file of a build; `where` names it in errors. */
export async function compile(bytes: Uint8Array, where: string, shared: boolean): Promise<CompiledCore> {
  const head = bytes.subarray(0, 16_384).join();
  if (!head.startsWith('0,97,115,109,')) {
    const html = bytes[0] === 0x3c; // '<'
    const found = html ? 'but an HTML page' : 'it does not start with \\0asm';
    throw await unavailable(where, `is no WebAssembly file (${found})`);
  }
  const program = forMemory(shared, bytes, head);
  if (program === undefined) throw await unavailable(where, "is not clearformer's WebAssembly");
  try {
    const module = await WebAssembly.compile(program as Uint8Array<ArrayBuffer>);
    return { module, bytes: bytes.byteLength, where, shared };
  } catch (cause) {
    throw await unavailable(where, `does not compile here (${messageOf(cause)})`, cause);
  }
}
