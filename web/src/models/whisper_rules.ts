// The rules of generation_config.json for Whisper's languages, tasks and heads, whose ranges are the model's.

import { brokenRules, isWhole, type Own } from '../checkpoint/file_rules.js';
import type { ModelShape } from '../runtime/border.js';
import type { ClearformerError } from '../support/error.js';
import { isObject } from '../support/kinds.js';
import { languageId, tasks } from '../text/whisper_languages.js';

type Values = Readonly<Record<string, unknown>>;

const below = (count: number): Own => ({
  must: `a whole number from 0 to ${count - 1}`,
  fits: (value) => isWhole(value, 0, count - 1),
});

/** Violations in what languages and tasks are prompted with; a model of a single language reads none of it. */
export function brokenSpeechRules(settings: Values, { d_vocab }: ModelShape): ClearformerError[] {
  if (settings.is_multilingual === false) return [];
  const isCode = (token: string) => /^<\|.+\|>$/.test(token);
  const lang_to_id: Own = {
    must: 'an object of tokens such as <|en|> and their ids',
    fits: (value) => isObject(value) && Object.keys(value).length > 0 && Object.keys(value).every(isCode),
    each: below(d_vocab),
  };
  const task_to_id: Own = {
    must: 'an object of ids with transcribe',
    fits: (value) => isObject(value) && value.transcribe !== undefined,
    each: below(d_vocab),
  };
  const ids = broken({ lang_to_id, task_to_id }, settings);
  if (ids.length > 0 || !settings.lang_to_id || !settings.task_to_id) return ids;
  const known = settings.lang_to_id as Readonly<Record<string, number>>;
  const language: Own = {
    must: `a language of lang_to_id (${Object.keys(known).join(', ')})`,
    fits: (value) => isLanguage(value, known),
  };
  const task = tasks.filter((name) => isObject(settings.task_to_id) && name in settings.task_to_id);
  return broken({ language, task }, settings);
}

/** Violations in the heads that words are timed by. */
export function brokenHeadRules(settings: Values, { n_layers, n_heads }: ModelShape): ClearformerError[] {
  const alignment_heads: Own = {
    must: 'a list of layers and heads',
    fits: Array.isArray,
    each: {
      must: `one of the model's ${n_layers} layers and one of its ${n_heads} heads, counted from 0`,
      fits: (pair) =>
        Array.isArray(pair) && pair.length === 2 && below(n_layers).fits(pair[0]) && below(n_heads).fits(pair[1]),
    },
  };
  return broken({ alignment_heads }, settings);
}

function isLanguage(value: unknown, ids: Readonly<Record<string, number>>): boolean {
  try {
    return typeof value === 'string' && languageId(value, ids) >= 0;
  } catch {
    return false;
  }
}

function broken(table: Readonly<Record<string, Own | readonly string[]>>, settings: Values): ClearformerError[] {
  const file = 'generation_config.json';
  return brokenRules(file, settings, file, { [file]: table });
}
