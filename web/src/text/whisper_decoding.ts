// Decodes Whisper's ids by the rules of transformers' WhisperTokenizer: timestamps are no text unless they are asked for,
// and the prompt before <|startoftranscript|> is special, too.

import { checkOptions } from '../support/options.js';
import type { TokenizerConfig } from './special_tokens.js';
import { idList, type TokenIds } from './token_lists.js';
import type { DecodeOptions, PreTrainedTokenizer } from './tokenizer.js';
import { placePrefix } from './whisper_prefix.js';

const precision = 0.02; // seconds between two timestamps
const window = 1500; // timestamps in the model's window

/** Gives the tokenizer its `decode`, and the tokens before each text. */
export function decodeSpeech(tokenizer: PreTrainedTokenizer, config: TokenizerConfig): void {
  placePrefix(tokenizer, config);
  const plain = tokenizer.decode.bind(tokenizer);
  const value = (given: TokenIds | number | bigint, options: DecodeOptions = {}): string => {
    checkOptions('decode', options, ['skip_special_tokens', 'clean_up_tokenization_spaces', 'decode_with_timestamps']);
    const { decode_with_timestamps, ...own } = options;
    const { skip_special_tokens } = own;
    const ids = skip_special_tokens ? withoutPrompt(tokenizer, idList(given)) : idList(given);
    if (!decode_with_timestamps) return plain(ids, own).replace(/<\|\p{Nd}+\.\p{Nd}+\|>/gu, '');
    return timed(tokenizer, ids, (part) => plain(part, { skip_special_tokens }));
  };
  Object.defineProperty(tokenizer, 'decode', { value });
}

function withoutPrompt(tokenizer: PreTrainedTokenizer, ids: readonly number[]): readonly number[] {
  const [prompt, start] = tokenizer.convert_tokens_to_ids(['<|startofprev|>', '<|startoftranscript|>']);
  if (ids[0] !== prompt) return ids;
  const at = ids.indexOf(start as number);
  return at < 0 ? [] : ids.slice(at);
}

/** The text with its timestamps, which go on where a later window begins anew: <|1.08|>. */
function timed(
  tokenizer: PreTrainedTokenizer,
  ids: readonly number[],
  textOf: (part: readonly number[]) => string,
): string {
  const last = tokenizer.convert_tokens_to_ids('<|notimestamps|>');
  const first = last === null || last === tokenizer.unk_token_id ? Number.POSITIVE_INFINITY : last + 1;
  const isTime = (i: number) => (ids[i] as number) >= first;
  const parts: (string | number[])[] = [[]];
  let [latest, previous, before] = [0, 0, 0];
  ids.forEach((id, i) => {
    if (!isTime(i)) {
      (parts.at(-1) as number[]).push(id);
      return;
    }
    const time = (id - first) * precision;
    if (time < latest && i >= 2 && !(isTime(i - 1) && isTime(i - 2))) before += precision * window;
    else if (time < latest) {
      latest = previous;
      before += previous;
      parts.splice(-2);
    }
    previous = latest;
    latest = time;
    parts.push(`<|${(time + before).toFixed(2)}|>`, []);
  });
  return parts.map((part) => (typeof part === 'string' ? part : textOf(part))).join('');
}
