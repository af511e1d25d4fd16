// Detects a worker's death on pages without locks (insecure contexts): a blob URL that the worker created is valid as
// long as it lives. Loaded by such pages only.

/** Milliseconds between two checks. */
const pace = 400;

/** Calls `gone` when the worker that created the blob at `url` has died. Never, if the page may not read blobs. */
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
