// The files of a bundled model. The page knows which there are and asks for no others, as a loader of any folder has to.

import { ClearformerError } from 'clearformer';

/** Fetches the files of a folder. Rejects with `network_error` or `file_not_found`, or the signal's reason. */
export async function bundledFiles(
  folder: URL,
  names: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Record<string, Blob>> {
  const all = names.map(async (name) => [name, await fileAt(new URL(name, folder), name, signal)] as const);
  return Object.fromEntries(await Promise.all(all));
}

async function fileAt(url: URL, file: string, signal: AbortSignal | undefined): Promise<Blob> {
  const details = { file, where: url.href };
  const answer = await fetch(url, signal ? { signal } : {}).catch((cause: unknown) => {
    signal?.throwIfAborted();
    throw new ClearformerError('network_error', `${file} of the bundled model could not be fetched`, details, cause);
  });
  if (answer.ok) return answer.blob();
  throw new ClearformerError('file_not_found', `${file} of the bundled model is not there (HTTP ${answer.status})`, {
    ...details,
    status: answer.status,
  });
}
