// The bundled models and the fetching of their files. The page knows each model's file list and requests no others, so
// that there are no 404 probes as for an arbitrary folder.

import { ClearformerError } from 'clearformer';

interface Bundled {
  readonly task: 'causal-lm' | 'masked-lm' | 'seq2seq-lm' | 'image-classification';
  readonly files: readonly string[];
}

const text = ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'];

export const bundled = {
  stories260K: { task: 'causal-lm', files: [...text, 'generation_config.json'] },
  'gpt-nano-sort': { task: 'causal-lm', files: text },
  'bert-tiny-fill': { task: 'masked-lm', files: text },
  'marian-tiny-en-fr': { task: 'seq2seq-lm', files: [...text, 'generation_config.json'] },
  'vit-mnist': {
    task: 'image-classification',
    files: ['config.json', 'model.safetensors', 'preprocessor_config.json'],
  },
} as const satisfies Readonly<Record<string, Bundled>>;

export type BundledName = keyof typeof bundled;

export const isBundled = (name: string): name is BundledName => Object.hasOwn(bundled, name);

/** The folder of a bundled model; resolved against the document, so that the page works under any path. */
export const bundledFolder = (name: BundledName): URL => new URL(`models/${name}/`, document.baseURI);

/** Fetches the files of a bundled model. Rejects with `network_error` or `file_not_found`, or the signal's reason. */
export async function bundledFiles(name: BundledName, signal?: AbortSignal): Promise<Record<string, Blob>> {
  const folder = bundledFolder(name);
  const all = bundled[name].files.map(
    async (file) => [file, await fileAt(new URL(file, folder), file, signal)] as const,
  );
  return Object.fromEntries(await Promise.all(all));
}

/** A failure that goes by, as of the connection or of the server, is a `network_error`; else the file is missing. */
export async function fileAt(url: URL, file: string, signal?: AbortSignal): Promise<Blob> {
  const details = { file, where: url.href };
  const answer = await fetch(url, signal ? { signal } : {}).catch((cause: unknown) => {
    signal?.throwIfAborted();
    throw new ClearformerError('network_error', `${file} of the bundled model could not be fetched`, details, cause);
  });
  const { ok, status } = answer;
  if (ok) return answer.blob();
  const [code, what] =
    status >= 500 || status === 429
      ? (['network_error', 'could not be fetched'] as const)
      : (['file_not_found', 'is not there'] as const);
  throw new ClearformerError(code, `${file} of the bundled model ${what} (HTTP ${status})`, { ...details, status });
}
