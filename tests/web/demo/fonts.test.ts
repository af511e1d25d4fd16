// The page's fonts contain every character of its texts, and stay within their size budget.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { faces } from '../../../scripts/fonts/faces.js';

const demo = new URL('../../../web/demo/', import.meta.url);

it('fonts have every character of the catalogues', () => {
  const known = new Set(faces.flatMap(({ characters }) => [...characters]));
  const missing = ['en', 'de'].flatMap((language) => {
    const folder = new URL(`words/${language}/`, demo);
    return readdirSync(folder).flatMap((name) => {
      const code = readFileSync(new URL(name, folder), 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '');
      return [...new Set(code)]
        .filter((each) => each > ' ' && !known.has(each))
        .map((each) => `${language}/${name}: ${each}`);
    });
  });
  expect(missing).toEqual([]);
});

it('fonts have at most 60 kB together', () => {
  const sizes = faces.map(({ file }) => statSync(new URL(`fonts/${file}`, demo)).size);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(60_000);
});
