// Prose omits sentences whose numbers have not been computed.

import { expect, it } from 'vitest';
import { computed, filled, plain } from '../../../web/demo/book/markup.js';

const text =
  'A head reads. It leaves “{token}” {share}. {q|**Q**} asks, and {k|K} answers “{other}.” Choose [one](?h={n}) of *them*.';

it('leaves sentences out whole, and only those', () => {
  expect(computed(text, {})).toBe('A head reads.');
  expect(computed(text, { token: 'she', share: '0.4' })).toBe('A head reads. It leaves “{token}” {share}.');
  expect(computed(text, { token: 'she', share: '0.4', other: 'Lily', n: '1' })).toBe(text);
  expect(computed('Only {one}.', {})).toBe('');
  expect(computed('', {})).toBe('');
});

it('does not cut within a sentence', () => {
  const whole = 'From 0.4 to {n}, i.e. more than a half: 3 of 4.';
  expect(computed(whole, {})).toBe('');
  expect(computed(whole, { n: '1' })).toBe(whole);
});

it('isolates values that run from right to left or turn the direction', () => {
  expect(filled('“{token}” has {share}', { token: 'שלום', share: '40 %' })).toBe('“\u2068שלום\u2069” has 40 %');
  expect(filled('“{token}”', { token: '\u202E\u2069abc' })).toBe('“\u2068\u202Eabc\u2069”');
  expect(plain('“{token}”', { token: 'שלום' })).toBe('“\u2068שלום\u2069”');
});
