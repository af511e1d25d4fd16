// The page in Firefox: every chapter's first steps, wide, on a tablet in dark mode and on a phone, without errors; the
// controls of some first steps; and the numbers of deep links. With EVERY_CONTROL=1 all steps and controls at every width,
// light and dark; with PICTURES=1 there are pictures of it in build/walks.

import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chapters } from '../../../../web/demo/book/chapters.js';
import { FirefoxSite, firefoxPath } from './firefox.js';
import { brokenLooks, drawn, figureOverflow } from './reader.js';
import { acrossBuilds, expectNumbers } from './shown_numbers.js';
import { all } from './subjects/index.js';
import { Library } from './subjects/subject.js';
import { handScript, inStep } from './use_controls.js';

const ids = chapters.map(({ id }) => id);
/** Whose controls take little time. */
const quick = ['vectors', 'where', 'masks', 'seeing', 'laboratory'];
const every = process.env.EVERY_CONTROL === '1';
const views = [
  { width: 1440, height: 900, steps: 3, theme: 'light', controls: true },
  { width: 390, height: 844, steps: 3, theme: 'light', controls: every },
  { width: 768, height: 1024, steps: every ? 3 : 1, theme: 'dark', controls: every },
  ...(every
    ? ([
        { width: 1440, height: 900, steps: 3, theme: 'dark', controls: true },
        { width: 390, height: 844, steps: 3, theme: 'dark', controls: true },
        { width: 768, height: 1024, steps: 3, theme: 'light', controls: true },
      ] as const)
    : []),
];
const compared = all.filter(({ address }) => ['next', 'where', 'head'].includes(address.split('?')[0] ?? ''));
const pictures = fileURLToPath(new URL('../../../../build/walks/', import.meta.url));

/** The theme, from the lightness of the text colour. */
function shownTheme(): string {
  const ink = getComputedStyle(document.body).color.match(/\d+/g) ?? [];
  return Number(ink[0]) > 128 ? 'dark' : 'light';
}

function pressTheme(): void {
  document.querySelector<HTMLElement>('.tools > button:last-child')?.click();
}

describe.skipIf(firefoxPath === '')('Firefox', () => {
  let site: FirefoxSite;
  const library = new Library();
  beforeAll(async () => {
    mkdirSync(pictures, { recursive: true });
    site = await FirefoxSite.start();
  });
  afterAll(async () => {
    await site.stop();
    await library.dispose();
  });

  describe.each(views)('$width px, $theme', ({ width, height, steps, theme, controls }) => {
    beforeAll(async () => {
      await site.open('next', width, height);
      if ((await site.page.evaluate(shownTheme)) !== theme) await site.page.evaluate(pressTheme);
      expect(await site.page.evaluate(shownTheme)).toBe(theme);
    });

    it.each(ids)('%s', async (chapter) => {
      for (let step = 0; step < steps; step++) {
        await site.go(`${chapter}?step=${step}`);
        expect(await brokenLooks(site.page), `step ${step}`).toEqual([]);
        if (width > 700)
          expect(await site.page.evaluate(figureOverflow), `step ${step}: too wide`).toBeLessThanOrEqual(0);
        for (const { source } of await drawn(site.page)) expect(source.trim(), `step ${step}`).not.toBe('');
        if (step === 0 && process.env.PICTURES === '1')
          await site.page.screenshot({ path: `${pictures}firefox-${width}-${theme}-${chapter}.png` });
      }
      expect(site.complaints.splice(0)).toEqual([]);
    });

    it.skipIf(!controls).each(every ? ids : quick)('the controls of %s', async (chapter) => {
      const steps = every ? 10 : 1;
      const addresses = Array.from({ length: steps }, (_, step) => `${chapter}?step=${step}`);
      await site.go(chapter);
      await site.page.evaluate(handScript);
      const { used, faults } = await site.page.evaluate(
        (addresses, listing) => window.hand.useAll(addresses, [], listing),
        addresses,
        { ...inStep, merged: false },
      );
      expect(faults).toEqual([]);
      expect(used.length).toBeGreaterThan(0);
      const expected = /(request to elsewhere:|remote resource at) https:\/\/huggingface\.co|NS_ERROR/; // a model asked for by name
      expect(site.complaints.splice(0).filter((one) => !expected.test(one))).toEqual([]);
    });
  });

  describe('the numbers of deep links', () => {
    beforeAll(() => site.open('next', 1440, 900));

    it.each(compared)('$address: $source', async (subject) => {
      await site.go(subject.address);
      await expectNumbers(site.page, subject, library, acrossBuilds);
      expect(site.complaints.splice(0)).toEqual([]);
    });
  });
});
