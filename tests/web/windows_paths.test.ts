// Paths and file: URLs on Windows: Node's functions for Windows (`path.win32` and its conversion of URLs) replace
// those of this platform, and C:\models\stories is the folder of stories260K.

import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import * as url from 'node:url';
import { AutoModelForCausalLM, AutoTokenizer, read_audio } from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DiskRepository } from '../../web/src/checkpoint/disk_repository.js';
import { openSource } from '../../web/src/checkpoint/source.js';
import { failureOf } from './support/failures.js';
import { storiesPath } from './support/references.js';

const { win32 } = path;
const here = process.getBuiltinModule;
/** The requested files, with paths normalized as on Windows. */
let asked: string[] = [];

/** The file on this machine for a path; the package's own files are named by URLs. */
function fileOf(given: string | URL): string | URL {
  if (given instanceof URL) return given;
  const normal = win32.normalize(given);
  asked.push(normal);
  const inside = win32.relative('C:\\models\\stories', normal);
  return inside.startsWith('..') || win32.isAbsolute(inside) ? '/none' : path.join(storiesPath, ...inside.split('\\'));
}

beforeAll(() => {
  const windows: Record<string, object> = {
    'node:path': win32,
    'node:url': {
      ...url,
      fileURLToPath: (given: URL) => url.fileURLToPath(given, { windows: true }),
      pathToFileURL: (given: string) => url.pathToFileURL(given, { windows: true }),
    },
    'node:fs/promises': {
      ...fs,
      stat: (given: string | URL) => fs.stat(fileOf(given)),
      open: (given: string | URL) => fs.open(fileOf(given)),
      readdir: (given: string | URL) => fs.readdir(fileOf(given)),
      readFile: (given: string | URL) => fs.readFile(fileOf(given)),
    },
  };
  process.getBuiltinModule = ((name: string) => windows[name] ?? here(name as 'node:fs')) as never;
});
afterAll(() => {
  process.getBuiltinModule = here;
});

/** The file that is requested for config.json of a source that does not exist. */
async function lookedFor(source: string | URL): Promise<string | undefined> {
  asked = [];
  const message = expect.stringMatching(/does not exist$/);
  await expect(openSource(source, {}).find('config.json')).rejects.toMatchObject({ code: 'file_not_found', message });
  return asked[0];
}

describe('a source', () => {
  it.each([
    ['C:\\models\\x', 'C:\\models\\x\\config.json'],
    ['c:/models/x/', 'c:\\models\\x\\config.json'],
    ['C:\\', 'C:\\config.json'],
    ['.\\models\\x', 'models\\x\\config.json'],
    ['..\\x\\', '..\\x\\config.json'],
    ['\\models\\x', '\\models\\x\\config.json'],
    ['\\\\server\\share\\x', '\\\\server\\share\\x\\config.json'],
    ['\\\\?\\C:\\models\\x', '\\\\?\\C:\\models\\x\\config.json'],
    ['file:///C:/models/x', 'C:\\models\\x\\config.json'],
    ['file:///C:/models/my%20x/', 'C:\\models\\my x\\config.json'],
    ['file:C:/models/x', 'C:\\models\\x\\config.json'],
    ['file://server/share/x', '\\\\server\\share\\x\\config.json'],
    [new URL('file:///D:/x'), 'D:\\x\\config.json'],
  ])('%s is a folder', async (source, file) => {
    expect(await lookedFor(source)).toBe(file);
  });

  it.each(['C:models', 'models\\x', 'file:///models/x', 'file:///C:/a%2Fb', 'file:///C:/a%5Cb'])(
    '%s is no whole path, and that is told',
    async (source) => {
      expect((await failureOf(() => AutoTokenizer.from_pretrained(source))).code).toBe('invalid_argument');
    },
  );

  it.each(['C:\\models\\stories', 'file:///C:/models/stories'])('%s is a model and its tokenizer', async (source) => {
    const tokenizer = await AutoTokenizer.from_pretrained(source);
    const model = await AutoModelForCausalLM.from_pretrained(source);
    const ids = await model.generate(tokenizer('Once upon a time'), { max_new_tokens: 8 });
    await model.dispose();
    expect(tokenizer.batch_decode(ids, { skip_special_tokens: true })).toEqual([
      'Once upon a time, there was a little girl',
    ]);
    const { details, code } = await failureOf(() => AutoModelForCausalLM.from_pretrained(`${source}X`));
    expect([code, details.where]).toEqual(['file_not_found', 'C:\\models\\storiesX']);
  });
});

describe('a file', () => {
  it.each([
    ['C:\\sounds\\one.wav', 'C:\\sounds\\one.wav'],
    ['D:/one.wav', 'D:\\one.wav'],
    ['sounds\\one.wav', 'sounds\\one.wav'],
    ['\\\\server\\share\\one.wav', '\\\\server\\share\\one.wav'],
    ['file:///C:/my%20sounds/one.wav', 'C:\\my sounds\\one.wav'],
  ])('%s is read from disk', async (name, file) => {
    asked = [];
    const { code } = await failureOf(() => read_audio(name));
    expect(code).toBe('file_not_found');
    expect(asked).toContain(file); // loading a part of the package may read others
  });

  it('of an address that means no path is told', async () => {
    expect((await failureOf(() => read_audio('file:///one.wav'))).code).toBe('invalid_argument');
  });
});

describe('the cache on disk', () => {
  const repository = (revision: string) => new DiskRepository({ id: 'org/name', revision }, 'D:\\cache');

  it('has paths of Windows, and none that leads out of it', () => {
    const commit = 'a'.repeat(40);
    const { folder } = repository('main');
    expect(folder).toBe('D:\\cache\\models--org--name');
    expect(repository('main').pointer(commit, '1_Pooling/config.json')).toBe(
      `${folder}\\snapshots\\${commit}\\1_Pooling\\config.json`,
    );
    for (const name of ['..\\config.json', 'C:config.json', '1_Pooling\\..\\..\\x'])
      expect(() => repository('main').pointer(commit, name)).toThrow('is no name of a file in a folder');
  });

  it.each(['refs/pr/1', 'a\\..\\..\\..\\..\\x', '../../x'])('keeps the ref %s below its folder', async (revision) => {
    asked = [];
    await repository(revision).commit();
    expect(asked[0]).toMatch(/^D:\\cache\\models--org--name\\refs\\[^.]/);
  });
});
