// The configuration of a model's preprocessing: preprocessor_config.json, or a member of processor_config.json.

import { notFound, type ReadOptions, readOptional, type TextFile } from './files.js';
import type { Folder } from './folder.js';

/** A configuration and the name of its file. */
export interface ProcessorConfig {
  config: Readonly<Record<string, unknown>>;
  file: string;
}

const nested = 'processor_config.json';
const single = 'preprocessor_config.json';

/**
 * The member `part` of processor_config.json, written by transformers 5, or preprocessor_config.json, with upstream's
 * precedence. Rejects with `file_not_found` if neither exists.
 */
export async function readProcessorConfig(
  folder: Folder,
  part: 'image_processor' | 'feature_extractor',
  options: ReadOptions,
): Promise<ProcessorConfig> {
  const [joint, own] = await Promise.all([nested, single].map((name) => readOptional(folder, name, options)));
  const found = parsed(joint)?.[part];
  if (typeof found === 'object' && found !== null) return { config: found as Record<string, unknown>, file: nested };
  const config = parsed(own);
  if (config === undefined) throw notFound(folder, single);
  return { config, file: single };
}

function parsed(file: TextFile | undefined): Record<string, unknown> | undefined {
  return file === undefined ? undefined : JSON.parse(file.text);
}
