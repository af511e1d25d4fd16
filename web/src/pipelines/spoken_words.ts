// Groups tokens into words like openai/whisper and transformers: at spaces, or, in languages written without spaces,
// wherever tokens form whole characters; punctuation belongs to the adjacent word.

import type { PreTrainedTokenizer } from '../text/tokenizer.js';

/** A word and its tokens, [first, last]. */
export interface TokenWord {
  text: string;
  first: number;
  last: number;
}

const unspaced = ['chinese', 'japanese', 'thai', 'lao', 'myanmar', 'cantonese'];
const opening = '"\'“¡¿([{-';
const closing = '"\'.。,，!！?？:：”)]}、';
const punctuation = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';

/** The words of a sequence of tokens; `language` is its English name. */
export function wordsOf(
  tokenizer: PreTrainedTokenizer,
  ids: readonly number[],
  language: string | undefined,
): TokenWord[] {
  const characters = wholeCharacters(tokenizer, ids);
  const isUnspaced = language !== undefined && unspaced.includes(language);
  return withPunctuation(isUnspaced ? characters : spaced(tokenizer, ids, characters));
}

/** The shortest runs of tokens whose text is valid: a character may be spread over several. */
function wholeCharacters(tokenizer: PreTrainedTokenizer, ids: readonly number[]): TokenWord[] {
  const whole = tokenizer.decode([...ids]);
  const runs: TokenWord[] = [];
  let [first, at] = [0, 0];
  ids.forEach((_, last) => {
    const text = tokenizer.decode(ids.slice(first, last + 1));
    const broken = text.indexOf('\ufffd');
    // A replacement character that the whole text contains as well is not an incomplete character.
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

/** Joins opening punctuation to the next word, closing punctuation to the previous one. */
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
