// NFC, NFD, NFKC and NFKD, with alignment of each new character.

import type { AlignedText, Rewritten } from './aligned_text.js';
import { classOf, complement } from './code_points.js';
import { normalized, once, patternWith } from './unicode.js';

export type Form = 'NFC' | 'NFD' | 'NFKC' | 'NFKD';

/** Normalizes texts to a Unicode normalization form. */
export function unicodeForm(form: Form): (text: AlignedText) => AlignedText {
  known();
  return (aligned) => aligned.rewrite(inForm(aligned.text, form), () => rewritten(aligned.text, form));
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
