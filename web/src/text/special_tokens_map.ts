// special_tokens_map.json with tokens of the model's own or additional ones.

import { isObject } from '../support/kinds.js';
import { entriesOf, isOwnName, listed, type TokenizerConfig } from './special_tokens.js';

/**
 * tokenizer_config.json with the map, whose list of additional tokens continues its own. As in transformers, the map's
 * tokens of the model come before tokenizer_config.json's texts.
 */
export function withMap(config: TokenizerConfig, map: TokenizerConfig): TokenizerConfig {
  const { extra_special_tokens: extra, ...others } = config;
  const { extra_special_tokens: more } = map;
  const isText = ([key, value]: readonly [string, unknown]) => isOwnName(key) && typeof value === 'string';
  const named = [...Object.entries(others).filter(isText), ...entriesOf(extra)];
  const specific = named.length > 0 ? named : entriesOf(others.model_specific_special_tokens);
  const asSpecial = (token: unknown) => (isObject(token) ? { ...token, special: true } : token);
  return {
    ...Object.fromEntries(Object.entries(others).filter((entry) => !isText(entry))),
    ...map,
    model_specific_special_tokens: Object.fromEntries([...specific, ...entriesOf(more)]),
    extra_special_tokens: Array.isArray(more)
      ? [...listed(extra), ...more.filter((token) => !listed(extra).includes(token)).map(asSpecial)]
      : (more ?? extra),
  };
}
