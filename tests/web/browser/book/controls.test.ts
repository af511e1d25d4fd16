// Every control of every step of every chapter is used once: nothing fails, the console stays silent, and the address
// contains the whole state: a fresh page shows the same numbers from the link.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapters } from '../../../../web/demo/book/chapters.js';
import { figureSettled, type OpenPage, Site, turnTo } from '../site.js';
import { brokenLooksNow, drawnTextNow } from './reader.js';
import { type Control, controlsNow, useControl } from './use_controls.js';

const ids = chapters.map(({ id }) => id);
const inStep = ['main .figure > *', '.step.on .prose'];
const most = 3;
/** Chapters that measure times on this device, which vary. */
const measured = ['cost'];

let site: Site;
let used: OpenPage;
let fresh: OpenPage;
beforeAll(async () => {
  site = await Site.start();
  used = await site.open({ reducedMotion: 'reduce' });
  fresh = await site.open({ reducedMotion: 'reduce' });
  await Promise.all([used, fresh].map(giveHand));
});
afterAll(() => site.stop());

/** Work done inside the page, to reduce messages between the page and this program. */
interface Hand {
  turnTo: typeof turnTo;
  figureSettled: typeof figureSettled;
  controlsNow: typeof controlsNow;
  useControl: typeof useControl;
  brokenLooks: typeof brokenLooksNow;
  drawnText: typeof drawnTextNow;
}
declare global {
  interface Window {
    hand: Hand;
  }
}
const hand: Hand = {
  turnTo,
  figureSettled,
  controlsNow,
  useControl,
  brokenLooks: brokenLooksNow,
  drawnText: drawnTextNow,
};
const giveHand = ({ page }: OpenPage): Promise<unknown> =>
  page.evaluate(`window.hand = { ${Object.entries(hand).map(([name, work]) => `${name}: ${work}`)} }; undefined`);

/** Opens an address with a figure without any earlier state: state outside the address must not matter. */
async function openAnew(address: string): Promise<Control[]> {
  await site.go(used.page, address.startsWith('own') ? 'cost' : 'own');
  await site.go(used.page, address);
  return used.page.evaluate(controlsNow, { parts: inStep, most });
}

/** Uses a control and returns the resulting address and contents; undefined if there is no such control. */
const use = (control: Control, from: string) =>
  used.page.evaluate(
    async ({ control, from, parts, most }) => {
      const { hand } = window;
      await hand.turnTo(`#/${from}`);
      await hand.figureSettled();
      hand.controlsNow({ parts, most });
      if (!hand.useControl(control)) return undefined;
      let to = '';
      do {
        to = location.hash;
        await hand.figureSettled(); // generation changes the address repeatedly
      } while (location.hash !== to);
      return { to: to.slice(2), faults: hand.brokenLooks(), shown: hand.drawnText() };
    },
    { control, from, parts: inStep, most },
  );

/** What a fresh page draws at an address. */
const shownAt = (address: string) =>
  fresh.page.evaluate(async (address) => {
    await window.hand.turnTo(`#/${address}`);
    await window.hand.figureSettled();
    return window.hand.drawnText();
  }, address);

/** Expected complaints: a model is requested from the Hub by name, which is not available. */
const expected = (complaint: string): boolean =>
  /request to elsewhere: https:\/\/huggingface\.co|net::ERR_/.test(complaint);

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
  faults.push(...[used, fresh].flatMap(({ complaints }) => complaints.splice(0)).filter((one) => !expected(one)));
  return faults.map((fault) => `${from}: ${control.key}: ${fault} (${to})`);
}

it.each(ids)('%s', async (chapter) => {
  const { page } = used;
  await site.go(page, chapter);
  const steps = Math.max(1, await page.locator('.step').count());
  const faults: string[] = [];
  const known = new Set<string>();
  for (let step = 0; step < steps; step++) {
    const address = `${chapter}?step=${step}`;
    for (const control of await openAnew(address)) {
      if (known.has(control.key)) continue;
      known.add(control.key);
      faults.push(...(await faultsOf(control, address)));
    }
  }
  expect(faults).toEqual([]);
  expect(known.size).toBeGreaterThan(chapter === 'own' ? 2 : 4);
});
