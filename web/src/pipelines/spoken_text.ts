// Converts the tokens of all chunks of an audio to its text with the timestamps of segments or words, by the rules of
// transformers' _decode_asr. Timestamps come in pairs, the start and the end of a segment. Those in a chunk's overlap
// do not end a segment: its tokens wait for those of the adjacent chunk and are merged with them.

import { ClearformerError } from '../support/error.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import { joined } from './overlapping_chunks.js';
import { wordsOf } from './spoken_words.js';

/** A segment or word with its start and end in seconds; null if the model does not give them. */
export interface SpeechChunk {
  timestamp?: [number | null, number | null];
  text: string;
  language?: string | null;
}

/** The tokens of a chunk of audio. */
export interface ChunkTokens {
  ids: readonly number[];
  /** The end of each token in seconds from the start of the chunk; for words. */
  times?: readonly number[];
  language: string | undefined;
  /** In seconds: the chunk's length, and its overlaps. */
  stride?: { length: number; left: number; right: number };
}

export interface SpokenOptions {
  tokenizer: PreTrainedTokenizer;
  times: 'none' | 'segments' | 'words';
  languages: 'told' | 'not told';
  /** The first timestamp token, the seconds between two of them, and how many fit in the model's window. */
  firstTime: number;
  precision: number;
  positions: number;
  /** Reject if the audio ends within a segment. */
  onlyWhole: boolean;
}

interface Token {
  id: number;
  start: number;
  end: number;
}

interface Segment {
  timestamp: [number | null, number | null];
  language: string | undefined;
  tokens: Token[];
}

/** As in Python: what is between two hundredths (n + 1/8, n + 5/8) becomes the even one. */
const toHundredths = (seconds: number): number => Number((seconds - ((seconds * 8) % 4 === 1 ? 0.001 : 0)).toFixed(2));
const isEarlier = (left: Token, right: Token) =>
  left.start < right.start || (left.start === right.start && left.end <= right.end);

/** Timestamps of a chunk that do not end a segment: those of tokens before `from`, and from `until` on. */
interface Shared {
  from: number;
  until: number;
}

/** Processes token by token. */
class Reader {
  readonly segments: Segment[] = [];
  #segment: Segment;
  /** The tokens of completed chunks since the current segment began. */
  #waiting: Token[][] = [];
  #tokens: Token[] = [];
  #offset = 0;
  #skip = false;
  #language: string | undefined;

  constructor(private readonly options: SpokenOptions) {
    this.#segment = this.#begun();
  }

  #begun(): Segment {
    return { timestamp: [null, null], language: this.#language, tokens: [] };
  }

  read(chunk: ChunkTokens): void {
    const { firstTime } = this.options;
    const { stride } = chunk;
    if (stride !== undefined) this.#offset -= stride.left;
    this.#tokens = [];
    this.#hear(chunk.language);
    const shared = this.#shared(chunk);
    const clock = new Clock(chunk.ids, this.options);
    const special = new Set(this.options.tokenizer.all_special_ids);
    chunk.ids.forEach((id, i) => {
      if (special.has(id)) return;
      if (id >= firstTime) this.#time(id, toHundredths(clock.at(i, this.#offset)), shared);
      else this.#tokens.push({ id, ...this.#spoken(chunk, i) });
    });
    if (stride !== undefined) this.#offset += stride.length - stride.right;
    if (this.#tokens.length > 0) this.#waiting.push(this.#tokens);
    else if (this.#waiting.every(({ length }) => length === 0)) {
      this.#segment = this.#begun();
      this.#waiting = [];
    }
  }

  /** Closes an open segment. */
  finish(): void {
    if (this.#waiting.length === 0) return;
    if (this.options.onlyWhole && this.options.times !== 'none') {
      throw new ClearformerError(
        'unsupported',
        'automatic-speech-recognition: the model gives no end to the last segment, perhaps the sound is cut in a word; force_full_sequences: false takes it as it is',
        { option: 'force_full_sequences' },
      );
    }
    this.#close();
  }

  #hear(language: string | undefined): void {
    if (language === undefined) return;
    const { languages, times } = this.options;
    const changes = this.#language !== undefined && language !== this.#language;
    if (changes && languages === 'told' && times === 'none' && this.#waiting.length > 0) this.#close();
    this.#language = language;
    this.#segment.language = language;
  }

  #shared({ ids, stride }: ChunkTokens): Shared {
    const { firstTime, precision } = this.options;
    if (stride === undefined) return { from: firstTime, until: Number.POSITIVE_INFINITY };
    const from = stride.left > 0 ? stride.left / precision + firstTime : firstTime;
    let until: number | undefined;
    if (stride.right > 0) {
      for (const id of [...ids].reverse()) {
        if (id < firstTime) continue;
        // The last one always belongs to the next chunk, others if they are in the overlap.
        if (until !== undefined && (id - firstTime) * precision < stride.length - stride.right) break;
        until = id;
      }
    }
    return { from, until: until ?? Number.POSITIVE_INFINITY };
  }

  #time(id: number, time: number, { from, until }: Shared): void {
    const { timestamp } = this.#segment;
    if (id >= until) this.#skip = true;
    else if (this.#skip || (this.#waiting.length > 0 && id < from)) this.#skip = false;
    else if (timestamp[0] === null) timestamp[0] = time;
    else if (time !== timestamp[0]) {
      timestamp[1] = time;
      this.#waiting.push(this.#tokens);
      this.#close();
    }
  }

  /** The time of a token: from the end of the previous one to its own. */
  #spoken({ times }: ChunkTokens, i: number): { start: number; end: number } {
    if (times === undefined) return { start: 0, end: 0 };
    const at = (index: number) => toHundredths((index < 0 ? 0 : (times[index] as number)) + this.#offset);
    return { start: at(i - 1), end: at(i) };
  }

  #close(): void {
    const agree = (left: Token, right: Token) => left.id === right.id && isEarlier(left, right);
    this.#segment.tokens = joined(this.#waiting, agree);
    this.segments.push(this.#segment);
    this.#waiting = [];
    this.#tokens = [];
    this.#segment = this.#begun();
  }
}

/** Seconds from the chunk's start: timestamps restart where the model continued within the chunk. */
class Clock {
  readonly #ids: readonly number[];
  readonly #options: SpokenOptions;
  #before = 0;
  #latest = 0;
  #previous = 0;

  constructor(ids: readonly number[], options: SpokenOptions) {
    this.#ids = ids;
    this.#options = options;
  }

  /** The time of the timestamp token at `i`, in a chunk that begins at `offset`; must be called in order. */
  at(i: number, offset: number): number {
    const { firstTime, precision, positions } = this.#options;
    const isTime = (index: number) => (this.#ids[index] as number) >= firstTime;
    const time = ((this.#ids[i] as number) - firstTime) * precision;
    if (time < this.#latest) {
      const single = i >= 2 && !(isTime(i - 1) && isTime(i - 2));
      this.#before += single ? precision * positions : this.#previous;
      if (!single) this.#latest = this.#previous;
    }
    this.#previous = this.#latest;
    this.#latest = time;
    return time + offset + this.#before; // in upstream's order, on which the rounding depends
  }
}

/** The text of an audio and, on request, its segments or words. */
export function spokenText(
  chunks: readonly ChunkTokens[],
  options: SpokenOptions,
): { text: string; chunks?: SpeechChunk[] } {
  const { tokenizer, times, languages } = options;
  const reader = new Reader(options);
  for (const chunk of chunks) reader.read(chunk);
  reader.finish();
  const parts = reader.segments.map((segment) => {
    const ids = segment.tokens.map(({ id }) => id);
    return { ...segment, ids, text: tokenizer.decode(ids) };
  });
  const text = parts.map((part) => part.text).join('');
  if (times === 'none' && languages === 'not told') return { text };
  const told = (language: string | undefined) => (languages === 'told' ? { language: language ?? null } : {});
  if (times !== 'words') {
    const timed = (timestamp: [number | null, number | null]) => (times === 'segments' ? { timestamp } : {});
    return {
      text,
      chunks: parts.map((part) => ({ ...told(part.language), ...timed(part.timestamp), text: part.text })),
    };
  }
  const words = parts.flatMap(({ ids, tokens, language }) =>
    wordsOf(tokenizer, ids, language).map(({ text: word, first, last }): SpeechChunk => {
      const timestamp: [number, number] = [(tokens[first] as Token).start, (tokens[last] as Token).end];
      return { text: word, timestamp, ...told(language) };
    }),
  );
  return { text, chunks: words };
}
