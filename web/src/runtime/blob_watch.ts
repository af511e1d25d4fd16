// Detects a worker's death on pages without locks (insecure contexts): a blob URL that the worker created is valid as
// long as it lives. Loaded by such pages only.

/** Milliseconds between two checks. */
const pace = 400;

/** Calls `gone` when the worker that created the blob at `url` has died. Never, if the page may not read blobs. */
export async function watchBlob(url: string, signal: AbortSignal, gone: () => void): Promise<void> {
  const readable = (blob: string) =>
    fetch(blob, { signal }).then(
      () => true,
      () => false,
    );
  // A blob of the page itself tells a content security policy without blob: in connect-src from a worker dead by now.
  const own = URL.createObjectURL(new Blob());
  const allowed = await readable(own);
  URL.revokeObjectURL(own);
  if (!allowed) return;
  while (await readable(url)) await new Promise((done) => setTimeout(done, pace));
  if (!signal.aborted) gone();
}
