// tokenizer.json's `decoder`: maps tokens back to text. Each decoder maps a list of strings to another; the last is
// joined.

import type { SpelledToken } from './added_tokens.js';
import { bytesOf } from './byte_level.js';
import { expectShort } from './invalid.js';
import { patternOf } from './patterns.js';
import { asStep, characterOf, countOf, flagOf, type Step, stepsOf, textOf, unknownStep } from './step.js';
import { textOfUtf8 } from './utf8.js';

type Decode = (texts: readonly string[]) => readonly string[];

/** Decodes ids: as in the crate, an added token that is found in normalized text to its normalized spelling. */
export class TokenDecoder {
  /** What `skip_special_tokens` omits: all tokens with the text of a special one. */
  readonly special: ReadonlySet<number>;
  /** The text of tokens. */
  readonly joined: (tokens: readonly string[]) => string;

  /** `wordEnd` is the suffix of words that becomes a space, as in transformers' class of CLIP's tokenizers only. */
  constructor(
    step: unknown,
    /** By id. */
    private readonly texts: readonly (string | undefined)[],
    added: readonly SpelledToken[],
    private readonly wordEnd: string | null | undefined,
  ) {
    const contents = new Set<string | undefined>(
      added.filter(([, { special }]) => special).map(([, { content }]) => content),
    );
    this.special = new Set(texts.flatMap((text, id) => (contents.has(text) ? id : [])));
    this.joined = decoderOf(step);
  }

  /** The text of the ids; those without a token give none. */
  decode(ids: readonly number[]): string {
    const text = this.joined(ids.map((id) => this.texts[id]).filter((one) => one !== undefined));
    return this.wordEnd ? text.replaceAll(this.wordEnd, ' ').trim() : text;
  }
}

/** The decoder of a tokenizer.json; throws `unsupported` for a step of an unknown type. */
export function decoderOf(held: unknown): (tokens: readonly string[]) => string {
  if (held === null || held === undefined) return (tokens) => tokens.join(' ');
  const decode = made(asStep(held, 'decoder'));
  return (tokens) => decode(tokens).join('');
}

function made(step: Step): Decode {
  const make = makers[step.type];
  if (make === undefined) throw unknownStep('decoder', step.type);
  return make(step);
}

const makers: Readonly<Record<string, (step: Step) => Decode>> = {
  Sequence: (step) => {
    const steps = stepsOf(step, 'decoders').map(made);
    // Steps of a stranger's file may double a text again and again.
    const next = (done: readonly string[], decode: Decode) => {
      expectShort(done.reduce((sum, { length }) => sum + length, 0));
      return decode(done);
    };
    return (texts) => steps.reduce(next, texts);
  },
  ByteLevel: () => (texts) => [textOfUtf8(Uint8Array.from(texts.flatMap((text) => [...bytesOf(text)])), 'lenient')],
  ByteFallback: () => byteFallback,
  Fuse: () => (texts) => [texts.join('')],
  WordPiece: (step) => {
    const prefix = textOf(step, 'prefix', '##');
    const cleanup = flagOf(step, 'cleanup', true);
    const joined = (text: string) => (text.startsWith(prefix) ? text.slice(prefix.length) : ` ${text}`);
    return each((text, i) => {
      const whole = i === 0 ? text : joined(text);
      return cleanup ? cleanedPiece(whole) : whole;
    });
  },
  Metaspace: (step) => {
    const mark = characterOf(step, 'replacement', '▁');
    const prepended = flagOf(step, 'add_prefix_space', true) && textOf(step, 'prepend_scheme', 'always') !== 'never';
    return each((text, i) => text.replaceAll(mark, i === 0 && prepended ? '' : ' '));
  },
  BPEDecoder: (step) => {
    const suffix = textOf(step, 'suffix', '</w>');
    return each((text, i, { length }) => replaced(text, suffix, i === length - 1 ? '' : ' '));
  },
  CTC: connectionist,
  Replace: (step) => {
    const pattern = patternOf(step.pattern);
    const content = textOf(step, 'content');
    return (texts) => {
      let length = 0;
      const by = () => {
        length += content.length;
        expectShort(length);
        return content;
      };
      return texts.map((text) => text && pattern[Symbol.replace](text, by)); // nothing matches an empty text
    };
  },
  Strip: (step) => {
    const content = characterOf(step, 'content', ' ');
    const [start, stop] = [countOf(step, 'start', 0, 0), countOf(step, 'stop', 0, 0)];
    return each((text) => stripped(text, content, start, stop));
  },
};

function each(change: (text: string, i: number, texts: readonly string[]) => string): Decode {
  return (texts) => texts.map(change);
}

/** Tokens such as <0xE2> are bytes. A run of them that is not valid UTF-8 as a whole becomes one U+FFFD per byte. */
function byteFallback(texts: readonly string[]): string[] {
  const decoded: string[] = [];
  let bytes: number[] = [];
  const close = () => {
    if (bytes.length > 0) decoded.push(...textsOfBytes(bytes));
    bytes = [];
  };
  for (const text of texts) {
    const byte = /^<0x(?:\+([0-9A-Fa-f])|([0-9A-Fa-f]{2}))>$/.exec(text); // with +, as Rust parses numbers
    if (byte !== null) {
      bytes.push(Number.parseInt(byte[1] ?? byte[2] ?? '', 16));
      continue;
    }
    close();
    decoded.push(text);
  }
  close();
  return decoded;
}

function textsOfBytes(bytes: readonly number[]): string[] {
  try {
    return [textOfUtf8(Uint8Array.from(bytes), 'strict')];
  } catch {
    return bytes.map(() => '\uFFFD');
  }
}

function connectionist(step: Step): Decode {
  const pad = textOf(step, 'pad_token', '<pad>');
  const delimiter = textOf(step, 'word_delimiter_token', '|');
  const cleanup = flagOf(step, 'cleanup', true);
  return (texts) =>
    texts
      .filter((text, i) => i === 0 || text !== texts[i - 1])
      .map((text) => {
        const own = text.replaceAll(pad, '');
        return cleanup ? replaced(cleanedPiece(own), delimiter, ' ') : own;
      })
      .filter((text) => text !== '');
}

/** As in Rust, nothing (part '') stands between characters, not between the halves of a surrogate pair. */
const replaced = (text: string, part: string, by: string): string => text.replaceAll(part || /(?:)/gu, by);

function stripped(text: string, content: string, start: number, stop: number): string {
  const characters = Array.from(text);
  let [from, to] = [0, characters.length];
  while (from < Math.min(start, to) && characters[from] === content) from++;
  while (characters.length - to < stop && to > from && characters[to - 1] === content) to--;
  return characters.slice(from, to).join('');
}

/** Removes the spaces that word pieces leave before punctuation and English contractions. */
export function cleanedUp(text: string): string {
  return text
    .replace(/ (?=[.?!,])/g, '')
    .replace(/ ' /g, "'")
    .replace(/ (?=n't|'m|'s|'ve|'re)/g, '');
}

/** Additional replacements in the crate's decoders. */
function cleanedPiece(text: string): string {
  return cleanedUp(text).replaceAll(' do not', " don't");
}
