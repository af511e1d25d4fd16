// Files that exist and cannot be read: the error names them and says why, and none is taken for a missing one.

import { appendFileSync, existsSync, mkdirSync, openAsBlob, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  AutoConfig,
  AutoImageProcessor,
  AutoModelForCausalLM,
  AutoProcessor,
  AutoTokenizer,
  inspect,
  load_image,
  pipeline,
  read_audio,
  type Source,
  validate,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { storiesFiles } from './support/checkpoints.js';
import { folderOf, run } from './support/command.js';
import { directory } from './support/directory_handle.js';
import { failureOf } from './support/failures.js';
import { fixturePath, storiesPath } from './support/references.js';

/** A file of which no user can read the first byte (Linux). Its size is 0, which the core refuses for weights. */
const unreadable = '/proc/self/mem';

/** The model with one file that cannot be read; with weights of another library beside it. */
function onDisk(name: string): string {
  const folder = folderOf(storiesPath, { [name]: null, 'pytorch_model.bin': 'x' });
  symlinkSync(unreadable, join(folder, name));
  return folder;
}

/** A file that has changed since it was picked. */
async function changed(name: string, bytes: Uint8Array | string): Promise<Blob> {
  const path = join(folderOf(undefined, {}), name.replaceAll('/', '_'));
  writeFileSync(path, bytes);
  const blob = await openAsBlob(path);
  appendFileSync(path, ' ');
  return blob;
}

async function inMemory(name: string): Promise<Source> {
  const files = storiesFiles();
  return { ...files, [name]: await changed(name, files[name] as Uint8Array) } as Source;
}

/** A directory handle; the browser refuses to read one of its files. */
async function picked(name: string): Promise<Source> {
  const handle = directory(storiesFiles());
  const { getFileHandle } = handle;
  handle.getFileHandle = async (part) => {
    if (part === name) throw new DOMException('denied', 'NotAllowedError');
    return getFileHandle(part);
  };
  return handle;
}

const kinds: [string, (name: string) => Promise<Source> | Source][] = [
  ['in memory', inMemory],
  ['of a picked folder', picked],
];
if (existsSync(unreadable)) kinds.push(['on disk', onDisk]);

const readers: [string, string, (source: Source) => Promise<unknown>][] = [
  ['config.json', 'model', (source) => AutoModelForCausalLM.from_pretrained(source)],
  ['config.json', 'config', (source) => AutoConfig.from_pretrained(source)],
  ['config.json', 'inspect', inspect],
  ['generation_config.json', 'model', (source) => AutoModelForCausalLM.from_pretrained(source)],
  ['model.safetensors', 'model', (source) => AutoModelForCausalLM.from_pretrained(source)],
  ['tokenizer.json', 'tokenizer', (source) => AutoTokenizer.from_pretrained(source)],
  ['tokenizer.json', 'processor', (source) => AutoProcessor.from_pretrained(source)],
  ['tokenizer.json', 'pipeline', (source) => pipeline('text-generation', source)],
];

describe.each(kinds)('a file %s', (kind, made) => {
  const read = kind === 'on disk' ? readers.filter(([name]) => name !== 'model.safetensors') : readers;
  it.each(read)('%s: %s', async (name, reader, read) => {
    const source = await made(name);
    if (reader === 'inspect') {
      const { valid, problems } = (await read(source)) as Awaited<ReturnType<typeof inspect>>;
      expect(valid).toBe(false);
      expect(problems[0]).toMatchObject({ code: 'file_not_found', file: name });
      expect(problems[0]?.message).toMatch(/could not be read \(.+\)$/);
      return;
    }
    const { code, message, details, cause } = await failureOf(() => read(source));
    expect([code, details.file]).toEqual(['file_not_found', name]);
    expect(message).toContain(name);
    expect(message).toMatch(/could not be read \(.+\)$/);
    expect(cause).toBeInstanceOf(Error);
  });

  it('a tokenizer beside a model is none that is missing', async () => {
    const model = await AutoModelForCausalLM.from_pretrained(await made('tokenizer.json'));
    const { message } = await failureOf(() => model.generate({ input_ids: [[1]] }, { stop_strings: ['a'] }));
    expect(message).toContain('could not be read');
    await model.dispose();
  });
});

it('validate lists them', async () => {
  for (const name of ['config.json', 'model.safetensors', 'tokenizer.json', 'generation_config.json']) {
    const { valid, problems } = await validate(await inMemory(name));
    expect(valid).toBe(false);
    const told = problems.filter(({ file }) => file === name).map(({ message }) => message);
    expect(told).toContainEqual(`${name} in the given record could not be read (The blob could not be read)`);
  }
});

it.runIf(existsSync(unreadable))('the command line lists them', async () => {
  const folder = onDisk('tokenizer.json');
  const { code, out } = await run(['validate', folder]);
  expect(code).toBe(1);
  expect(out).toContain(`${join(folder, 'tokenizer.json')} could not be read (EIO`);
});

describe.each<[string, string, (path: string) => void]>([
  ['a link that leads nowhere', 'is a link to ../../blobs/1', (path) => symlinkSync('../../blobs/1', path)],
  ['a link to itself', 'could not be read (ELOOP', (path) => symlinkSync(path, path)],
  ['a folder', 'is no regular file', (path) => mkdirSync(path)],
])('%s in place of', (_, why, put) => {
  const names = [
    'config.json',
    'generation_config.json',
    'model.safetensors',
    'model.safetensors.index.json',
    'tokenizer.json',
    'tokenizer_config.json',
    'preprocessor_config.json',
  ];
  it.each(names)('%s', async (name) => {
    const removed = name.includes('.index.') ? { 'model.safetensors': null } : {};
    const base = name.startsWith('pre') ? fixturePath('models/vit/even_image_classification') : storiesPath;
    const folder = folderOf(base, { [name]: '', ...removed });
    rmSync(join(folder, name));
    put(join(folder, name));
    for (const tell of [inspect, validate]) {
      const { valid, problems } = await tell(folder);
      expect(valid).toBe(false);
      expect(problems).toMatchObject([{ code: 'file_not_found', severity: 'error', file: name }]);
      expect(problems[0]?.message).toContain(`${join(folder, name)} ${why}`);
    }
  });
});

it('shards that lead nowhere are told one by one; a folder that is none rejects', async () => {
  const weight_map = { a: 'model-00001-of-00002.safetensors', b: 'model-00002-of-00002.safetensors' };
  const index = JSON.stringify({ weight_map });
  const folder = folderOf(storiesPath, { 'model.safetensors': null, 'model.safetensors.index.json': index });
  symlinkSync('../1', join(folder, weight_map.a));
  const { problems } = await inspect(folder);
  const messages = [`${weight_map.a} is a link to ../1`, `${weight_map.b} is not in`];
  for (const message of messages) expect(problems.filter((one) => one.message.includes(message))).toHaveLength(1);
  rmSync(join(folder, 'model.safetensors.index.json'));
  expect((await inspect(folder)).problems.map(({ message }) => message).join()).not.toContain('rename');
  for (const tell of [inspect, validate])
    expect((await failureOf(() => tell(join(folder, 'none')))).message).toContain('does not exist');
});

it('images and sound', async () => {
  const image = await failureOf(async () => load_image(await changed('own.png', 'x')));
  expect([image.code, image.message]).toEqual(['file_not_found', expect.stringContaining('could not be read')]);
  const named = Object.assign(await changed('own.wav', 'x'), { name: 'own.wav' });
  const sound = await failureOf(() => read_audio(named));
  expect([sound.code, sound.details.file]).toEqual(['file_not_found', 'own.wav']);
  expect(sound.message).toBe('read_audio: own.wav could not be read (The blob could not be read)');
});

it('a processor', async () => {
  const source = { 'preprocessor_config.json': await changed('preprocessor_config.json', '{}') };
  for (const loader of [AutoImageProcessor, AutoProcessor])
    expect((await failureOf(() => loader.from_pretrained(source))).message).toContain('could not be read');
});
