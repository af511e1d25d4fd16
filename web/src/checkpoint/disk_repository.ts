// The folder of one repository in the layout of Python's huggingface_hub (Node): blobs/<etag>,
// snapshots/<commit>/<file> (a link to a blob), refs/<revision> (the name of a commit), .no_exist/<commit>/<file>. We
// add `.pieces/<etag>`: the checksums of a blob's pieces.

import { ClearformerError, unreadable } from '../support/error.js';
import { nodeModule } from '../support/platform.js';
import { givenCache, hubCache, webCache } from './hub_home.js';
import type { RemoteFile } from './remote_file.js';

/** A repository of the Hub, or the address of a folder elsewhere. */
export type Origin = { readonly id: string; readonly revision: string } | URL;

/** The paths of one repository. */
export class DiskRepository {
  readonly folder: string;
  readonly #root: string;
  readonly #origin: Origin;

  constructor(origin: Origin, cacheDir: string | undefined) {
    const { join } = nodeModule('node:path');
    this.#origin = origin;
    this.#root = rootOf(origin, cacheDir);
    this.folder = join(this.#root, folderName(origin));
  }

  /** Branch, tag or commit. */
  get revision(): string {
    return this.#origin instanceof URL ? 'current' : this.#origin.revision;
  }

  blob(name: string): string {
    return nodeModule('node:path').join(this.folder, 'blobs', name);
  }

  /**
   * The name of a file's blob: the etag, as in Python, if it is a checksum. Other etags need not be unique to a file.
   */
  nameOf({ version, name }: RemoteFile): string {
    const isHub = !(this.#origin instanceof URL);
    if (isHub && /^[0-9a-f]{32,64}$/.test(version ?? '')) return version ?? '';
    return `v-${digestOf(`${version ?? this.revision} ${name}`)}`;
  }

  /** The name of a blob while it is downloaded. */
  partial(name: string): string {
    return `${name}.clearformer.incomplete`;
  }

  pieces(name: string): string {
    return nodeModule('node:path').join(this.folder, '.pieces', name);
  }

  lock(name: string): string {
    const { basename, join } = nodeModule('node:path');
    return join(this.#root, '.locks', basename(this.folder), `${name}.clearformer.lock`);
  }

  /** The path of a file of a commit. Throws for a name that leads out of the folder. */
  pointer(commit: string, name: string): string {
    return this.#below('snapshots', commit, name);
  }

  missing(commit: string, name: string): string {
    return this.#below('.no_exist', commit, name);
  }

  #below(kind: string, commit: string, name: string): string {
    const parts = name.split('/');
    if (parts.some((part) => part === '' || part === '.' || part === '..' || /[\\:\0]/.test(part))) {
      throw new ClearformerError('malformed_file', `'${name}' is no name of a file in a folder`, { file: name });
    }
    return nodeModule('node:path').join(this.folder, kind, commit, ...parts);
  }

  /**
   * The commit of the revision: its own name, the one recorded last, or, if there are no commits, the revision's name.
   * Rejects if the record may not be read.
   */
  async commit(): Promise<string> {
    if (/^[0-9a-f]{40}$/.test(this.revision)) return this.revision;
    const where = this.#ref();
    const noted = await nodeModule('node:fs/promises')
      .readFile(where, 'utf8')
      .catch((cause) => {
        if (/^E(ACCES|PERM)$/.test(cause.code)) throw unreadable(where, { where }, cause);
        return '';
      });
    return /^[\w.-]+$/.test(noted.trim()) ? noted.trim() : this.revision.replace(/[^\w.-]|^\.+/g, '--');
  }

  /** Records the commit of the revision. */
  async note(commit: string | undefined): Promise<void> {
    if (commit === undefined || !/^[\w-]+$/.test(commit)) return;
    if (commit === (await this.commit().catch(() => undefined))) return; // an unreadable record is replaced
    await writeWhole(this.#ref(), commit);
  }

  #ref(): string {
    return nodeModule('node:path').join(
      this.folder,
      'refs',
      ...this.revision.split(/[\\/]/).filter((part) => part !== '..'), // Windows splits paths at both
    );
  }

  /** Links a file of a commit to a blob. */
  async point(commit: string, name: string, blob: string): Promise<void> {
    const { copyFile, link, mkdir, readlink, rename, rm, symlink } = nodeModule('node:fs/promises');
    const { basename, dirname, relative } = nodeModule('node:path');
    const pointer = this.pointer(commit, name);
    const target = relative(dirname(pointer), this.blob(blob));
    const old = await readlink(pointer).catch(() => undefined);
    if (old === target) return;
    await mkdir(dirname(pointer), { recursive: true });
    const made = `${pointer}.${unique()}`;
    // Windows allows symbolic links to few users.
    await symlink(target, made).catch(() => link(this.blob(blob), made).catch(() => copyFile(this.blob(blob), made)));
    await rename(made, pointer);
    if (old === undefined || !(this.#origin instanceof URL)) return;
    // Outside the Hub no other commit refers to the old blob.
    for (const path of [this.blob(basename(old)), this.pieces(basename(old))]) await rm(path, { force: true });
  }

  /** Records the address this folder belongs to, if it is not a repository of the Hub. */
  async describe(): Promise<void> {
    if (this.#origin instanceof URL)
      await writeWhole(nodeModule('node:path').join(this.folder, 'url'), this.#origin.href);
  }
}

function rootOf(origin: Origin, cacheDir: string | undefined): string {
  if (cacheDir !== undefined) return givenCache(cacheDir);
  return origin instanceof URL ? webCache() : hubCache();
}

function folderName(origin: Origin): string {
  if (!(origin instanceof URL)) return `models--${origin.id.replaceAll('/', '--')}`;
  return `web--${origin.host.replace(/[^\w.-]/g, '-')}--${digestOf(origin.href)}`;
}

function digestOf(text: string): string {
  return nodeModule('node:crypto').createHash('sha256').update(text).digest('hex').slice(0, 32);
}

export const unique = (): string => nodeModule('node:crypto').randomUUID().slice(0, 8);

/** Writes a small file atomically: concurrent readers see the old contents or the new. */
async function writeWhole(path: string, text: string): Promise<void> {
  const { mkdir, rename, writeFile } = nodeModule('node:fs/promises');
  await mkdir(nodeModule('node:path').dirname(path), { recursive: true });
  const made = `${path}.${unique()}.tmp`;
  await writeFile(made, text);
  await rename(made, path);
}
