// One deep link for each subject of the lecture notes and each interpretability feature: the numbers shown there equal
// the library's, and those of PyTorch's committed references. And links with numbers that there are not.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenPage, Site } from '../site.js';
import { drawn } from './reader.js';
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

it.each([
  ['head?view=root&d=1e9', 'd=1024'],
  ['masks?step=2&len=1e9', 'len=10'],
  ['cost?n=1e9&d=1e9&k=1e9', 'n=4096, d=1024, k=63'],
  ['head?step=99&l=99&h=-3&q=-1', 'step=9, l=4, h=0, q=0'],
  ['heads?l=1e9&h=NaN', 'l=4, h=0'],
  ['kinds?l=-1&h=1.5&w=99', 'l=0, h=1, w=3'],
  ['laboratory?h=1.5', 'h=1'],
  ['heads?step=2&c=1.5', 'c=1'],
  ['block?c=1.5', 'c=1'],
  ['block?q=1.5', 'q=1'],
  ['saying?step=4&seed=1e400&w=385.99999', `w=385, seed=${Number.MAX_SAFE_INTEGER - 1}`],
  ['where?step=1.5&d=3&i=-2', 'step=1, i=0, d=4'],
  ['vectors?step=3&id=99999', 'id=511'],
  ['seeing?step=1&p=99', 'p=48'],
  ['translate?s=99&f=99999', 's=8, f=∅'],
  ['next?w=-1', 'w=∅'],
  ['saying?id=99999', 'id=511'],
  ['heads?step=6&lr=1&seed=1e400&n=-1', 'lr=0.008, seed=999, n=0'],
  ['head?l=4&h=7', ''],
  ['block?step=6&q=9', ''], // a position of the sentence, and another model
])('%s: the nearest, %s, is shown, and the reader told', async (address, told) => {
  const { page, complaints } = await site.visit(address);
  const notice = page.locator('.not-here').filter({ has: page.getByRole('link', { name: 'As in the book' }) });
  const said = told === '' ? [] : [expect.stringContaining(`The nearest is shown: ${told}.`)];
  expect(await notice.locator('p').first().allInnerTexts()).toEqual(said);
  expect(await page.getByRole('alert').count()).toBe(0);
  expect((await drawn(page)).length).toBeGreaterThan(0);
  expect(complaints).toEqual([]);
});
