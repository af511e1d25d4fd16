// AutoConfig: the contents of config.json, without a model.

import type { OrNull } from '../support/or_null.js';
import { readRequired } from './files.js';
import { readSmallFiles, type SmallFileOptions } from './small_files.js';
import type { Source } from './source.js';

/** The parsed config.json. */
export interface PretrainedConfig {
  readonly model_type?: string;
  readonly [key: string]: unknown;
}

/** Reads the config of a model. */
export const AutoConfig = {
  /**
   * The config.json of a source. Rejects with `file_not_found`, `unsupported` (a folder of another kind, such as GGUF),
   * `network_error`, `malformed_config`, `integrity_mismatch` or the abort signal's reason.
   */
  from_pretrained(source: Source, options: OrNull<SmallFileOptions> = {}): Promise<PretrainedConfig> {
    return readSmallFiles('AutoConfig.from_pretrained', source, options, async (folder, how) =>
      JSON.parse((await readRequired(folder, 'config.json', how)).text),
    );
  },
};
