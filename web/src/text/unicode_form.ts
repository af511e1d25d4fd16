// NFC, NFD, NFKC and NFKD, with alignment of each new character.

import type { Steps } from '../support/steps.js';
import { type AlignedText, inSegments, type Rewritten } from './aligned_text.js';
import { complement } from './code_point_algebra.js';
import { classOf } from './code_points.js';
import { once, patternWith } from './unicode.js';
import { normalized } from './unicode_sets.js';

export type Form = 'NFC' | 'NFD' | 'NFKC' | 'NFKD';

/** Normalizes texts to a Unicode normalization form. */
export function unicodeForm(form: Form): (text: AlignedText) => Steps<AlignedText> {
  known();
  const change = (part: AlignedText) => part.rewrite(inForm(part.text, form), () => rewritten(part.text, form));
  return (aligned) => inSegments(aligned, change, isBorder, segment);
}

/** Code units: engines sort marks that follow one another in a time that grows as the square of their number. */
const segment = 2048;
/** What may join the character before it, or change places with it: marks, and parts of Hangul syllables. */
const joining = /^[\p{M}\u1160-\u11ff\udc00-\udfff]/u;

/** Whether no form changes anything across a place. */
function isBorder(text: string, at: number): boolean {
  return !joining.test(String.fromCodePoint(text.codePointAt(at) ?? 0).normalize('NFKD'));
}

const known = once(() => ({
  parts: patternWith(normalized(), '+'),
  others: new RegExp(classOf(complement(normalized())), 'u'),
}));

// A character's normalization never changes in later versions of Unicode; characters newer than the crate's version are
// left unchanged, and nothing is composed or reordered across them.
function inForm(text: string, form: Form): string {
  const { parts, others } = known();
  return others.test(text) ? text.replace(parts, (part) => part.normalize(form)) : text.normalize(form);
}

// A character's first part replaces the old character, its other parts are inserted. A composed character replaces what
// its parts replaced; the engine's decomposition of the result tells which parts those are.
function rewritten(text: string, form: Form): Rewritten {
  const full = form.includes('K') ? 'NFKD' : 'NFD';
  const parts = Array.from(text).flatMap((character) =>
    Array.from(inForm(character, full), (part, i) => ({ part, takes: i === 0 ? 1 : 0 })),
  );
  const used = new Uint8Array(parts.length);
  let first = 0; // first unused one
  const take = (wanted: string): number => {
    let at = first;
    while (at < parts.length && (used[at] === 1 || parts[at]?.part !== wanted)) at++;
    used[at] = 1;
    while (used[first] === 1) first++;
    return parts[at]?.takes ?? 0;
  };
  return Array.from(inForm(text, form), (character) => {
    const own = Array.from(inForm(character, full), take);
    return [character, own.reduce((sum, takes) => sum + takes, 0)] as const;
  });
}
