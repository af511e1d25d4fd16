// The disk cache in folders that may not be written, and with files that may not be read. Tests may run as a user whom
// no permissions bind: the functions that need them reject.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { clearCache } from '../../../web/src/checkpoint/cached_models.js';
import { etagOf } from '../support/hub.js';
import { noise } from '../support/noise.js';
import { bench, digestFrom, digestOf } from '../support/reading.js';

const weights = noise(9 << 20);
const name = 'model.safetensors';
const test = bench(() => ({ [name]: weights }));
const repository = () => join(test.cache_dir, 'models--someone--model');
const blob = () => join(repository(), 'blobs', etagOf(name, weights));
const read = (options = {}) => digestFrom(test.hub.id, name, { cache_dir: test.cache_dir, ...options });
const codes = () => test.warnings.map(({ code }) => code);

const files = process.getBuiltinModule('node:fs/promises');
type Call =
  | 'access'
  | 'appendFile'
  | 'mkdir'
  | 'open'
  | 'readFile'
  | 'rename'
  | 'rm'
  | 'symlink'
  | 'truncate'
  | 'writeFile';

/** Rejects calls with these paths. */
function forbid(calls: readonly Call[], path: (given: string) => boolean, readOnly = false): void {
  for (const call of calls) {
    const original = files[call] as (...given: unknown[]) => Promise<unknown>;
    vi.spyOn(files, call as 'rm').mockImplementation(async (...given: unknown[]) => {
      const [at, flags] = given as [string, unknown];
      const reads = readOnly && call === 'open' && flags === undefined;
      if (reads || !path(at)) return original(...given) as Promise<void>;
      throw Object.assign(new Error(`EACCES: permission denied, ${call} '${at}'`), { code: 'EACCES' });
    });
  }
}

it('a home folder or variables that may not be read, as in Deno, are named, and asked for only if needed', async () => {
  const { env } = process;
  const refuse = () => {
    throw new Error('NotCapable: run again with a flag');
  };
  vi.spyOn(process.getBuiltinModule('node:os'), 'homedir').mockImplementation(refuse);
  const refused = (what: string) => ({
    code: 'unsupported',
    message: expect.stringContaining(`${what} could not be read (NotCapable: run again with a flag)`),
  });
  try {
    process.env = { HF_HOME: test.cache_dir };
    expect(await read()).toBe(digestOf(weights));
    process.env = {};
    await expect(read()).rejects.toMatchObject(refused('the home folder (an HF_HOME without ~ needs none)'));
    expect(await read({ token: false })).toBe(digestOf(weights));
    process.env = new Proxy({}, { get: refuse });
    await expect(read()).rejects.toMatchObject(refused('HF_HUB_OFFLINE'));
  } finally {
    process.env = env;
  }
});

const writing = ['appendFile', 'mkdir', 'open', 'rename', 'rm', 'symlink', 'truncate', 'writeFile'] as const;

beforeEach(async () => {
  await read();
  test.hub.seen.length = 0;
});
afterEach(() => vi.restoreAllMocks());

it.each(['own', "Python's"])('%s damaged file in a read-only folder is fetched, and not kept', async (whose) => {
  const bytes = readFileSync(blob());
  for (const at of [7, 6 << 20]) bytes[at] = 255 - (bytes[at] ?? 0);
  writeFileSync(blob(), bytes);
  if (whose !== 'own') rmSync(join(repository(), '.pieces'), { recursive: true });
  forbid(writing, (path) => path.startsWith(test.cache_dir), true);
  expect(await read()).toBe(digestOf(weights));
  expect(codes()).toEqual(['damaged_cache', 'not_kept']);
  expect(test.warnings[1]?.message).toContain('EACCES');
});

it('only a later damaged piece that cannot be kept is told, too', async () => {
  const bytes = readFileSync(blob());
  for (const at of [7, 6 << 20]) bytes[at] = 255 - (bytes[at] ?? 0);
  writeFileSync(blob(), bytes);
  let written = 0;
  forbid(['open'], (path) => path === blob() && written++ > 0, true);
  expect(await read()).toBe(digestOf(weights));
  expect(codes()).toEqual(['damaged_cache', 'not_kept']);
});

it.each([
  ['a file', blob],
  ['a folder', repository],
])('%s that may not be read is fetched, and is not missing', async (_, path) => {
  const forbidden = path();
  forbid(['access', 'open'], (at) => at.startsWith(forbidden));
  if (forbidden === repository())
    vi.spyOn(files, 'realpath').mockRejectedValue(Object.assign(new Error('EACCES'), { code: 'EACCES' }));
  await expect(read({ local_files_only: true })).rejects.toMatchObject({
    code: 'file_not_found',
    message: expect.stringMatching(/model\.safetensors could not be read \(.*EACCES/),
  });
  expect(await read()).toBe(digestOf(weights));
  expect(test.hub.downloads).toEqual([name]);
  expect(test.warnings).toMatchObject([{ code: 'not_kept', message: expect.stringContaining('EACCES') }]);
});

it('a revision whose commit may not be read is not taken for one that is not there', async () => {
  forbid([...writing, 'readFile'], (path) => path.startsWith(join(repository(), 'refs')));
  await expect(read({ local_files_only: true })).rejects.toMatchObject({
    code: 'file_not_found',
    message: expect.stringMatching(/refs.main could not be read \(EACCES/),
  });
  expect(await read()).toBe(digestOf(weights));
  expect(test.hub.downloads).toEqual([]);
});

it('what cannot be removed is told, after everything else is', async () => {
  const other = join(test.cache_dir, 'models--another--model', 'blobs');
  mkdirSync(other, { recursive: true });
  writeFileSync(join(other, 'x.clearformer.incomplete'), 'x');
  mkdirSync(join(test.cache_dir, 'models--a--b', 'blobs'), { recursive: true });
  forbid(['rm'], (path) => path.startsWith(join(test.cache_dir, 'models--a--b')));
  await expect(clearCache({ cache_dir: test.cache_dir })).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/^clearCache: .*models--a--b could not be cleared \(EACCES/),
    details: { where: join(test.cache_dir, 'models--a--b') },
  });
  expect([existsSync(repository()), existsSync(other)]).toEqual([false, false]);
});
