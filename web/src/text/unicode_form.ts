// NFC, NFD, NFKC and NFKD, with each new character's origin.

import type { AlignedText, Rewritten } from './aligned_text.js';
import { classOf, complement } from './code_points.js';
import { normalized, once, patternWith } from './unicode.js';

export type Form = 'NFC' | 'NFD' | 'NFKC' | 'NFKD';

/** Puts texts into a Unicode normalization form. */
export function unicodeForm(form: Form): (text: AlignedText) => AlignedText {
  known();
  return (aligned) => aligned.rewrite(inForm(aligned.text, form), () => rewritten(aligned.text, form));
}

const known = once(() => ({
  parts: patternWith(normalized(), '+'),
  others: new RegExp(classOf(complement(normalized())), 'u'),
}));

// Once a character has a normalization it keeps it in all later versions of Unicode; those that are newer than the crate's
// version stay as they are, and nothing is composed or sorted across them.
function inForm(text: string, form: Form): string {
  const { parts, others } = known();
  return others.test(text) ? text.replace(parts, (part) => part.normalize(form)) : text.normalize(form);
}

// A character's first part takes the old character, its other parts are new. A composed character takes what its parts
// took. The engine tells which parts those are: the decomposition of what came out.
function rewritten(text: string, form: Form): Rewritten {
  const full = form.includes('K') ? 'NFKD' : 'NFD';
  const parts = Array.from(text).flatMap((character) =>
    Array.from(inForm(character, full), (part, i) => ({ part, takes: i === 0 ? 1 : 0 })),
  );
  const used = new Uint8Array(parts.length);
  let first = 0; // of those not used yet
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
