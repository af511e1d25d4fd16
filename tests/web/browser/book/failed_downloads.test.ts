// A download of the page's scripts that fails: what is told, and that a second attempt succeeds, in Chromium and in Firefox.

import puppeteer, { type Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { figureSettled, Site, turnTo } from '../site.js';
import { firefoxPath } from './firefox.js';

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

describe('a failed download in Chromium', () => {
  it('of the menu is told in its popup, and made good there', async () => {
    const { page, complaints } = await site.open({}, 'next');
    await page.route('**/figure_menu-*', (route) => route.abort());
    await page.getByRole('button', { name: 'Figure', exact: true }).click();
    await page.locator('.pop [role=alert]').waitFor();
    await page.unroute('**/figure_menu-*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('figure-menu .numbers').waitFor();
    expect(complaints.filter((one) => one.startsWith('exception'))).toEqual([]);
  });
});

describe.skipIf(firefoxPath === '')('a failed download in Firefox', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await puppeteer.launch({ browser: 'firefox', executablePath: firefoxPath, headless: true });
  });
  afterAll(() => browser.close());

  it('of a chapter or of the menu is made good by a second attempt', async () => {
    const page = await browser.newPage();
    let failing: RegExp | undefined;
    await page.setRequestInterception(true);
    page.on('request', (request) => void (failing?.test(request.url()) ? request.abort() : request.continue()));
    await page.goto(`${site.url}#/next`);
    await page.evaluate(figureSettled);
    failing = /assets\/figure-|assets\/head-/;
    await page.evaluate(turnTo, '#/head');
    await page.waitForSelector('.failed');
    failing = undefined;
    await page.click('.failed button');
    await page.waitForSelector('figure-head');
    await page.evaluate(figureSettled);
    failing = /figure_menu-/;
    const menu = '.holder > button';
    await page.click(menu);
    await page.waitForSelector('.pop [role=alert] button');
    failing = undefined;
    await page.click('.pop [role=alert] button');
    await page.waitForFunction(() => document.querySelector('.pop') === null && document.querySelector('figure-head'));
    await page.evaluate(figureSettled);
    await page.click(menu);
    await page.waitForFunction(
      () => (document.querySelector('figure-menu')?.getBoundingClientRect().height ?? 0) > 100,
    );
  });
});
