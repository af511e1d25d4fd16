// Lists and removes what is cached on disk (Node).

import { ClearformerError, messageOf } from '../support/error.js';
import { nodeModule } from '../support/platform.js';
import { downloadedMark } from './disk_shelf.js';
import { givenCache, hubCache, webCache } from './hub_home.js';
import type { CachedFile, CachedModel } from './store.js';

function roots(cacheDir: string | undefined): string[] {
  return cacheDir === undefined ? [hubCache(), webCache()] : [givenCache(cacheDir)];
}

/** The repositories in the caches, each with its folder. */
async function repositories(cacheDir: string | undefined): Promise<{ source: string; folder: string }[]> {
  const { readdir, readFile } = nodeModule('node:fs/promises');
  const { join } = nodeModule('node:path');
  const found: { source: string; folder: string }[] = [];
  for (const root of roots(cacheDir)) {
    for (const name of (await readdir(root).catch(() => [])).sort()) {
      const folder = join(root, name);
      if (name.startsWith('models--')) found.push({ source: name.slice('models--'.length).replace('--', '/'), folder });
      if (!name.startsWith('web--')) continue;
      const source = await readFile(join(folder, 'url'), 'utf8').catch(() => name);
      found.push({ source, folder });
    }
  }
  return found;
}

/** All cached repositories, including Python's downloads. */
export async function listDisk(cacheDir: string | undefined): Promise<CachedModel[]> {
  const models = await Promise.all(
    (await repositories(cacheDir)).map(async ({ source, folder }): Promise<CachedModel> => {
      const files = [...(await wholeFiles(folder)), ...(await partialFiles(folder))];
      return { source, where: folder, bytes: await bytesIn(folder), files };
    }),
  );
  return models.filter(({ files }) => files.length > 0);
}

/** Paths of the files in a folder, relative to it. */
async function filesBelow(folder: string): Promise<string[]> {
  const { readdir } = nodeModule('node:fs/promises');
  const { join, relative } = nodeModule('node:path');
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return found.filter((each) => !each.isDirectory()).map((each) => relative(folder, join(each.parentPath, each.name)));
}

async function wholeFiles(folder: string): Promise<CachedFile[]> {
  const { stat } = nodeModule('node:fs/promises');
  const { join, sep } = nodeModule('node:path');
  const snapshots = join(folder, 'snapshots');
  const files: CachedFile[] = [];
  for (const path of (await filesBelow(snapshots)).sort()) {
    const [revision = '', ...parts] = path.split(sep);
    const found = await stat(join(snapshots, path)).catch(() => undefined);
    if (found !== undefined) files.push({ file: parts.join('/'), revision, bytes: found.size, complete: true });
  }
  return files;
}

const incomplete = /^(.*?)(\.\w+)?\.incomplete$/;

async function partialFiles(folder: string): Promise<CachedFile[]> {
  const { stat } = nodeModule('node:fs/promises');
  const { join } = nodeModule('node:path');
  const files: CachedFile[] = [];
  for (const path of await filesBelow(join(folder, 'blobs'))) {
    const name = incomplete.exec(path)?.[1];
    const found = await stat(join(folder, 'blobs', path)).catch(() => undefined);
    if (name !== undefined && found !== undefined)
      files.push({ file: name, revision: '', bytes: found.size, complete: false });
  }
  return files;
}

/** Bytes of regular files: the target of several links counts once. */
async function bytesIn(folder: string): Promise<number> {
  const { lstat } = nodeModule('node:fs/promises');
  const { join } = nodeModule('node:path');
  const seen = new Map<number, number>();
  for (const path of await filesBelow(folder)) {
    const found = await lstat(join(folder, path)).catch(() => undefined);
    if (found?.isFile() && !path.startsWith('.pieces')) seen.set(found.ino, found.size);
  }
  return [...seen.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/**
 * Removes one repository entirely, or from every repository what this package downloaded. Resolves to the number of
 * bytes freed. Rejects with `invalid_argument` if something cannot be removed, after everything else is.
 */
export async function clearDisk(source: string | undefined, cacheDir: string | undefined): Promise<number> {
  const { rm } = nodeModule('node:fs/promises');
  const { basename, dirname, join } = nodeModule('node:path');
  let bytes = 0;
  let failure: ClearformerError | undefined;
  for (const { source: found, folder } of await repositories(cacheDir)) {
    if (source !== undefined && source !== found) continue;
    const before = await bytesIn(folder);
    try {
      if (source !== undefined) await rm(folder, { recursive: true, force: true });
      else await clearDownloaded(folder);
      await rm(join(dirname(folder), '.locks', basename(folder)), { recursive: true, force: true });
    } catch (cause) {
      const message = `clearCache: ${folder} could not be cleared (${messageOf(cause)})`;
      failure ??= new ClearformerError('invalid_argument', message, { where: folder }, cause);
    }
    bytes += before - (await bytesIn(folder));
  }
  if (failure !== undefined) throw failure;
  return bytes;
}

async function clearDownloaded(folder: string): Promise<void> {
  const { readFile, rm, stat } = nodeModule('node:fs/promises');
  const { join } = nodeModule('node:path');
  const remove = (...path: string[]) => rm(join(folder, ...path), { recursive: true, force: true });
  for (const path of await filesBelow(join(folder, 'blobs'))) {
    if (path.endsWith('.clearformer.incomplete')) await remove('blobs', path);
  }
  for (const name of await filesBelow(join(folder, '.pieces'))) {
    const isOurs = (await readFile(join(folder, '.pieces', name), 'utf8')).includes(downloadedMark);
    if (isOurs) await remove('blobs', name);
    await remove('.pieces', name);
  }
  for (const path of await filesBelow(join(folder, 'snapshots'))) {
    const target = await stat(join(folder, 'snapshots', path)).catch(() => undefined);
    if (target === undefined) await remove('snapshots', path);
  }
  const left = [...(await filesBelow(join(folder, 'blobs'))), ...(await filesBelow(join(folder, 'snapshots')))];
  if (left.length === 0) await remove();
}
