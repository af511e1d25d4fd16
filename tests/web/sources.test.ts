// Every kind of source gives the same model; missing and invalid files are reported by name and cause.

import { createHash } from 'node:crypto';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runInNewContext } from 'node:vm';
import {
  AutoConfig,
  AutoFeatureExtractor,
  AutoImageProcessor,
  AutoModelForCausalLM,
  AutoProcessor,
  AutoTokenizer,
  inspect,
  type LoadOptions,
  type ProgressInfo,
  pipeline,
  type Source,
  Tensor,
  validate,
} from 'clearformer';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { Sha256 } from '../../web/src/checkpoint/sha256.js';
import { nodeModule, urlOf } from '../../web/src/support/platform.js';
import { type Files, storiesFiles } from './support/checkpoints.js';
import { folderOf } from './support/command.js';
import { directory } from './support/directory_handle.js';
import { failureOf } from './support/failures.js';
import { fixturePath, storiesPath } from './support/references.js';

const files = storiesFiles();
const input_ids = [[1, 403, 407]];
let wanted: Float32Array;

async function logitsOf(source: Source, options: LoadOptions = {}): Promise<Float32Array> {
  const model = await AutoModelForCausalLM.from_pretrained(source, { deterministic: true, ...options });
  const { logits } = await model({ input_ids });
  await model.dispose();
  return logits.data;
}

const copyOf = (bytes: Uint8Array) => new Uint8Array(bytes);
const fileList = (given: Files, folder = '') =>
  Object.entries(given).map(([name, bytes]) => {
    const file = new File([copyOf(bytes)], name);
    if (folder !== '') Object.defineProperty(file, 'webkitRelativePath', { value: `${folder}/${name}` });
    return file;
  });

beforeAll(async () => {
  wanted = await logitsOf(storiesPath);
});

describe('the same model from', () => {
  it("values of another realm, as of a frame, jsdom or Node's vm", async () => {
    const made = (script: string, given: object = {}) => runInNewContext(script, given);
    const record = 'Object.fromEntries(names.map((name) => [name, Uint8Array.from(files[name])]))';
    const theirs = made(record, { files, names: Object.keys(files) });
    expect(theirs['config.json']).not.toBeInstanceOf(Uint8Array);
    expect(await logitsOf(theirs)).toEqual(wanted);
    const model = await AutoModelForCausalLM.from_pretrained(storiesPath, { deterministic: true });
    for (const ids of ['new Int32Array([1, 403, 407])', 'new BigInt64Array([1n, 403n, 407n])'])
      expect((await model({ input_ids: made(ids) })).logits.data).toEqual(wanted);
    expect(new Tensor('float32', made('new Float32Array([1, 2])'), [2]).tolist()).toEqual([1, 2]);
    await model.dispose();
  });

  it('a path, relative or with a slash at its end, and a file: URL', async () => {
    expect(await logitsOf(`${storiesPath}/`)).toEqual(wanted);
    expect(await logitsOf(`./${relative('.', storiesPath)}`)).toEqual(wanted);
    expect(await logitsOf(pathToFileURL(storiesPath))).toEqual(wanted);
    expect(await logitsOf(pathToFileURL(storiesPath).href)).toEqual(wanted);
  });

  it('records of arrays, buffers and blobs, which stay whole', async () => {
    const arrays = storiesFiles();
    expect(await logitsOf(arrays)).toEqual(wanted);
    expect(await logitsOf(arrays, { worker: true })).toEqual(wanted);
    for (const [name, bytes] of Object.entries(arrays))
      expect(Buffer.compare(bytes, files[name] ?? bytes.subarray(1))).toBe(0);
    const each = (make: (bytes: Uint8Array) => ArrayBuffer | Blob) =>
      Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, make(bytes)]));
    expect(await logitsOf(each((bytes) => copyOf(bytes).buffer as ArrayBuffer))).toEqual(wanted);
    expect(await logitsOf(each((bytes) => new Blob([copyOf(bytes)])))).toEqual(wanted);
  });

  it('a record of Node Buffers in a worker, which stay whole', async () => {
    const whole = Buffer.alloc(2 * 1_048_576, storiesFiles()['model.safetensors']); // of the file, over and over
    const stories = Object.entries(storiesFiles()).map(([name, bytes]) => [name, Buffer.from(bytes.slice().buffer)]);
    const ours: Record<string, Buffer> = Object.fromEntries(stories);
    for (let time = 0; time < 2; time++) expect(await logitsOf(ours, { worker: true })).toEqual(wanted);
    const part = { ...ours, 'model.safetensors': whole.subarray(0, files['model.safetensors']?.length) };
    expect(await logitsOf(part, { worker: true })).toEqual(wanted);
    for (const { buffer } of Object.values(part)) expect(buffer.byteLength).toBeGreaterThan(0);
  });

  it('files that were dropped, or picked as a folder', async () => {
    expect(await logitsOf(fileList(files))).toEqual(wanted);
    expect(await logitsOf(fileList(files, 'stories260K'))).toEqual(wanted);
  });

  it('a directory handle', async () => {
    expect(await logitsOf(directory(files))).toEqual(wanted);
    expect((await failureOf(() => logitsOf(directory({})))).details.file).toBe('config.json');
  });

  it('shards', async () => {
    const events: ProgressInfo[] = [];
    const model = await AutoModelForCausalLM.from_pretrained(fixturePath('llama_tiny/sharded'), {
      progress_callback: (event) => events.push(event),
    });
    expect(events.flatMap(({ status, file }) => (status === 'done' ? [file] : [])).sort()).toEqual([
      'config.json',
      'generation_config.json',
      ...Array.from({ length: 7 }, (_, i) => `model-0000${i + 1}-of-00007.safetensors`),
      'model.safetensors.index.json',
    ]);
    expect(new Set(events.map((event) => event.total)).size).toBe(1);
    await model.dispose();
  });
});

describe('progress', () => {
  it.each([false, true])('knows the total from the start and reaches it (worker: %s)', async (worker) => {
    const events: ProgressInfo[] = [];
    await logitsOf(storiesPath, { worker, progress_callback: (event) => events.push(event) });
    const names = ['config.json', 'generation_config.json', 'model.safetensors'];
    const total = names.reduce((sum, name) => sum + (files[name]?.byteLength ?? Number.NaN), 0);
    expect(events.slice(0, 3).map(({ status, file }) => `${status} ${file}`)).toEqual(
      names.map((name) => `initiate ${name}`),
    );
    expect(events.every((event) => event.total === total)).toBe(true);
    events.slice(1).forEach((event, i) => {
      expect(event.loaded).toBeGreaterThanOrEqual(events[i]?.loaded ?? 0);
    });
    expect(events.filter((event) => event.status === 'progress').length).toBeGreaterThan(2);
    expect(events.at(-1)).toEqual({ status: 'ready', name: storiesPath, loaded: total, total, progress: 100 });
    const bytes = files['model.safetensors']?.byteLength;
    expect(events.at(-2)).toMatchObject({
      status: 'done',
      file: 'model.safetensors',
      file_loaded: bytes,
      file_total: bytes,
    });
  });
});

describe('integrity', () => {
  const digest = (name: string) =>
    createHash('sha256')
      .update(files[name] as Uint8Array)
      .digest('hex');

  it('accepts the right SHA-256 and names the file of a wrong one', async () => {
    const right = {
      'config.json': digest('config.json'),
      'model.safetensors': digest('model.safetensors').toUpperCase(),
    };
    expect(await logitsOf(storiesPath, { integrity: right })).toEqual(wanted);
    const failure = await failureOf(() =>
      logitsOf(storiesPath, { integrity: { ...right, 'model.safetensors': '0'.repeat(64) } }),
    );
    expect(failure.code).toBe('integrity_mismatch');
    expect(failure.details.file).toBe('model.safetensors');
    expect(failure.message).toContain(digest('model.safetensors'));
    const other = await failureOf(() =>
      AutoTokenizer.from_pretrained(storiesPath, { integrity: { 'tokenizer.json': 'ab' } }),
    );
    expect(other).toMatchObject({ code: 'integrity_mismatch', details: { file: 'tokenizer.json' } });
    const unknown = await failureOf(() => logitsOf(storiesPath, { integrity: { 'modell.safetensors': 'ab' } }));
    expect(unknown).toMatchObject({ code: 'invalid_argument', details: { file: 'modell.safetensors' } });
  });

  it('hashes like everyone else, in parts of any size', () => {
    const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * i) % 251);
    for (let length = 0; length < 260; length++) {
      const hash = new Sha256();
      for (let start = 0; start < length; start += 37) hash.update(bytes.subarray(start, Math.min(start + 37, length)));
      expect(hash.hex()).toBe(createHash('sha256').update(bytes.subarray(0, length)).digest('hex'));
    }
  });
});

describe('a tokenizer for the text of a stream', () => {
  const textOf = async (source: Source, options = {}) => {
    const model = await AutoModelForCausalLM.from_pretrained(source);
    try {
      const first = await model.generate_stream({ input_ids }, { max_new_tokens: 1, ...options }).next();
      return first.value?.text;
    } finally {
      await model.dispose();
    }
  };

  it('comes from beside the model, from the caller, or there is no text', async () => {
    const { 'tokenizer.json': json, ...without } = files;
    expect(await textOf(files)).toBe(' a');
    expect(await textOf(without)).toBe(undefined);
    expect(await textOf(files, { tokenizer: null })).toBe(undefined);
    expect(await textOf(without, { tokenizer: await AutoTokenizer.from_pretrained(storiesPath) })).toBe(' a');
    const broken = { ...without, 'tokenizer.json': (json as Uint8Array).slice(5) };
    expect((await failureOf(() => textOf(broken))).code).toBe('malformed_config');
  });
});

describe('a failure names its file', () => {
  const { 'config.json': config, 'model.safetensors': weights, ...rest } = files;

  it.each([
    ['config.json', { 'model.safetensors': weights, ...rest }],
    ['model.safetensors', { 'config.json': config, ...rest }],
  ])('without %s', async (file, source) => {
    const failure = await failureOf(() => logitsOf(source as Files));
    expect(failure.code).toBe('file_not_found');
    expect(failure.details.file).toBe(file);
    expect(failure.message).toContain(file);
    expect(failure.message).toContain('the given record');
  });

  it('with a shard that is not there', async () => {
    const index = JSON.stringify({
      metadata: {},
      weight_map: { 'model.norm.weight': 'model-00001-of-00001.safetensors' },
    });
    const source = {
      'config.json': config as Uint8Array,
      'model.safetensors.index.json': new TextEncoder().encode(index),
    };
    expect(await failureOf(() => logitsOf(source))).toMatchObject({
      code: 'file_not_found',
      details: { file: 'model-00001-of-00001.safetensors' },
    });
  });

  it('with addresses relative to nothing, where a server runs isolates, and with paths in an old Node', () => {
    try {
      vi.stubGlobal('process', undefined);
      expect(urlOf('source', 'https://host/name/').href).toBe('https://host/name/');
      expect(() => urlOf('source', './name')).toThrow(/^source: '\.\/name' is no URL$/);
      vi.stubGlobal('process', { versions: { node: '22.0.0' } });
      expect(() => nodeModule('node:path')).toThrow('Node 20.16, 22.3 or newer is needed');
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it('with a folder that is not there or cannot be read', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'clearformer-'));
    await writeFile(join(folder, 'config.json'), config as Uint8Array);
    expect((await failureOf(() => logitsOf(join(folder, 'no')))).message).toContain(`${join(folder, 'no')}`);
    expect((await failureOf(() => logitsOf(folder))).message).toContain('model.safetensors');
    expect((await failureOf(() => logitsOf(join(folder, 'config.json')))).code).toBe('file_not_found');
    await rm(folder, { recursive: true });
  });

  it('with a link that leads nowhere, of which a cache without its blobs consists', async () => {
    const folder = folderOf(storiesPath, { 'model.safetensors': null });
    const [weights, target] = [join(folder, 'model.safetensors'), join(folder, 'blobs', '0abc')];
    await symlink(target, weights);
    expect(await failureOf(() => logitsOf(folder))).toMatchObject({
      code: 'file_not_found',
      message: `${weights} is a link to ${target}, which does not exist`,
      details: { file: 'model.safetensors' },
    });
    await rm(weights);
    await symlink(join(storiesPath, 'model.safetensors'), weights);
    expect(await logitsOf(folder)).toEqual(wanted);
  });

  const below = folderOf(undefined, { 'models--org--some--name/snapshots/0abc/config.json': config as Uint8Array });
  it.each([
    ['no folder', join(below, 'no'), `${join(below, 'no')} does not exist`],
    [
      'a file',
      join(storiesPath, 'tokenizer.json'),
      `${join(storiesPath, 'tokenizer.json')} is not a folder: load the folder it is in, ${storiesPath}`,
    ],
    [
      'a folder of the cache',
      join(below, 'models--org--some--name'),
      `${join(below, 'models--org--some--name')} is the cache of org/some--name: load that, or a folder in its snapshots`,
    ],
  ])('with a path that is %s, whatever is loaded from it', async (_, path, message) => {
    for (const read of [
      () => AutoModelForCausalLM.from_pretrained(path),
      () => AutoTokenizer.from_pretrained(path),
      () => AutoConfig.from_pretrained(path),
      () => AutoProcessor.from_pretrained(path),
      () => AutoImageProcessor.from_pretrained(path),
      () => AutoFeatureExtractor.from_pretrained(path),
      () => pipeline(undefined, path),
      () => inspect(path),
      () => validate(path),
    ]) {
      expect(await failureOf(read)).toMatchObject({ code: 'file_not_found', message });
    }
  });
});

describe('from_pretrained refuses', () => {
  it.each([
    ['three/part/name', {}, 'invalid_argument', 'three/part/name'],
    ['not a name', {}, 'invalid_argument', 'not a name'],
    ['', {}, 'invalid_argument', ''],
    ['ftp://somewhere/x', {}, 'invalid_argument', 'ftp:'],
    ['http://[', {}, 'invalid_argument', "source: 'http://[' is no URL"],
    ['org/name', { remote_host: 'http://[' }, 'invalid_argument', "remote_host: 'http://[/org/name/"],
    [storiesPath, { wasmUrl: 'http://[' }, 'invalid_argument', "wasmUrl: 'http://[' is no URL"],
    [null, {}, 'invalid_argument', 'source'],
    [3, {}, 'invalid_argument', 'source'],
    [{ 'config.json': 'text' }, {}, 'invalid_argument', 'config.json'],
    [storiesPath, { dtypes: 'fp32' }, 'unsupported', 'dtypes'],
    [storiesPath, { dtype: 'q3' }, 'unsupported', "'q3' is not supported (known: 'fp32', 'fp16', 'q8', 'q4')"],
    [storiesPath, { dtype: 'q2' }, 'unsupported', "'q2' is not supported: use dtype: 'q4'"],
    [storiesPath, { dtype: 8 }, 'unsupported', "'8' is not supported (known: 'fp32', 'fp16', 'q8', 'q4')"],
    [storiesPath, { numThreads: 0 }, 'invalid_argument', 'numThreads'],
    [storiesPath, { numThreads: 1.5 }, 'invalid_argument', '1.5'],
    [storiesPath, { numThreads: 65 }, 'invalid_argument', '64'],
    [storiesPath, { numThreads: 'all' }, 'invalid_argument', 'all'],
    [storiesPath, 'fp32', 'invalid_argument', 'object'],
    ['http://127.0.0.1/x/config.json', {}, 'invalid_argument', 'config.json is a file: load the folder it is in'],
    ['https://huggingface.co/org/x/blob/main/model.safetensors', {}, 'invalid_argument', 'is a file'],
    ['http://127.0.0.1/x', { revision: 'main' }, 'unsupported', 'revision'],
    [storiesPath, { revision: 'main' }, 'unsupported', 'revision: only a Hub id has revisions'],
    [pathToFileURL(storiesPath), { revision: 'v2' }, 'unsupported', 'revision: only a Hub id has revisions'],
    [files, { revision: 'v2' }, 'unsupported', 'revision: only a Hub id has revisions'],
    [fileList(files), { revision: 'v2' }, 'unsupported', 'revision: only a Hub id has revisions'],
    [directory(files), { revision: 'v2' }, 'unsupported', 'revision: only a Hub id has revisions'],
    ['http://127.0.0.1/x', { cache: 'always' }, 'invalid_argument', 'always'],
  ])('%s with %j', async (source, options, code, word) => {
    const failure = await failureOf(() => AutoModelForCausalLM.from_pretrained(source as never, options as never));
    expect(failure.message).toContain(word);
    expect(failure.code).toBe(code);
  });

  it('a signal that is aborted already', async () => {
    const reason = new Error('no');
    await expect(AutoModelForCausalLM.from_pretrained(storiesPath, { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
    await expect(AutoTokenizer.from_pretrained(storiesPath, { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
  });
});
