// A tokenizer's settings: tokenizer_config.json's, else tokenizer.json's, else those of transformers' class.

import { textOf } from '../support/error.js';
import { type TokenizerConfig, usualToken } from './special_tokens.js';
import { type StoredTemplates, templatesOf } from './template_names.js';

export type Side = 'left' | 'right';

/** Whether the class pads on the left, as some of transformers' do. */
export const padsLeft = ({ tokenizer_class }: TokenizerConfig): boolean =>
  /^((Code)?Llama|Gemma|Cohere|Siglip2|XLNet)Tokenizer(Fast)?$/.test(textOf(tokenizer_class));

/** The parts of tokenizer.json about padding and truncation. */
export interface StoredSettings {
  padding?: { direction?: string; pad_type_id?: number; pad_token?: string } | null;
  truncation?: { direction?: string } | null;
}

export interface Settings {
  readonly padding_side: Side;
  readonly truncation_side: Side;
  /** Infinity if the files do not name it. */
  readonly model_max_length: number;
  readonly chat_template: string | Readonly<Record<string, string>> | null;
  readonly pad_type: number;
}

/** tokenizer_config.json, with tokenizer.json's padding token if neither it nor the class has one. */
export function withStored(config: TokenizerConfig, { padding }: StoredSettings): TokenizerConfig {
  const { pad_token } = padding ?? {};
  return pad_token === undefined || usualToken(config, 'pad_token') ? config : { pad_token, ...config };
}

export function settingsOf(config: TokenizerConfig, { padding, truncation }: StoredSettings): Settings {
  const limit = 'model_max_length' in config ? config.model_max_length : config.max_len; // its name in older files
  return {
    padding_side: sideOf(config.padding_side ?? padding?.direction ?? (padsLeft(config) && 'left')),
    truncation_side: sideOf(config.truncation_side ?? truncation?.direction),
    // Files without a limit contain a number of thirty digits.
    model_max_length: typeof limit === 'number' && limit < 1e9 ? limit : Number.POSITIVE_INFINITY,
    chat_template: templatesOf(config.chat_template as StoredTemplates),
    pad_type: padding?.pad_type_id ?? 0,
  };
}

const sideOf = (side: unknown): Side => (/^left$/i.test(String(side)) ? 'left' : 'right');
