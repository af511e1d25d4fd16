// The configuration of what stands before a model: preprocessor_config.json, or its part of processor_config.json.

import { notFound, type ReadOptions, readOptional, type TextFile } from './files.js';
import type { Folder } from './folder.js';

/** A configuration and the file that it stands in. */
export interface ProcessorConfig {
  config: Readonly<Record<string, unknown>>;
  file: string;
}

const nested = 'processor_config.json';
const single = 'preprocessor_config.json';

/**
 * The object `part` of processor_config.json, where transformers 5 writes it, or else preprocessor_config.json, as upstream
 * chooses. Rejects with `file_not_found` where neither is there.
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
