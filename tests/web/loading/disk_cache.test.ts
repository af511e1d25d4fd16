// The disk cache, shared with Python's huggingface_hub: files are complete and verified or not there at all.

import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { clearCache, listCache } from '../../../web/src/checkpoint/cached_models.js';
import { hubCache, storedToken, webCache } from '../../../web/src/checkpoint/hub_home.js';
import { configure } from '../../../web/src/support/config.js';
import { etagOf } from '../support/hub.js';
import { noise } from '../support/noise.js';
import { bench, digestFrom, digestOf, readFile, text } from '../support/reading.js';

const mb = 1 << 20;
const weights = noise(9 * mb);
const config = text({ model_type: 'test' });
const name = 'model.safetensors';
const test = bench(() => ({
  'config.json': config,
  [name]: weights,
  '1_Pooling/config.json': text({ pooling: 'mean' }),
}));
const repository = () => join(test.cache_dir, 'models--someone--model');
const blob = (file: string) => join(repository(), 'blobs', etagOf(file, test.hub.files[file] ?? new Uint8Array(0)));
const read = (file = name, options = {}) => digestFrom(test.hub.id, file, { cache_dir: test.cache_dir, ...options });
const flip = (path: string, at: number) => {
  const bytes = readFileSync(path);
  bytes[at] = 255 - (bytes[at] ?? 0);
  writeFileSync(path, bytes);
};
afterEach(() => vi.restoreAllMocks());

describe('the layout', () => {
  it('is that of huggingface_hub: blobs, snapshots that point to them, refs', async () => {
    for (const file of Object.keys(test.hub.files)) await read(file);
    const snapshot = join(repository(), 'snapshots', test.hub.commit);
    expect(readFileSync(join(repository(), 'refs/main'), 'utf8')).toBe(test.hub.commit);
    expect(readlinkSync(join(snapshot, name))).toBe(
      `../../blobs/${createHash('sha256').update(weights).digest('hex')}`,
    );
    expect(readlinkSync(join(snapshot, '1_Pooling/config.json'))).toMatch(/^\.\.\/\.\.\/\.\.\/blobs\/[0-9a-f]{40}$/);
    expect(readFileSync(join(snapshot, 'config.json'))).toEqual(Buffer.from(config));
    expect(readdirSync(join(repository(), 'blobs'))).toHaveLength(3);
    expect(readdirSync(join(test.cache_dir, '.locks/models--someone--model'))).toEqual([]);
  });

  it('of another branch is noted under its name, of a commit not at all', async () => {
    await read('config.json', { revision: test.hub.commit });
    expect(existsSync(join(repository(), 'refs'))).toBe(false);
  });

  it("is found where Python's variables say", () => {
    const { env } = process;
    const before = { ...env };
    try {
      for (const name of ['HF_HOME', 'HF_HUB_CACHE', 'HUGGINGFACE_HUB_CACHE', 'XDG_CACHE_HOME']) env[name] = '';
      env.HOME = '/home/someone';
      expect(hubCache()).toBe('/home/someone/.cache/huggingface/hub');
      env.XDG_CACHE_HOME = '/caches';
      expect(hubCache()).toBe('/caches/huggingface/hub');
      env.HF_HOME = '~/hf';
      expect([hubCache(), webCache()]).toEqual(['/home/someone/hf/hub', '/home/someone/hf/clearformer']);
      env.HUGGINGFACE_HUB_CACHE = '/old';
      expect(hubCache()).toBe('/old');
      env.HF_HUB_CACHE = '$HOME/new';
      expect(hubCache()).toBe('/home/someone/new');
    } finally {
      for (const name of Object.keys(env)) if (!(name in before)) delete env[name];
      Object.assign(env, before);
    }
  });

  it("holds the token of 'hf auth login'", async () => {
    const { env } = process;
    try {
      env.HF_TOKEN_PATH = join(test.cache_dir, 'token');
      writeFileSync(env.HF_TOKEN_PATH, 'hf_written\n');
      expect(await storedToken()).toBe('hf_written');
      env.HF_TOKEN = 'hf_set';
      expect(await storedToken()).toBe('hf_set');
      env.HF_TOKEN = ' hf_in\r\ntwo\n';
      expect(await storedToken()).toBe('hf_intwo'); // as _clean_token of huggingface_hub
      for (const token of ['hf_two words', 'hf_…', 'hf_\0']) {
        env.HF_TOKEN = '';
        writeFileSync(env.HF_TOKEN_PATH, token);
        await expect(storedToken()).rejects.toMatchObject({
          code: 'invalid_argument',
          message: `the token of ${env.HF_TOKEN_PATH} must be a text without spaces (token: false sends none)`,
        });
        if (token.includes('\0')) continue; // no variable can hold it
        env.HF_TOKEN = token;
        const message = 'the token of HF_TOKEN must be a text without spaces (token: false sends none)';
        await expect(read()).rejects.toMatchObject({ code: 'invalid_argument', message });
      }
    } finally {
      env.HF_TOKEN = '';
      delete env.HF_TOKEN_PATH;
    }
  });
});

describe('a second load', () => {
  it('asks whether the files are current and fetches none', async () => {
    for (let load = 0; load < 2; load++) {
      test.hub.seen.length = 0;
      expect(await read()).toBe(digestOf(weights));
      expect(await readFile(test.hub.id, 'generation_config.json', { cache_dir: test.cache_dir })).toBe(undefined);
    }
    expect(test.hub.seen.map(({ method }) => method)).toEqual(['HEAD', 'HEAD']);
  });

  it('of a commit asks nothing, not even for files that it does not have', async () => {
    const options = { revision: test.hub.commit, cache_dir: test.cache_dir };
    for (let load = 0; load < 2; load++) {
      test.hub.seen.length = 0;
      expect(await read(name, options)).toBe(digestOf(weights));
      expect(await readFile(test.hub.id, 'generation_config.json', options)).toBe(undefined);
    }
    expect(test.hub.seen).toEqual([]);
  });

  it('of a branch that moved on fetches what differs', async () => {
    for (const file of ['config.json', name]) await read(file);
    test.hub.commit = 'f'.repeat(40);
    test.hub.files['config.json'] = text({ model_type: 'other' });
    test.hub.seen.length = 0;
    expect(await read(name)).toBe(digestOf(weights));
    expect(await read('config.json')).toBe(digestOf(test.hub.files['config.json']));
    expect(test.hub.downloads).toEqual(['config.json']);
    expect(readFileSync(join(repository(), 'refs/main'), 'utf8')).toBe(test.hub.commit);
    const old = { revision: '0123456789abcdef0123456789abcdef01234567', cache_dir: test.cache_dir };
    expect(await read('config.json', old)).toBe(digestOf(config));
  });

  it('with local_files_only asks nothing, and names what is not there', async () => {
    await read();
    test.hub.seen.length = 0;
    expect(await read(name, { local_files_only: true })).toBe(digestOf(weights));
    expect(await readFile(test.hub.id, 'config.json', { cache_dir: test.cache_dir, local_files_only: true })).toBe(
      undefined,
    );
    process.env.HF_HUB_OFFLINE = '1';
    expect(await read()).toBe(digestOf(weights));
    process.env.HF_HUB_OFFLINE = '';
    expect(test.hub.seen).toEqual([]);
  });

  it('without the server takes what is kept, and says so', async () => {
    const options = { cache_dir: test.cache_dir };
    for (const place of [test.hub.id, `${test.hub.cdn}/`]) {
      await digestFrom(place, name, options);
      expect(await readFile(place, 'generation_config.json', options)).toBe(undefined);
    }
    await test.hub.stop();
    for (const place of [test.hub.id, `${test.hub.cdn}/`]) {
      expect(await digestFrom(place, name, options)).toBe(digestOf(weights));
      expect(await readFile(place, 'generation_config.json', options)).toBe(undefined);
      await expect(readFile(place, 'vocab.txt', options)).rejects.toMatchObject({ code: 'network_error' });
    }
    expect(test.warnings).toMatchObject([{ code: 'stale_cache' }, { code: 'stale_cache' }]);
  });

  it('from another folder than the Hub does the same', async () => {
    const url = `${test.hub.cdn}/`;
    const options = { cache_dir: test.cache_dir };
    for (let load = 0; load < 2; load++) {
      test.hub.seen.length = 0;
      expect(await digestFrom(url, name, options)).toBe(digestOf(weights));
      expect(await digestFrom(url, 'config.json', options)).toBe(digestOf(config));
    }
    expect(test.hub.seen.map(({ method }) => method)).toEqual(['HEAD', 'HEAD']);
    expect((await listCache(options)).map(({ source }) => source)).toEqual([url]);
  });
});

describe('a file that changed on disk', () => {
  it.each([0, 5 * mb, 9 * mb - 1])('at byte %i: its piece is fetched again, with a warning', async (at) => {
    await read();
    flip(blob(name), at);
    test.hub.seen.length = 0;
    for (const warnings of [1, 1]) {
      expect(await read()).toBe(digestOf(weights));
      expect(test.warnings.map(({ code }) => code)).toEqual(Array(warnings).fill('damaged_cache'));
    }
    const from = Math.floor(at / (4 * mb)) * 4 * mb;
    expect(test.hub.downloads).toEqual([`${name} bytes=${from}-${Math.min(from + 4 * mb, 9 * mb) - 1}`]);
    expect(digestOf(readFileSync(blob(name)))).toBe(digestOf(weights));
  });

  it('of a commit, or one that is too short', async () => {
    const options = { revision: test.hub.commit };
    await read(name, options);
    writeFileSync(blob(name), readFileSync(blob(name)).subarray(0, 6 * mb));
    expect(await read(name, options)).toBe(digestOf(weights));
    expect(test.warnings).toMatchObject([{ code: 'damaged_cache' }]);
  });

  it('without a server to ask is told', async () => {
    await read();
    flip(blob(name), 5 * mb);
    const reading = readFile(test.hub.id, name, { cache_dir: test.cache_dir, local_files_only: true });
    await expect(reading).rejects.toMatchObject({ code: 'integrity_mismatch' });
  });
});

describe("Python's downloads", () => {
  const pointerOf = (file: string) => join(repository(), 'snapshots', test.hub.commit, file);
  /** As huggingface_hub writes them. */
  function pythonHas(file: string, bytes: Uint8Array, links: 'links' | 'no links' = 'links'): void {
    const { commit } = test.hub;
    const pointer = pointerOf(file);
    for (const folder of [join(repository(), 'blobs'), join(repository(), 'refs'), dirname(pointer)])
      mkdirSync(folder, { recursive: true });
    writeFileSync(links === 'links' ? blob(file) : pointer, bytes);
    if (links === 'links') symlinkSync(`../../blobs/${etagOf(file, test.hub.files[file] ?? bytes)}`, pointer);
    writeFileSync(join(repository(), 'refs/main'), commit);
  }

  it('are found, with and without the server', async () => {
    pythonHas(name, weights);
    pythonHas('config.json', config);
    for (const options of [{}, { local_files_only: true }, { revision: test.hub.commit }]) {
      expect(await read(name, options)).toBe(digestOf(weights));
      expect(await read('config.json', options)).toBe(digestOf(config));
    }
    expect(test.hub.downloads).toEqual([]);
    expect(test.warnings).toEqual([]);
  });

  it.each([name, 'config.json'])(
    'are compared with their names, and fetched again where they differ: %s',
    async (file) => {
      const wrong = Uint8Array.from(test.hub.files[file] ?? []);
      wrong[7] = 1;
      pythonHas(file, wrong);
      expect(await read(file)).toBe(digestOf(test.hub.files[file]));
      expect(test.warnings).toMatchObject([{ code: 'damaged_cache' }]);
      expect(digestOf(readFileSync(blob(file)))).toBe(digestOf(test.hub.files[file]));
    },
  );

  const damages: [string, string, (bytes: Uint8Array) => Uint8Array][] = [name, 'config.json'].flatMap((file) => [
    [file, 'another byte', (bytes) => bytes.with(7, 1)],
    [file, 'too few bytes', (bytes) => bytes.subarray(0, -9)],
  ]);
  it.each(damages)(
    'without links are compared with what the server tells, whatever was read without it: %s, %s',
    async (file, _, damaged) => {
      const whole = test.hub.files[file] ?? new Uint8Array(0);
      pythonHas(file, damaged(whole), 'no links');
      expect(await read(file, { local_files_only: true })).toBe(digestOf(damaged(whole)));
      expect(await read(file)).toBe(digestOf(whole));
      expect(test.warnings).toMatchObject([{ code: 'damaged_cache' }]);
      for (const options of [{}, { local_files_only: true }]) expect(await read(file, options)).toBe(digestOf(whole));
      expect(test.hub.downloads).toEqual([file]);
    },
  );

  it('without links are found, and verified from then on', async () => {
    pythonHas(name, weights, 'no links');
    expect(await read()).toBe(digestOf(weights));
    expect([test.hub.downloads, test.warnings]).toEqual([[], []]);
    flip(pointerOf(name), 5 * mb);
    await expect(read(name, { local_files_only: true })).rejects.toMatchObject({ code: 'integrity_mismatch' });
    expect(await read()).toBe(digestOf(weights));
    expect(test.warnings).toMatchObject([{ code: 'damaged_cache' }]);
    expect(test.hub.downloads).toHaveLength(1);
  });

  it('are listed, and stay when the cache is cleared', async () => {
    pythonHas('config.json', config);
    await read('config.json');
    await read(name);
    const options = { cache_dir: test.cache_dir };
    expect(await listCache(options)).toEqual([
      {
        source: 'someone/model',
        where: repository(),
        bytes: expect.any(Number),
        files: [
          { file: 'config.json', revision: test.hub.commit, bytes: config.byteLength, complete: true },
          { file: name, revision: test.hub.commit, bytes: weights.byteLength, complete: true },
        ],
      },
    ]);
    expect(await clearCache(options)).toBeGreaterThanOrEqual(weights.byteLength);
    expect((await listCache(options))[0]?.files.map(({ file }) => file)).toEqual(['config.json']);
    await clearCache({ ...options, source: 'someone/model' });
    expect(await listCache(options)).toEqual([]);
    expect(existsSync(repository())).toBe(false);
  });
});

describe('where files cannot be kept, the load goes on and says so', () => {
  it('on a full disk', async () => {
    const files = process.getBuiltinModule('node:fs/promises');
    vi.spyOn(files, 'appendFile').mockRejectedValue(
      Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' }),
    );
    expect(await read()).toBe(digestOf(weights));
    expect(test.warnings).toMatchObject([{ code: 'not_kept', message: expect.stringContaining('ENOSPC') }]);
    vi.restoreAllMocks();
    expect(readdirSync(join(repository(), 'blobs'))).toEqual([]);
    test.hub.seen.length = 0;
    expect(await read()).toBe(digestOf(weights));
    expect(test.hub.downloads).toEqual([name]);
  });

  it('on a disk that would be full', async () => {
    const files = process.getBuiltinModule('node:fs/promises');
    vi.spyOn(files, 'statfs').mockResolvedValue({ bavail: 1000, bsize: 4096 } as never);
    expect(await read()).toBe(digestOf(weights));
    expect(test.warnings).toMatchObject([{ code: 'not_kept', message: expect.stringContaining('4096000 bytes') }]);
  });

  it('below something that is no folder', async () => {
    const cache_dir = join(test.cache_dir, 'file');
    writeFileSync(cache_dir, '');
    expect(await read(name, { cache_dir })).toBe(digestOf(weights));
    expect(test.warnings).toMatchObject([{ code: 'not_kept' }]);
  });
});

describe('several at once', () => {
  it('in one process fetch a file once', async () => {
    const all = await Promise.all([read(), read(), read()]);
    expect(all).toEqual(Array(3).fill(digestOf(weights)));
    expect(test.hub.downloads).toEqual([name]);
  });

  it('wait for nobody who is gone', async () => {
    configure({ retries: 0 });
    const lock = join(test.cache_dir, '.locks/models--someone--model', `${etagOf(name, weights)}.clearformer.lock`);
    mkdirSync(dirname(lock), { recursive: true });
    writeFileSync(lock, '999999999'); // no process has this pid
    expect(await read()).toBe(digestOf(weights));
    expect(existsSync(lock)).toBe(false);
  });

  it('are aborted while they wait', async () => {
    const lock = join(test.cache_dir, '.locks/models--someone--model', `${etagOf(name, weights)}.clearformer.lock`);
    mkdirSync(dirname(lock), { recursive: true });
    writeFileSync(lock, String(process.pid));
    const signal = AbortSignal.timeout(200);
    await expect(readFile(test.hub.id, name, { cache_dir: test.cache_dir, signal })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    rmSync(lock);
  });
});

it('of a folder elsewhere that changed the old file goes', async () => {
  const url = `${test.hub.cdn}/`;
  const options = { cache_dir: test.cache_dir };
  await digestFrom(url, 'config.json', options);
  const [{ where = '' } = {}] = await listCache(options);
  test.hub.files['config.json'] = text({ model_type: 'another' });
  expect(await digestFrom(url, 'config.json', options)).toBe(digestOf(test.hub.files['config.json']));
  expect(readdirSync(join(where, 'blobs'))).toHaveLength(1);
});

it('a commit that would lead out of the folder is none', async () => {
  test.hub.commit = '../../../../outside';
  expect(await read('config.json')).toBe(digestOf(config));
  expect(readdirSync(test.cache_dir).sort()).toEqual(['.locks', 'models--someone--model']);
  expect(readdirSync(join(repository(), 'snapshots'))).toEqual(['main']);
  test.hub.seen.length = 0;
  expect(await read('config.json')).toBe(digestOf(config));
  expect(test.hub.downloads).toEqual([]);
});

it('a name that leads out of the folder is refused', async () => {
  await expect(read('../../outside.json')).rejects.toMatchObject({ code: 'malformed_file' });
  expect(statSync(test.cache_dir).isDirectory()).toBe(true);
});

it.each([
  [{ cache_dir: '' }, 'cache_dir'],
  [{ cache_dir: 3 }, 'cache_dir'],
  [{ cache_dir: '/x', cache: 'none' }, 'cache_dir'],
  [{ remote_host: 'huggingface.co' }, 'remote_host'],
])('%j is refused', async (options, option) => {
  await expect(readFile('a/b', name, options as never)).rejects.toMatchObject({
    code: 'invalid_argument',
    details: { option },
  });
});
