// A folder that records which of its files were read, and their sizes.

import type { Folder, SourceFile } from '../checkpoint/folder.js';

export class RecordedFolder implements Folder {
  /** Bytes by name of every file that was read completely. */
  readonly sizes = new Map<string, number>();
  readonly #folder: Folder;

  constructor(folder: Folder) {
    this.#folder = folder;
  }

  get where(): string {
    return this.#folder.where;
  }

  get list(): Folder['list'] {
    return this.#folder.list?.bind(this.#folder);
  }

  async find(name: string, signal?: AbortSignal, use?: 'read at once'): Promise<SourceFile | undefined> {
    const file = await this.#folder.find(name, signal, use);
    if (file === undefined) return undefined;
    const { where, size, borrowed, html } = file;
    return { name, where, size, borrowed, html, chunks: (signal) => this.#counted(file, signal) };
  }

  only(names: readonly string[]): Folder {
    return this.#folder.only(names);
  }

  async *#counted(file: SourceFile, signal: AbortSignal | undefined): AsyncIterable<Uint8Array> {
    let bytes = 0;
    for await (const chunk of file.chunks(signal)) {
      bytes += chunk.byteLength;
      yield chunk;
    }
    this.sizes.set(file.name, bytes);
  }
}
