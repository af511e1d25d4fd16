// What chapter 12 says of its measurements and of the device.

import { expect, it } from 'vitest';
import { instructionsOf } from '../../../web/demo/book/instructions.js';
import { endsOf, saidOf } from '../../../web/demo/chapters/cost/time_view.js';
import { lengths } from '../../../web/demo/chapters/cost/timing.js';
import { words as german } from '../../../web/demo/words/de/cost.js';
import { words as english } from '../../../web/demo/words/en/cost.js';

it('tells which series ended before the longest text', () => {
  const upTo = (name: string, last: number) => ({
    name,
    hue: 'q' as const,
    points: lengths.filter((n) => n <= last).map((n) => ({ n, milliseconds: 1 })),
    work: [],
  });
  const series = [upTo('attention', 512), upTo('recurrent', 256)];
  expect(endsOf(series, english.labels)).toBe(
    'Measured up to 256 tokens only, where a call took more than 25 ms: recurrent.',
  );
  expect(endsOf(series, german.labels)).toBe(
    'Nur bis 256 Tokens gemessen, weil ein Aufruf dort länger als 25 ms gedauert hat: recurrent.',
  );
  expect(endsOf([upTo('attention', 512)], english.labels)).toBe('');
});

it('says in class mode nothing, or what is not in the note, below the times', () => {
  const said = (note: string, ended: string, inClass: boolean) =>
    saidOf({ series: [], offered: undefined, note, ended }, english.labels, inClass);
  const { timeNote } = english.labels;
  expect(said('a note', '', true)).toBe('');
  expect(said('a note', 'It ended.', true)).toBe('It ended.');
  expect(said('', 'It ended.', true)).toBe(`It ended. ${timeNote}`);
  expect(said('a note', '', false)).toBe(timeNote);
});

it('names the instructions', () => {
  expect([true, false].map((relaxed) => instructionsOf({ relaxed }))).toEqual(['relaxed SIMD', 'SIMD']);
});
