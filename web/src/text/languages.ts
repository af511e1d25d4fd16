// Tokenizers of multilingual translation models: the token of a text's language is before or behind the text, as placed
// by transformers' classes, whatever tokenizer.json says.

import { invalid } from './invalid.js';
import { classNameOf, type TokenizerConfig } from './special_tokens.js';
import type { PreTrainedTokenizer } from './tokenizer.js';

/** The language assumed by each class, and whether its token precedes the text: `en text </s>` or `text </s> en`. */
const kinds: Readonly<Record<string, { usual: string; first: boolean }>> = {
  nllb: { usual: 'eng_Latn', first: true },
  mbart: { usual: 'en_XX', first: false },
  mbart50: { usual: 'en_XX', first: true },
  m2m100: { usual: 'en', first: true },
};

/** Gives the tokenizer its `src_lang`, set to the file's or the class's own language. */
export function placeLanguages(tokenizer: PreTrainedTokenizer, config: TokenizerConfig): void {
  const kind = kinds[classNameOf(config)];
  const { eos_token_id: end } = tokenizer;
  if (kind === undefined || end === null) return;
  const first = kind.first && config.legacy_behaviour !== true;
  let current: string | undefined;
  const set = (language: string) => {
    tokenizer.post_processor = template(languageId(tokenizer, 'src_lang', language), end, first);
    current = language;
  };
  Object.defineProperty(tokenizer, 'src_lang', { get: () => current, set, enumerable: true });
  const language = typeof config.src_lang === 'string' ? config.src_lang : kind.usual;
  if (tokenOf(tokenizer, language) !== undefined) set(language);
}

/** The id of a language's token, for an error's `option`. Throws `invalid_argument` if there is none. */
export function languageId(tokenizer: PreTrainedTokenizer, option: string, language: unknown): number {
  const id = typeof language === 'string' ? tokenOf(tokenizer, language) : undefined;
  if (id !== undefined) return id;
  throw invalid(option, `${option}: the tokenizer has no token for the language ${JSON.stringify(language)}`);
}

/** M2M100 spells the token of `en` as `__en__`. */
function tokenOf(tokenizer: PreTrainedTokenizer, language: string): number | undefined {
  const special = new Set(tokenizer.all_special_ids);
  const ids = tokenizer.convert_tokens_to_ids([`__${language}__`, language]);
  return ids.find((id): id is number => id !== null && id !== tokenizer.unk_token_id && special.has(id));
}

function template(language: number, end: number, first: boolean): object {
  const token = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
  const text = (id: string) => ({ Sequence: { id, type_id: 0 } });
  const around = (...texts: object[]) =>
    first ? [token('language'), ...texts, token('end')] : [...texts, token('end'), token('language')];
  return {
    type: 'TemplateProcessing',
    single: around(text('A')),
    pair: around(text('A'), text('B')),
    special_tokens: { language: { ids: [language] }, end: { ids: [end] } },
  };
}
