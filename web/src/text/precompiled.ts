// SentencePiece's normalizer: a table from short strings to replacements, stored as a double-array trie of bytes
// (https://github.com/s-yata/darts-clone) followed by the replacements, each terminated by a zero byte.

import { ClearformerError } from '../support/error.js';
import type { Steps } from '../support/steps.js';
import { AlignedText, type Rewritten } from './aligned_text.js';
import { expectShort } from './invalid.js';
import { textOfUtf8, utf8Of } from './utf8.js';

const longestCluster = 5; // maximum bytes of a grapheme that is looked up as a whole
const replacedInStep = 1024;
const mostMet = 8192; // graphemes
const window = 256; // code units that are taken apart at a time

/** The normalizer of a `precompiled_charsmap` (base64). Throws `malformed_config` for an invalid one. */
export function precompiled(charsmap: string): (text: AlignedText) => Steps<AlignedText> {
  const find = readTable(charsmap);
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
  const met = new Map<string, readonly Replacement[]>(); // looked up once: most graphemes of a text are of a few hundred
  const replacementsOf = (grapheme: string): readonly Replacement[] => {
    const known = met.get(grapheme);
    if (known !== undefined) return known;
    const found = replacements(grapheme, find);
    if (grapheme.length > window) return found;
    if (met.size === mostMet) met.clear();
    met.set(grapheme, found);
    return found;
  };
  return function* (aligned) {
    const parts: AlignedText[] = [];
    let replaced: Replacement[] = [];
    let [text, from, to, made] = ['', 0, 0, 0];
    const change = () => {
      parts.push(aligned.slice(from, to).rewrite(text, () => rewritten(replaced)));
      [replaced, text, from] = [[], '', to];
    };
    for (const grapheme of graphemesOf(aligned.text, segmenter)) {
      for (const one of replacementsOf(grapheme)) {
        replaced.push(one);
        text += one.to;
        made += one.to.length;
        expectShort(made);
      }
      to += grapheme.length;
      if (replaced.length < replacedInStep) continue;
      change();
      yield;
    }
    change();
    return AlignedText.joined(parts);
  };
}

// Between two of these there is always a grapheme boundary, since they neither extend a grapheme nor begin one that others
// extend to: printable ASCII, letters with case, ideographs. The segmenter, whose time is quadratic in the text's
// length, is applied to the other stretches only, with the adjacent characters that may belong to them.
const alone = ' -~\\p{Lu}\\p{Ll}\\p{Unified_Ideograph}';
const stretches = new RegExp(`[${alone}]?(?:[^${alone}]+[${alone}]?)+|[${alone}]`, 'gu');

function* graphemesOf(text: string, segmenter: Intl.Segmenter): Generator<string> {
  for (const [stretch] of text.matchAll(stretches)) {
    if (stretch.length === 1 || (stretch.length === 2 && (stretch.codePointAt(0) as number) > 0xffff)) yield stretch;
    else yield* segments(stretch, segmenter);
  }
}

/** A window's last grapheme may go on behind it: the next window begins there. */
function* segments(stretch: string, segmenter: Intl.Segmenter): Generator<string> {
  for (let [from, length] = [0, window]; from < stretch.length; ) {
    const found = Array.from(segmenter.segment(stretch.slice(from, from + length)), ({ segment }) => segment);
    const last = from + length < stretch.length ? found.pop() : '';
    yield* found;
    from += length - (last?.length ?? 0);
    length = found.length > 0 ? window : 2 * length; // of one that is longer than its window
  }
}

/** The replacement of a text, given as UTF-8. */
type Find = (bytes: Uint8Array) => string | undefined;
interface Replacement {
  from: string;
  to: string;
}

function replacements(grapheme: string, find: Find): Replacement[] {
  const bytes = utf8Of(grapheme);
  const whole = bytes.length <= longestCluster ? find(bytes) : undefined;
  const characters = Array.from(grapheme);
  if (whole !== undefined || characters.length === 1) return [{ from: grapheme, to: whole ?? grapheme }];
  return characters.map((from) => ({ from, to: find(utf8Of(from)) ?? from }));
}

function rewritten(replaced: readonly Replacement[]): Rewritten {
  const done: [string, number][] = [];
  for (const { from, to } of replaced) {
    const olds = Array.from(from).length;
    const news = Array.from(to);
    for (const [i, character] of news.entries()) done.push([character, i < olds ? 1 : 0]);
    const last = done.at(-1); // a removed character belongs to the one before it
    if (last !== undefined) last[1] += Math.max(olds - news.length, 0);
  }
  return done;
}

function readTable(charsmap: string): Find {
  const bytes = Uint8Array.from(atob(charsmap), (character) => character.charCodeAt(0));
  const size = bytes.length < 4 ? 0 : new DataView(bytes.buffer).getUint32(0, true);
  if (size === 0 || size % 4 !== 0 || 4 + size > bytes.length) {
    throw new ClearformerError('malformed_config', 'tokenizer.json: precompiled_charsmap is no table', {
      file: 'tokenizer.json',
    });
  }
  const units = new Uint32Array(bytes.buffer.slice(4, 4 + size));
  const texts = bytes.subarray(4 + size);
  return (bytes) => {
    const at = shortestPrefix(units, bytes);
    return at === undefined ? undefined : textOfUtf8(texts.subarray(at, texts.indexOf(0, at)), 'lenient');
  };
}

// Units: bits 0-7 the label, bit 8 whether a value follows, bits 9 and 10-30 the offset; a value's unit is the value.
function shortestPrefix(units: Uint32Array, key: Uint8Array): number | undefined {
  const offset = (unit: number) => (unit >>> 10) << ((unit & 0x200) >>> 6);
  let node = offset(units[0] as number);
  for (const byte of key) {
    node ^= byte;
    const unit = units[node] ?? 0;
    if ((unit & 0x800000ff) >>> 0 !== byte) return undefined;
    node ^= offset(unit);
    if (((unit >>> 8) & 1) === 1) return (units[node] as number) & 0x7fffffff;
  }
  return undefined;
}
