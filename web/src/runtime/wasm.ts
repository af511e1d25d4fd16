// The WASM file: which build this engine supports, where its bytes come from; compiled once for all models.

import { configuration } from '../support/config.js';
import { ClearformerError, messageOf } from '../support/error.js';
import { baseUrl, nodeModule } from '../support/platform.js';
import { assets } from './assets.js';
import type { Variant } from './build_info.js';
import type { Threads } from './threads.js';

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
  /** Whether it is a build with shared memory, which threads need. */
  readonly shared: boolean;
  /** Whether a core of it has passed the self test in this program. */
  tested?: boolean;
}

/** A compiled core and its threads. */
export interface ReadyCore {
  compiled: CompiledCore;
  threads: Threads;
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
  const header = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
  const types = [0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b]; // () -> v128
  const functions = [0x03, 0x02, 0x01, 0x00];
  const code = [0x0a, body.length + 2, 0x01, body.length, ...body];
  return WebAssembly.validate(Uint8Array.from([...header, ...types, ...functions, ...code]));
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
const compiledByBytes = new WeakMap<object, Promise<CompiledCore>>();

/**
 * The compiled module, cached by the origin of its bytes. A failure is not cached. `shared` selects the build; if the
 * caller names a single file, that one is used.
 */
export function compileCore(options: RuntimeOptions, shared: boolean): Promise<CompiledCore> {
  const binary = options.wasmBinary ?? (options.wasmUrl === undefined ? configuration.wasmBinary : undefined);
  if (binary !== undefined) return remember(compiledByBytes, binary, () => compile(bytesOf(binary), 'wasmBinary'));
  const variant = chooseVariant(isDeterministic(options));
  const given = options.wasmUrl ?? configuration.wasmUrl;
  const wasm = given === undefined ? ownFile(variant, shared) : fileAt(given, variant, shared);
  if (wasm instanceof URL) {
    return remember(compiledByOrigin, wasm.href, async () => compile(await readWasm(wasm), wasm.href));
  }
  return remember(compiledByOrigin, 'inline', async () => compile(await wasm, 'the inline copy'));
}

/** A script bundled for old browsers has no URL relative to which the files could be found. */
function ownFile(variant: Variant, shared: boolean): URL | Promise<Uint8Array> {
  try {
    return assets.wasm(variant, shared);
  } catch {
    return fileAt('./', variant, shared);
  }
}

function remember<K, V>(
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

function bytesOf(binary: ArrayBuffer | Uint8Array): Uint8Array {
  return binary instanceof Uint8Array ? binary : new Uint8Array(binary);
}

function nameOf(variant: Variant, shared: boolean): string {
  return `clearformer-${variant}${shared ? '-threads' : ''}.wasm`;
}

/** A URL that ends with a slash is the folder of all builds. */
function fileAt(given: string | URL, variant: Variant, shared: boolean): URL {
  const url = new URL(given, baseUrl());
  return url.pathname.endsWith('/') ? new URL(nameOf(variant, shared), url) : url;
}

/** The error for a file that cannot be loaded because of `what`; the code that finds a remedy is loaded when needed. */
async function unavailable(where: string, what: string, cause?: unknown): Promise<ClearformerError> {
  const cure = import('./cures.js').then(({ wasmCure }) => `: ${wasmCure(where, what, assets.inOneFile)}`);
  return new ClearformerError('wasm_unavailable', `${where} ${what}${await cure.catch(() => '')}`, { where }, cause);
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
 * Whether the memory that the module imports is shared: a flag of the import, near the start of the file, which
 * WebAssembly.Module.imports() does not tell. Then follow the sizes in pages, 256 and 65,536.
 */
function importsSharedMemory(bytes: Uint8Array): boolean {
  return String.fromCharCode(...bytes.subarray(0, 4096)).includes('\x02\x03\x80\x02\x80\x80\x04');
}

async function compile(bytes: Uint8Array, where: string): Promise<CompiledCore> {
  const magic = [0x00, 0x61, 0x73, 0x6d];
  if (!magic.every((byte, i) => bytes[i] === byte)) {
    const html = bytes[0] === 0x3c; // '<'
    const found = html ? 'an HTML page came back instead of it' : 'it does not start with \\0asm';
    throw await unavailable(where, `is no WebAssembly file (${found})`);
  }
  try {
    const module = await WebAssembly.compile(bytes as Uint8Array<ArrayBuffer>);
    return { module, bytes: bytes.byteLength, shared: importsSharedMemory(bytes) };
  } catch (cause) {
    throw await unavailable(where, `does not compile here (${messageOf(cause)})`, cause);
  }
}
