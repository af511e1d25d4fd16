// Reading a folder's files: texts in chunks, sizes known from the header only, and names below a common folder.
import { describe, expect, it } from 'vitest';
import { readRequired } from '../../web/src/checkpoint/files.js';
import type { Folder, SourceFile } from '../../web/src/checkpoint/folder.js';
import { openSource } from '../../web/src/checkpoint/source.js';
import { exactSize } from '../../web/src/checkpoint/weights_header.js';

/** A file whose bytes come in chunks of `step`, with a size that the server does not give. */
function fileOf(bytes: Uint8Array, step: number): SourceFile {
  async function* chunks() {
    for (let start = 0; start < bytes.length; start += step) yield bytes.slice(start, start + step);
  }
  return { name: 'config.json', where: 'here', size: null, borrowed: false, html: false, chunks };
}

const folderOf = (file: SourceFile): Folder => ({
  where: 'here',
  find: async () => file,
  only: (): Folder => folderOf(file),
});

describe('a text', () => {
  const value = { name: 'naïve 日本 😀 e\u0301' };
  const bytes = new TextEncoder().encode(JSON.stringify(value));

  it('is the same whatever parts its bytes come in', async () => {
    for (const step of [1, 2, 3, 5, 7, bytes.length]) {
      const { text, bytes: count } = await readRequired(folderOf(fileOf(bytes, step)), 'config.json', {});
      expect([JSON.parse(text), count]).toEqual([value, bytes.length]);
    }
  });

  it('that ends within a character is refused', async () => {
    const cut = bytes.slice(0, bytes.indexOf(0x9f)); // the second byte of the emoji
    const read = readRequired(folderOf(fileOf(cut, 4)), 'config.json', {});
    await expect(read).rejects.toMatchObject({ code: 'malformed_config', message: expect.stringContaining('UTF-8') });
  });
});

describe('the size of a safetensors file that the server does not tell', () => {
  const safetensors = (header: object) => {
    const text = new TextEncoder().encode(JSON.stringify(header));
    const file = new Uint8Array(8 + text.length + 100);
    new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
    file.set(text, 8);
    return { file, start: 8 + text.length };
  };
  const tensor = (begin: number, end: number) => ({
    dtype: 'F32',
    shape: [(end - begin) / 4],
    data_offsets: [begin, end],
  });

  it('is where the last tensor ends, in whatever order they are named', async () => {
    const orders = [
      { a: tensor(0, 8), b: tensor(8, 100), c: tensor(100, 100) },
      { b: tensor(8, 100), a: tensor(0, 8) },
      { __metadata__: { format: 'pt' }, last: tensor(40, 100), first: tensor(0, 40) },
    ];
    for (const header of orders) {
      const { file, start } = safetensors(header);
      for (const step of [1, 7, 64, 1000]) expect(await exactSize(fileOf(file, step))).toBe(start + 100);
    }
  });

  it('is the header alone where there are no tensors', async () => {
    const { file, start } = safetensors({});
    expect(await exactSize(fileOf(file, 16))).toBe(start);
  });
});

describe('files of a picked folder', () => {
  const picked = (...paths: string[]) =>
    paths.map((path) => {
      const file = new File([path], path.split('/').at(-1) as string);
      Object.defineProperty(file, 'webkitRelativePath', { value: path });
      return file;
    });
  const found = async (paths: string[], name: string) =>
    (await openSource(picked(...paths), {}).find(name)) !== undefined;

  it('are named below the folder that all share', async () => {
    const paths = ['model/config.json', 'model/1_Pooling/config.json'];
    expect(await found(paths, 'config.json')).toBe(true);
    expect(await found(paths, '1_Pooling/config.json')).toBe(true);
    expect(await found(paths, 'model/config.json')).toBe(false);
  });

  it('keep their names where they share none, in whatever order they come', async () => {
    for (const paths of [
      ['1_Pooling/config.json', 'config.json'],
      ['config.json', '1_Pooling/config.json'],
    ]) {
      expect(await found(paths, 'config.json')).toBe(true);
      expect(await found(paths, '1_Pooling/config.json')).toBe(true);
    }
    const two = ['model/config.json', 'models/config.json']; // one name is a prefix of the other
    expect(await found(two, 'model/config.json')).toBe(true);
    expect(await found(two, 'models/config.json')).toBe(true);
  });
});
