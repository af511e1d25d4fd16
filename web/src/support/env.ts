// transformers.js' `env`: settings with an equivalent here set the configuration, others are rejected with an
// alternative.

import { type Configuration, configuration, configure, remoteHost } from './config.js';
import { ClearformerError } from './error.js';

type Settings = Record<string, unknown>;

/** `env`, with the settings that may be changed; the others accept their actual value only. */
type Env = Settings & {
  remoteHost: string;
  readonly backends: Settings & {
    readonly onnx: Settings & {
      readonly wasm: Settings & {
        numThreads?: number | 'auto' | undefined;
        wasmPaths?: string | URL | undefined;
        wasmBinary?: ArrayBuffer | Uint8Array | undefined;
      };
    };
  };
};

interface Setting {
  get(): unknown;
  /** Throws for an unsupported value. */
  set(value: unknown): void;
}

/** A setting with a single supported value, and the alternative for others. */
function fixed(path: string, value: unknown, cure: string, others: readonly unknown[] = []): Setting {
  return {
    get: () => value,
    set(given) {
      if (given === value || others.includes(given)) return;
      throw new ClearformerError('unsupported', `env.${path}: ${cure}`, { option: path });
    },
  };
}

/** A setting of `configure` under another name. */
function same(option: keyof Configuration, fallback: () => unknown = () => undefined): Setting {
  return {
    get: () => configuration[option] ?? fallback(),
    set: (value) => configure({ [option]: value ?? undefined }),
  };
}

/** An object whose properties are settings; others are rejected by name. */
function settings(path: string, all: Readonly<Record<string, Setting>>): Settings {
  const known = Object.keys(all);
  const find = (name: PropertyKey) => (Object.hasOwn(all, name) ? all[String(name)] : undefined);
  return new Proxy<Settings>(Object.fromEntries(known.map((name) => [name, undefined])), {
    get: (_, name) => find(name)?.get(),
    set(_, name, value) {
      const setting = find(name);
      if (setting !== undefined) {
        setting.set(value);
        return true;
      }
      const message = `env.${path}${String(name)} is not known (known: ${known.join(', ')}); see configure()`;
      throw new ClearformerError('unsupported', message, { option: `${path}${String(name)}`, expected: known });
    },
  });
}

/** A nested object of `env`. */
function part(path: string, all: Readonly<Record<string, Setting>>): Setting {
  const held = settings(`${path}.`, all);
  return fixed(path, held, 'set its properties');
}

const noCopy = "pass the path or URL of the model's folder as the source, such as './models/name'";
const perCall = "say it where a model is loaded, with the option cache: 'none'";

/**
 * Settings of transformers.js. `remoteHost`, `fetch`, `backends.onnx.wasm.numThreads` and `.wasmPaths` are those of
 * `configure`; settings without effect here accept their actual value, and throw `unsupported` with an alternative for
 * others.
 */
export const env = /* @__PURE__ */ settings('', {
  remoteHost: /* @__PURE__ */ same('remoteHost', () => `${remoteHost()}/`),
  remotePathTemplate: fixed(
    'remotePathTemplate',
    '{model}/resolve/{revision}/',
    "folders of a host are sources by their URL: from_pretrained('https://host/path/to/model')",
  ),
  fetch: /* @__PURE__ */ same('fetch', () => globalThis.fetch),
  allowRemoteModels: fixed(
    'allowRemoteModels',
    true,
    'say it where a model is loaded: local_files_only: true, or a path in place of a Hub id',
  ),
  allowLocalModels: fixed('allowLocalModels', true, 'a path is a source where it is given, and nowhere else', [false]),
  localModelPath: fixed('localModelPath', '', noCopy),
  useFS: fixed('useFS', true, `files are read where a path is given; ${noCopy}`),
  useBrowserCache: fixed('useBrowserCache', true, perCall),
  useFSCache: fixed('useFSCache', true, perCall),
  cacheDir: fixed(
    'cacheDir',
    null,
    'say it where a model is loaded, with the option cache_dir, or for all with HF_HUB_CACHE',
    [undefined],
  ),
  useCustomCache: fixed('useCustomCache', false, 'pass it where a model is loaded, as the option cache'),
  customCache: fixed('customCache', null, 'pass it where a model is loaded, as the option cache', [undefined]),
  useWasmCache: fixed('useWasmCache', true, 'the WASM is kept as the server says; pass the bytes as wasmBinary'),
  logLevel: fixed('logLevel', 30, 'warnings go to configure({ onWarning }); there is no other log'),
  backends: /* @__PURE__ */ part('backends', {
    onnx: /* @__PURE__ */ part('backends.onnx', {
      wasm: /* @__PURE__ */ part('backends.onnx.wasm', {
        numThreads: /* @__PURE__ */ same('numThreads'),
        wasmPaths: /* @__PURE__ */ same('wasmUrl'),
        wasmBinary: /* @__PURE__ */ same('wasmBinary'),
        proxy: fixed(
          'backends.onnx.wasm.proxy',
          false,
          'models are in workers in pages anyway: see the option worker',
          [true],
        ),
        simd: fixed('backends.onnx.wasm.simd', true, 'there is no build without SIMD'),
      }),
      logLevel: fixed('backends.onnx.logLevel', 'warning', 'there is no ONNX session; see configure({ onWarning })'),
    }),
  }),
}) as Env;
