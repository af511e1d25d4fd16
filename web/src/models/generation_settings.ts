// generation_config as an object: the model's, which a caller may change, and one that is given with a call.

import { textOf } from '../support/error.js';
import { isObject } from '../support/kinds.js';
import { refusedOption, withInherited } from '../support/options.js';
import { outputOptions } from './generation_options.js';
import { plainValue } from './plain_values.js';

/** @internal JSON of a value, of which lists are as in options. */
export const json = (value: unknown, indent?: number): string | undefined =>
  JSON.stringify(
    value,
    (name, one) => {
      if (isObject(one) || Array.isArray(one) || one === undefined) return one;
      return plainValue(one, /\D/.test(name) ? name : undefined); // elements of lists have no name
    },
    indent,
  );

type Settings = Readonly<Record<string, unknown>>;

/** The JSON text of each member of a model's generation_config as it was loaded, which is what the core has. */
export type LoadedSettings = ReadonlyMap<string, string | undefined>;

/** As they are now. */
export function loadedSettings(config: Settings): LoadedSettings {
  return new Map(Object.entries(config).map(([name, value]) => [name, json(value)]));
}

function changed(config: Settings, loaded: LoadedSettings): [name: string, value: unknown][] {
  return Object.entries(withInherited(config)).filter(([name, value]) => json(value) !== loaded.get(name));
}

/** What a caller has changed in a model's generation_config, as JSON in which null stands for what was removed. */
export function changesIn(config: Settings, loaded: LoadedSettings): string | undefined {
  const removed = [...loaded.keys()].filter((name) => config[name] === undefined).map((name) => [name, null]);
  const changes = [...changed(config, loaded), ...removed];
  return changes.length > 0 ? json(Object.fromEntries(changes)) : undefined;
}

/** Members of a file that are no options: where it comes from. */
const isOfOrigin = (name: string): boolean => name.startsWith('_') || name === 'transformers_version';

/**
 * The options of a call over those of its `generation_config`, of which members that a model's own file has as well, such
 * as those of a Whisper's languages, are none. Unless they ask for ids alone, the outputs that were added to the model's
 * generation_config, `ofModel`, are options, too. Throws `invalid_argument` unless `generation_config` is an object.
 */
export function withSettings<O extends { generation_config?: Settings | null | undefined }>(
  call: string,
  options: O,
  loaded: LoadedSettings,
  ofModel: Settings,
): O {
  if (!isObject(options)) return options; // which is refused elsewhere
  const { generation_config, ...own } = withInherited(options);
  const config: unknown = generation_config ?? {};
  if (!isObject(config)) {
    throw refusedOption(call, 'generation_config', `must be an object of options, got ${textOf(config)}`);
  }
  const given = Object.entries(own).filter(([, value]) => value !== undefined);
  const settings = changed(config, loaded).filter(([name]) => !isOfOrigin(name));
  const all = Object.fromEntries([...settings, ...given]);
  if (all.return_dict_in_generate === false) return all as O;
  const outputs = changed(ofModel, loaded).filter(([name]) => (outputOptions as readonly string[]).includes(name));
  return { ...Object.fromEntries(outputs), ...all } as O;
}
