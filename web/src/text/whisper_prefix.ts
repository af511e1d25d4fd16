// The tokens before a text that Whisper learns: <|startoftranscript|>, the language and the task of tokenizer_config.json, and
// <|notimestamps|>, as placed by transformers' WhisperTokenizer, whatever tokenizer.json says.

import { ClearformerError, messageOf, textOf } from '../support/error.js';
import type { TokenizerConfig } from './special_tokens.js';
import type { PreTrainedTokenizer } from './tokenizer.js';
import { languageId, tasks } from './whisper_languages.js';

/** Places the tokens that the vocabulary has. Throws `malformed_config` for a language or a task that it has not. */
export function placePrefix(tokenizer: PreTrainedTokenizer, config: TokenizerConfig): void {
  const { language = null, task = null, predict_timestamps } = config;
  const { eos_token_id: end } = tokenizer;
  if (end === null) return;
  const idOf = (token: string) => {
    const id = tokenizer.convert_tokens_to_ids(token);
    return id === tokenizer.unk_token_id ? null : id;
  };
  const first = idOf('<|startoftranscript|>');
  const ids = [first];
  try {
    if (language !== null) ids.push(languageId(textOf(language), languagesBehind(tokenizer, first)));
  } catch (thrown) {
    throw malformed('language', messageOf(thrown), thrown);
  }
  if (task !== null) {
    if (!tasks.includes(textOf(task))) throw malformed('task', `task: ${textOf(task)} is none of ${tasks.join(', ')}`);
    ids.push(idOf(`<|${task}|>`));
  }
  if (predict_timestamps !== true) ids.push(idOf('<|notimestamps|>'));
  const before = ids.filter((id) => id !== null);
  const token = (id: number, type_id = 0) => ({ SpecialToken: { id: String(id), type_id } });
  const start = [...before.map((id) => token(id)), { Sequence: { id: 'A', type_id: 0 } }];
  tokenizer.post_processor = {
    type: 'TemplateProcessing',
    single: [...start, token(end)],
    pair: [...start, { Sequence: { id: 'B', type_id: 1 } }, token(end, 1)],
    special_tokens: Object.fromEntries([...before, end].map((id) => [String(id), { ids: [id] }])),
  };
}

/** The tokens of the languages, which follow the first token. */
function languagesBehind(tokenizer: PreTrainedTokenizer, first: number | null): Record<string, number> {
  const found: Record<string, number> = {};
  for (let id = (first ?? Number.NaN) + 1; tokenizer.has_id(id); id++) {
    const [token = ''] = tokenizer.convert_ids_to_tokens([id]);
    if (!/^<\|[a-z]{2,3}\|>$/.test(token)) break;
    found[token] = id;
  }
  return found;
}

function malformed(option: string, why: string, cause?: unknown): ClearformerError {
  const file = 'tokenizer_config.json';
  return new ClearformerError('malformed_config', `${file}: ${why}`, { file, option }, cause);
}
