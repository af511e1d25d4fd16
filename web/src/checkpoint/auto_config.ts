// AutoConfig: the contents of config.json, without a model.

import { checkOptions, ownOptions } from '../support/options.js';
import { type ReadOptions, readRequired } from './files.js';
import { openSource, type Source, type SourceOptions, sourceOptions } from './source.js';

/** The parsed config.json. */
export interface PretrainedConfig {
  readonly model_type?: string;
  readonly [key: string]: unknown;
}

/** Reads the config of a model. */
export const AutoConfig = {
  /**
   * The config.json of a source. Rejects with `file_not_found`, `network_error`, `malformed_config`,
   * `integrity_mismatch` or the abort signal's reason.
   */
  async from_pretrained(source: Source, given: SourceOptions & ReadOptions = {}): Promise<PretrainedConfig> {
    const call = 'AutoConfig.from_pretrained';
    const known = [...sourceOptions, 'signal', 'integrity'];
    const options = await ownOptions(call, given, (own) => checkOptions(call, own, known));
    options.signal?.throwIfAborted();
    return JSON.parse((await readRequired(openSource(source, options), 'config.json', options)).text);
  },
};
