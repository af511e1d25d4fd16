// Files that exist and cannot be read: the error names them and says why, and none is taken for a missing one.

import { appendFileSync, existsSync, openAsBlob, symlinkSync, writeFileSync } from 'node:fs';
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
import { storiesPath } from './support/references.js';

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
