// A folder shared by several readers: what one has requested is not requested again.

import { copied } from '../support/copied.js';
import type { Folder, SourceFile } from './folder.js';

/**
 * Looks up every file once and keeps the contents of those that describe a model; weights are read on every request.
 */
export class SharedFolder implements Folder {
  readonly #folder: Folder;
  readonly #found = new Map<string, Promise<SourceFile | undefined>>();

  constructor(folder: Folder) {
    this.#folder = folder;
  }

  get where(): string {
    return this.#folder.where;
  }

  get list(): Folder['list'] {
    return this.#folder.list?.bind(this.#folder);
  }

  find(name: string, signal?: AbortSignal, use?: 'read at once'): Promise<SourceFile | undefined> {
    const known = this.#found.get(name);
    if (known !== undefined) return known;
    const finding = this.#folder
      .find(name, signal, use)
      .then((file) => (file !== undefined && /^[\w.-]*config\.json$/.test(name) ? kept(file) : file));
    this.#found.set(name, finding);
    finding.catch(() => this.#found.delete(name)); // the next reader retries
    return finding;
  }

  only(names: readonly string[]): Folder {
    return this.#folder.only(names);
  }
}

/** The same file, read once. */
function kept(file: SourceFile): SourceFile {
  const { name, where, size, html } = file;
  let reading: Promise<Uint8Array[]> | undefined;
  const read = async (signal?: AbortSignal): Promise<Uint8Array[]> => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of file.chunks(signal)) chunks.push(copied(chunk));
    return chunks;
  };
  async function* chunks(signal?: AbortSignal): AsyncIterable<Uint8Array> {
    reading ??= read(signal);
    try {
      yield* await reading;
    } catch (thrown) {
      reading = undefined;
      throw thrown;
    }
  }
  return { name, where, size, html, borrowed: true, chunks };
}
