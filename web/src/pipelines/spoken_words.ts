// Tokens grouped into words, as openai/whisper and transformers do it: where a space begins a word, or, in languages that are written
// without spaces, wherever tokens make whole characters; punctuation stays with its word.

import type { PreTrainedTokenizer } from '../text/tokenizer.js';

/** A word and the tokens it is made of, [first, last]. */
export interface TokenWord {
  text: string;
  first: number;
  last: number;
}

const unspaced = ['chinese', 'japanese', 'thai', 'lao', 'myanmar', 'cantonese'];
const opening = '"\'“¡¿([{-';
const closing = '"\'.。,，!！?？:：”)]}、';
const punctuation = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';

/** The words of a sequence of tokens, in the language of that English name. */
export function wordsOf(
  tokenizer: PreTrainedTokenizer,
  ids: readonly number[],
  language: string | undefined,
): TokenWord[] {
  const characters = wholeCharacters(tokenizer, ids);
  const isUnspaced = language !== undefined && unspaced.includes(language);
  return withPunctuation(isUnspaced ? characters : spaced(tokenizer, ids, characters));
}

/** The shortest runs of tokens whose text is whole: a character may be spread over several. */
function wholeCharacters(tokenizer: PreTrainedTokenizer, ids: readonly number[]): TokenWord[] {
  const whole = tokenizer.decode([...ids]);
  const runs: TokenWord[] = [];
  let [first, at] = [0, 0];
  ids.forEach((_, last) => {
    const text = tokenizer.decode(ids.slice(first, last + 1));
    const broken = text.indexOf('\ufffd');
    // A replacement character that the whole text has there, too, is no part of a character.
    if (broken >= 0 && at + broken < whole.length && whole[at + broken] !== '\ufffd') return;
    runs.push({ text, first, last });
    at += text.length;
    first = last + 1;
  });
  return runs;
}

function spaced(tokenizer: PreTrainedTokenizer, ids: readonly number[], runs: readonly TokenWord[]): TokenWord[] {
  const words: TokenWord[] = [];
  const end = tokenizer.eos_token_id ?? Number.POSITIVE_INFINITY;
  for (const run of runs) {
    const word = words.at(-1);
    const begins =
      (ids[run.first] as number) >= end || run.text.startsWith(' ') || punctuation.includes(run.text.trim());
    if (begins || word === undefined) words.push({ ...run });
    else {
      word.text += run.text;
      word.last = run.last;
    }
  }
  return words;
}

/** Opening marks go to the word behind them, closing ones to the word before them. */
function withPunctuation(words: readonly TokenWord[]): TokenWord[] {
  const merge = (left: TokenWord, right: TokenWord) => ({
    text: left.text + right.text,
    first: left.first,
    last: right.last,
  });
  const opened: TokenWord[] = [];
  for (const word of [...words].reverse()) {
    const next = opened.at(-1);
    const isMark = word.text.startsWith(' ') && opening.includes(word.text.trim());
    if (next !== undefined && isMark) opened[opened.length - 1] = merge(word, next);
    else opened.push(word);
  }
  const closed: TokenWord[] = [];
  for (const word of opened.reverse()) {
    const before = closed.at(-1);
    if (before !== undefined && !before.text.endsWith(' ') && closing.includes(word.text)) {
      closed[closed.length - 1] = merge(before, word);
    } else closed.push(word);
  }
  return closed;
}
