// What every source of files offers: a folder whose files are found by name and read chunk by chunk.

/** A file that is there. */
export interface SourceFile {
  readonly name: string;
  /** For errors: the URL or path, or the kind of source. */
  readonly where: string;
  /** Size in bytes; null when the server does not say. */
  readonly size: number | null;
  /** Whether the chunks are the caller's own memory, which must be left in place. */
  readonly borrowed: boolean;
  /** Whether the server calls it an HTML page, as servers of pages do for files they do not have. */
  readonly html: boolean;
  /**
   * The contents, in order. Aborting the signal ends it with the signal's reason. Who wants the first bytes alone says how
   * many: a server that can sends no more.
   */
  chunks(signal?: AbortSignal, first?: number): AsyncIterable<Uint8Array>;
}

/** A safetensors file of a checkpoint. */
export interface WeightsFile {
  file: SourceFile;
  bytes: number;
}

/** A folder of files. */
export interface Folder {
  readonly where: string;
  /** The file of that name, or undefined when there is none. */
  find(name: string, signal?: AbortSignal): Promise<SourceFile | undefined>;
  /** The names of all files, where they can be listed; those of folders in it may be left out. */
  list?(): Promise<string[]>;
  /** The same folder, but holding on to nothing in memory except files of these names. */
  only(names: readonly string[]): Folder;
}
