// Whether a worker lives, where pages have no locks (those served by plain http): the address of a blob that the worker has
// made is good for as long as it lives. Loaded by such pages alone.

/** Milliseconds between two looks. */
const pace = 400;

/** Calls `gone` when the worker that made the blob at `url` is no more. Where the page may not read blobs, never. */
export async function watchBlob(url: string, signal: AbortSignal, gone: () => void): Promise<void> {
  const lives = () =>
    fetch(url, { signal }).then(
      () => true,
      () => false,
    );
  if (!(await lives())) return; // a content security policy without blob: in connect-src
  while (await lives()) await new Promise((done) => setTimeout(done, pace));
  if (!signal.aborted) gone();
}
