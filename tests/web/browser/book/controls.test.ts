// Every control of every step of every chapter is used once: nothing fails, the console stays silent, and the address
// contains the whole state: a fresh page shows the same numbers from the link. Then the controls around the figure; with
// EVERY_CONTROL=1, all of them at every width, light and dark. Those that only narrow windows have are used by
// every_chapter.test.ts, which visits each step there.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chapters } from '../../../../web/demo/book/chapters.js';
import { type OpenPage, Site } from '../site.js';
import { type Control, controlsNow, handScript, inStep, isExpected, type Listing } from './use_controls.js';

const every = process.env.EVERY_CONTROL === '1';
const ids = chapters.map(({ id }) => id);
/** Chapters that measure times on this device, which vary. */
const measured = ['cost'];
/** All steps of training take seconds, here and again in the fresh page: training.test.ts presses it, and compares. */
const isLong = ({ key }: Control): boolean => !every && key.startsWith('figure-heads') && key.endsWith(' / Train');

let site: Site;
let used: OpenPage;
let fresh: OpenPage;
beforeAll(async () => {
  site = await Site.start();
  used = await site.open();
  fresh = await site.open();
  await Promise.all([used, fresh].map(giveHand));
});
afterAll(() => site.stop());

const giveHand = ({ page }: OpenPage): Promise<unknown> => page.evaluate(handScript);

/** Opens an address with a figure without any earlier state: state outside the address must not matter. */
async function openAnew(address: string): Promise<Control[]> {
  await site.go(used.page, address.startsWith('own') ? 'cost' : 'own');
  await site.go(used.page, address);
  return used.page.evaluate(controlsNow, inStep);
}

/** Uses a control and returns the resulting address and contents; undefined if there is no such control. */
const use = (control: Control, from: string) =>
  used.page.evaluate(
    async ({ control, from, listing }) => {
      const { hand } = window;
      const to = await hand.useFrom(control, from, listing);
      return to === undefined ? undefined : { to, faults: hand.brokenLooks(), shown: hand.drawnText() };
    },
    { control, from, listing: inStep },
  );

/** What a fresh page draws at an address. */
const shownAt = (address: string) =>
  fresh.page.evaluate(async (address) => {
    await window.hand.turnTo(`#/${address}`);
    await window.hand.figureSettled();
    return window.hand.drawnText();
  }, address);

/** The faults after a control was used. */
async function faultsOf(control: Control, from: string): Promise<string[]> {
  let found = await use(control, from);
  if (!found) {
    await openAnew(from);
    found = await use(control, from);
    if (!found) return [`${from}: ${control.key} is not there again`];
  }
  const { to, faults, shown } = found;
  if (to !== from && !measured.includes(to.split('?')[0] ?? '') && (await shownAt(to)) !== shown)
    faults.push('a link to it shows other numbers');
  faults.push(...[used, fresh].flatMap(({ complaints }) => complaints.splice(0)).filter((one) => !isExpected(one)));
  return faults.map((fault) => `${from}: ${control.key}: ${fault} (${to})`);
}

const addressesOf = async (page: Page, chapter: string): Promise<string[]> => {
  await site.go(page, chapter);
  const steps = Math.max(1, await page.locator('.step').count());
  return Array.from({ length: steps }, (_, step) => `${chapter}?step=${step}`);
};

it.each(ids)('%s', async (chapter) => {
  const faults: string[] = [];
  const known = new Set<string>();
  for (const address of await addressesOf(used.page, chapter)) {
    for (const control of await openAnew(address)) {
      if (known.has(control.key) || isLong(control)) continue;
      known.add(control.key);
      faults.push(...(await faultsOf(control, address)));
    }
  }
  expect(faults).toEqual([]);
  expect(known.size).toBeGreaterThan(chapter === 'own' ? 2 : 4);
});

/** Uses all controls of some parts of the page in one go. */
const useAll = (
  { page }: OpenPage,
  addresses: readonly string[],
  { parts }: Pick<Listing, 'parts'>,
): Promise<{ used: string[]; faults: string[] }> =>
  page.evaluate(({ addresses, listing }) => window.hand.useAll(addresses, [], listing), {
    addresses,
    listing: { ...inStep, parts },
  });

const silent = ({ complaints }: OpenPage): void =>
  expect(complaints.splice(0).filter((one) => !isExpected(one))).toEqual([]);

it('the questions and the links to the neighbours of every chapter', async () => {
  for (const chapter of ids.slice(1)) {
    const { used: keys, faults } = await useAll(used, [chapter], { parts: ['.after'] });
    expect(faults, chapter).toEqual([]);
    expect(keys.length, chapter).toBeGreaterThan(0);
  }
  silent(used);
});

it('the bar and the margin with the model', async () => {
  const { used: keys, faults } = await useAll(used, ['block?step=1'], { parts: ['.bar', 'book-spine'] });
  expect(faults).toEqual([]);
  expect(keys.length).toBeGreaterThan(6);
  silent(used);
});

const views = [
  { width: 390, height: 844, colorScheme: 'light' },
  { width: 390, height: 844, colorScheme: 'dark' },
  { width: 768, height: 1024, colorScheme: 'light' },
  { width: 768, height: 1024, colorScheme: 'dark' },
  { width: 1440, height: 900, colorScheme: 'dark' },
] as const;

describe.runIf(every).each(views)('$width px, $colorScheme', ({ width, height, colorScheme }) => {
  let narrow: OpenPage;
  beforeAll(async () => {
    narrow = await site.open({ viewport: { width, height }, colorScheme });
    await giveHand(narrow);
  });
  afterAll(() => narrow.page.context().close());

  it.each(ids)('%s', async (chapter) => {
    const addresses = await addressesOf(narrow.page, chapter);
    const { used: keys, faults } = await useAll(narrow, addresses, inStep);
    expect(faults).toEqual([]);
    expect(keys.length).toBeGreaterThan(chapter === 'own' ? 2 : 4);
    silent(narrow);
  });
});
