// The config.json of a source, read before anything else: it says what kind of model the folder holds.
import { AutoModel } from 'clearformer';
import type { LoadOptions, Source } from './model_host.js';

export type Config = Readonly<Record<string, unknown>>;

const kName = 'config.json';
const kHub = 'https://huggingface.co';
const kHubId = /^[\w-][\w.-]*(\/[\w-][\w.-]*)?$/;

/** The file's text, or undefined where it cannot be had. */
async function textOf(source: Source, signal: AbortSignal | undefined): Promise<string | undefined> {
  if (typeof source === 'string') {
    if (!kHubId.test(source)) return undefined;
    const answer = await fetch(`${kHub}/${source}/resolve/main/${kName}`, signal ? { signal } : {});
    return answer.ok ? answer.text() : undefined;
  }
  const files: readonly File[] = Array.isArray(source) ? source : [];
  const depth = (file: File): number => file.webkitRelativePath.split('/').length;
  const [file] = files.filter(({ name }) => name === kName).sort((a, b) => depth(a) - depth(b));
  return file?.text();
}

/**
 * The contents of config.json. Where there is none that can be read, the package is asked for the model: its error says why.
 */
export async function configOf(source: Source, options: LoadOptions): Promise<Config> {
  const text = await textOf(source, options.signal).catch(() => undefined);
  options.signal?.throwIfAborted();
  const config = parsed(text);
  if (config) return config;
  const model = await AutoModel.from_pretrained(source, options);
  await model.dispose();
  return model.config;
}

function parsed(text: string | undefined): Config | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? (value as Config) : undefined;
  } catch {
    return undefined;
  }
}
