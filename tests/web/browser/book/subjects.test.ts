// One deep link for each subject of the lecture notes and each interpretability feature: the numbers shown there equal
// the library's, and those of PyTorch's committed references.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenPage, Site } from '../site.js';
import { expectNumbers } from './shown_numbers.js';
import { all } from './subjects/index.js';
import { Library } from './subjects/subject.js';

let site: Site;
const library = new Library();
beforeAll(async () => {
  site = await Site.start();
});

/** Subjects are opened as links within a page; every_chapter.test.ts opens each chapter in a fresh one. */
let open: OpenPage | undefined;

async function shownAt(address: string): Promise<OpenPage> {
  open ??= await site.open({}, address);
  open.complaints.length = 0;
  await site.go(open.page, address);
  return open;
}

afterAll(async () => {
  await site.stop();
  await library.dispose();
});

describe('the page shows what the library computes', () => {
  it.each(all.map((subject) => [`${subject.subject}: ${subject.address}`, subject] as const))(
    '%s',
    async (_, subject) => {
      const { page, complaints } = await shownAt(subject.address);
      await expectNumbers(page, subject, library);
      expect(complaints).toEqual([]);
    },
  );
});

it('at least fifty places are compared with references of PyTorch', () => {
  const compared = all.filter(({ reference }) => reference).reduce((sum, { at }) => sum + at.length, 0);
  expect(compared).toBeGreaterThanOrEqual(50);
});
