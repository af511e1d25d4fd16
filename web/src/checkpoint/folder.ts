// The interface of all sources of files: a folder whose files are found by name and read in chunks.

/** An existing file. */
export interface SourceFile {
  readonly name: string;
  /** The URL or path, or the kind of source, for messages. */
  readonly where: string;
  /** Size in bytes; null if the server does not give it. */
  readonly size: number | null;
  /** Whether the chunks are the caller's memory, which must not be transferred. */
  readonly borrowed: boolean;
  /** Whether its content type is HTML, as web servers often send for missing files. */
  readonly html: boolean;
  /**
   * The contents, in order. Aborting the signal rejects with its reason. `first` limits the request to the first bytes,
   * if the server supports ranges.
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
  /**
   * The file of that name, or undefined if there is none. If it is read at once, with the same signal, a server may be
   * asked for it in the same request.
   */
  find(name: string, signal?: AbortSignal, use?: 'read at once'): Promise<SourceFile | undefined>;
  /** The names of all files, if they can be listed; surely of those in a named subfolder. Rejects if there is none. */
  list?: ((subfolder?: string) => Promise<string[]>) | undefined;
  /** The same folder, keeping only files of these names in memory. */
  only(names: readonly string[]): Folder;
}
