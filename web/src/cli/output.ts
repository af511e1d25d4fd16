// Standard output with errors handled: a full disk fails the program, a reader that closes the pipe ends it quietly.

/** The error of a failed write to standard output. */
export class OutputError extends Error {
  /** The reader closed the pipe. */
  readonly isBrokenPipe: boolean;

  constructor(cause: NodeJS.ErrnoException) {
    super(`standard output cannot be written (${cause.message})`, { cause });
    this.isBrokenPipe = cause.code === 'EPIPE';
  }
}

export class Output {
  readonly #stream: NodeJS.WriteStream;
  #failure: OutputError | undefined;
  #written: Promise<void> = Promise.resolve();

  /** `failed` is called for the first write that fails. */
  constructor(stream: NodeJS.WriteStream, failed: (error: OutputError) => void) {
    this.#stream = stream;
    const fail = (cause: NodeJS.ErrnoException | null | undefined) => {
      if (!cause || this.#failure !== undefined) return;
      this.#failure = new OutputError(cause);
      failed(this.#failure);
    };
    stream.on('error', fail);
    this.#fail = fail;
  }
  readonly #fail: (cause: NodeJS.ErrnoException | null | undefined) => void;

  /** Starts a write; writes are done in order. */
  write(text: string): void {
    if (this.#failure !== undefined || text === '') return;
    const before = this.#written;
    const done = new Promise<void>((resolve) => {
      this.#stream.write(text, (cause) => {
        this.#fail(cause);
        resolve();
      });
    });
    this.#written = before.then(() => done);
  }

  line(text: string): void {
    this.write(`${text}\n`);
  }

  json(value: unknown): void {
    this.line(JSON.stringify(value));
  }

  /** Resolves when everything is written; rejects with the OutputError of the first write that failed. */
  async flushed(): Promise<void> {
    await this.#written;
    if (this.#failure !== undefined) throw this.#failure;
  }
}
