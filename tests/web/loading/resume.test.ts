// Interrupted downloads: the next load fetches only the rest, of exactly the same file.

import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listResponses } from '../../../web/src/checkpoint/response_listing.js';
import { openSource } from '../../../web/src/checkpoint/source.js';
import { configure } from '../../../web/src/support/config.js';
import { etagOf } from '../support/hub.js';
import { MemoryCache } from '../support/memory_cache.js';
import { noise } from '../support/noise.js';
import { bench, digestFrom, digestOf, readFile } from '../support/reading.js';
import { FileServer } from '../support/server.js';

const mb = 1 << 20;
const weights = noise(10 * mb + 12345); // three pieces
const name = 'model.safetensors';
const test = bench(() => ({ [name]: weights }));

/** A load that fails after that many bytes. */
async function brokenOff(options: object, bytes: number): Promise<void> {
  configure({ retries: 0 });
  test.hub.faults.set(name, [{ cutAfter: bytes }, 'always']);
  await expect(readFile(test.hub.id, name, options)).rejects.toMatchObject({ code: 'network_error' });
  test.hub.faults.clear();
  test.hub.seen.length = 0;
  test.hub.sent = 0;
}

describe.each(['disk', 'cache of answers'])('on %s', (where) => {
  const cache = new MemoryCache();
  const options = () => (where === 'disk' ? { cache_dir: test.cache_dir } : { cache });

  it.each([1000, 4 * mb, 9 * mb + 1])('a download that broke off after %i bytes goes on there', async (bytes) => {
    cache.kept.clear();
    await brokenOff(options(), bytes);
    expect(await digestFrom(test.hub.id, name, options())).toBe(digestOf(weights));
    expect(test.hub.downloads).toEqual([`${name} bytes=${bytes}-`]);
    expect(test.hub.sent).toBe(weights.byteLength - bytes);
    test.hub.seen.length = 0;
    expect(await digestFrom(test.hub.id, name, options())).toBe(digestOf(weights));
    expect(test.hub.downloads).toEqual([]);
    expect(test.warnings).toEqual([]);
  });

  it('what was stopped by its caller goes on, too', async () => {
    cache.kept.clear();
    const controller = new AbortController();
    const { signal } = controller;
    const reading = readFile(test.hub.id, name, { ...options(), signal }, (bytes) => {
      if (bytes > 5 * mb) controller.abort(new Error('stopped'));
    });
    await expect(reading).rejects.toThrow('stopped');
    test.hub.seen.length = 0;
    expect(await digestFrom(test.hub.id, name, options())).toBe(digestOf(weights));
    expect(test.hub.downloads).toHaveLength(1);
    expect(Number(/bytes=(\d+)-/.exec(test.hub.downloads[0] ?? '')?.[1])).toBeGreaterThanOrEqual(4 * mb);
  });

  it('a file that is another one by now is fetched from its first byte', async () => {
    cache.kept.clear();
    await brokenOff(options(), 5 * mb);
    const other = noise(weights.byteLength, 2);
    test.hub.files[name] = other;
    expect(await digestFrom(test.hub.id, name, options())).toBe(digestOf(other));
    expect(test.hub.downloads).toEqual([name]);
  });

  it('one whose checksum is wrong in the end is not kept, nor any of it', async () => {
    cache.kept.clear();
    test.hub.faults.set(name, [{ flipAt: 100 }]);
    await expect(readFile(test.hub.id, name, options())).rejects.toMatchObject({ code: 'integrity_mismatch' });
    test.hub.seen.length = 0;
    expect(await digestFrom(test.hub.id, name, options())).toBe(digestOf(weights));
    expect(test.hub.downloads).toEqual([name]);
  });
});

it('a piece of a cache of answers that changed is mended in its place, the last one too', async () => {
  const cache = new MemoryCache();
  expect(await digestFrom(test.hub.id, name, { cache })).toBe(digestOf(weights));
  for (const kept of [...cache.kept.values()]) {
    new Uint8Array(kept.body)[5] = 255 - (new Uint8Array(kept.body)[5] ?? 0);
    test.warnings.length = 0;
    expect(await digestFrom(test.hub.id, name, { cache })).toBe(digestOf(weights));
    expect(test.warnings).toMatchObject([{ code: 'damaged_cache' }]);
    expect(await digestFrom(test.hub.id, name, { cache })).toBe(digestOf(weights));
    expect(test.warnings).toHaveLength(1);
  }
});

it('a file on disk that Python has completed is found, and what was begun of it is removed', async () => {
  const { cache_dir } = test;
  await brokenOff({ cache_dir }, 6 * mb);
  const folder = (...path: string[]) => join(cache_dir, 'models--someone--model', ...path);
  for (const made of ['refs', `snapshots/${test.hub.commit}`]) mkdirSync(folder(made), { recursive: true });
  writeFileSync(folder('blobs', etagOf(name, weights)), weights);
  writeFileSync(folder('refs/main'), test.hub.commit);
  symlinkSync(`../../blobs/${etagOf(name, weights)}`, folder('snapshots', test.hub.commit, name));
  for (const local_files_only of [true, false])
    expect(await digestFrom(test.hub.id, name, { cache_dir, local_files_only })).toBe(digestOf(weights));
  expect([test.hub.downloads, test.warnings]).toEqual([[], []]);
  for (const kind of ['blobs', '.pieces']) expect(readdirSync(folder(kind))).toEqual([etagOf(name, weights)]);
});

describe('a newer version, in a cache of answers', () => {
  const versions = [9, 13, 2].map((size, seed) => noise(size * mb + 12345, seed));
  const listed = async (cache: MemoryCache) =>
    (await listResponses(cache))
      .flatMap(({ files }) => files)
      .map(({ bytes, complete }) => [bytes, complete ? 'whole' : 'begun']);

  it('replaces the older one when it is complete, which is read until then', async () => {
    const cache = new MemoryCache();
    let older: Uint8Array | undefined;
    for (const newer of versions) {
      test.hub.files[name] = newer;
      const begun = newer.byteLength - 1_500_000;
      await brokenOff({ cache }, begun);
      expect(await digestFrom(test.hub.id, name, { cache, local_files_only: true })).toBe(digestOf(older));
      const both = [...(older ? [[older.byteLength, 'whole']] : []), [begun, 'begun']];
      expect((await listed(cache)).sort()).toEqual(both.sort());
      expect(await digestFrom(test.hub.id, name, { cache })).toBe(digestOf(newer));
      expect(test.hub.downloads).toEqual([`${name} bytes=${begun}-`]);
      expect(await listed(cache)).toEqual([[newer.byteLength, 'whole']]);
      expect(await digestFrom(test.hub.id, name, { cache, local_files_only: true })).toBe(digestOf(newer));
      older = newer;
    }
    expect(test.warnings).toEqual([]);
  });

  it('takes what yet another one has begun, whatever their sizes', async () => {
    const cache = new MemoryCache();
    await digestFrom(test.hub.id, name, { cache });
    for (const newer of versions) {
      test.hub.files[name] = newer;
      await brokenOff({ cache }, newer.byteLength - 1000);
    }
    expect(await digestFrom(test.hub.id, name, { cache })).toBe(digestOf(versions.at(-1)));
    expect(await listed(cache)).toEqual([[versions.at(-1)?.byteLength, 'whole']]);
  });

  it('that is not what its checksum says leaves the older one, without room for both it goes', async () => {
    const cache = new MemoryCache();
    await digestFrom(test.hub.id, name, { cache });
    const newer = noise(9 * mb, 2);
    test.hub.files[name] = newer;
    test.hub.faults.set(name, [{ flipAt: 100 }]);
    await expect(readFile(test.hub.id, name, { cache })).rejects.toMatchObject({ code: 'integrity_mismatch' });
    expect(await listed(cache)).toEqual([[weights.byteLength, 'whole']]);
    expect(await digestFrom(test.hub.id, name, { cache, local_files_only: true })).toBe(digestOf(weights));
    cache.room = 15 * mb;
    expect(await digestFrom(test.hub.id, name, { cache })).toBe(digestOf(newer));
    expect(await listed(cache)).toEqual([[newer.byteLength, 'whole']]);
    expect(test.warnings).toEqual([]);
  });
});

it('what is cleared while it is downloaded is not kept, and not damaged', async () => {
  const cache = new MemoryCache();
  let cleared = 0;
  await readFile(test.hub.id, name, { cache }, (bytes) => {
    if (bytes > 9 * mb && cleared++ === 0) cache.kept.clear();
  });
  expect(await listResponses(cache)).toEqual([]);
  expect(await digestFrom(test.hub.id, name, { cache })).toBe(digestOf(weights));
  expect(test.warnings.map(({ code }) => code)).toEqual(['not_kept']);
});

it('a lost piece of a file that is another one by now is not fetched from that', async () => {
  const cache = new MemoryCache();
  const server = await FileServer.start({ [name]: weights }, { etag: true, ranges: true });
  const read = () => digestFrom(`${server.url}/`, name, { cache });
  await read();
  const lose = () => {
    for (const url of cache.kept.keys()) if (url.endsWith('piece=1')) cache.kept.delete(url);
  };
  server.options.status = { [name]: 503 };
  const find = () => openSource(`${server.url}/`, { cache }).find(name);
  const [same, other] = [await find(), await find()];
  expect(test.warnings.map(({ code }) => code)).toEqual(['stale_cache', 'stale_cache']);
  server.options.status = {};
  const drain = async (file: typeof same) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of file?.chunks() ?? []) chunks.push(chunk.slice());
    return digestOf(Buffer.concat(chunks));
  };
  lose();
  expect(await drain(same)).toBe(digestOf(weights));
  lose();
  const newer = noise(weights.byteLength, 2);
  server.files[name] = newer;
  const refusal = { code: 'integrity_mismatch', message: expect.stringContaining('does not have it any more') };
  await expect(drain(other)).rejects.toMatchObject(refusal);
  expect(await read()).toBe(digestOf(newer));
  await server.stop();
});

it('a range is asked for under the etag of a file that has no checksum', async () => {
  const url = `${test.hub.cdn}/`;
  configure({ retries: 0 });
  test.hub.faults.set(name, [{ cutAfter: 2 * mb }]);
  await expect(readFile(url, name, { cache_dir: test.cache_dir })).rejects.toMatchObject({ code: 'network_error' });
  expect(await digestFrom(url, name, { cache_dir: test.cache_dir })).toBe(digestOf(weights));
  expect(test.hub.seen.at(-1)?.headers).toMatchObject({
    range: `bytes=${2 * mb}-`,
    'if-range': `"stored-${weights.byteLength}"`,
  });
});
