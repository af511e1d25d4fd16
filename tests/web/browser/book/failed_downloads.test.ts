// A download of the page's scripts or models that fails: what is told, and that a second attempt succeeds, in Chromium
// and in Firefox.

import puppeteer, { type Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { figureSettled, Site, turnTo } from '../site.js';
import { firefoxPath } from './firefox.js';
import { shownText } from './reader.js';

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

  it('of the page’s own script leaves a sentence, some seconds later', async () => {
    const { page } = await site.open({}, 'next');
    expect(await page.locator('.late').isVisible()).toBe(false);
    await page.route('**/assets/index-*.js', (route) => route.abort());
    await page.reload();
    expect(await page.locator('.late').isVisible()).toBe(false);
    await page.evaluate(() => {
      for (const waiting of document.getAnimations()) waiting.finish();
    });
    expect(await page.locator('.late').isVisible()).toBe(true);
    await page.context().close();
  });

  it.each([
    [503, 'translate', '**/marian-tiny-en-fr/config.json', 'It could not be fetched'],
    [429, 'heads?step=1', '**/stories260K/model.safetensors', 'It could not be fetched'],
    [404, 'translate', '**/marian-tiny-en-fr/config.json', 'A file was not found'],
  ])('with status %i of a model’s file at %s is told as what it is', async (status, address, file, title) => {
    const { page } = await site.open({}, 'next');
    await page.route(file, (route) => route.fulfill({ status, body: '' }));
    await site.go(page, address);
    const told = await page.locator('main [role=alert]').innerText();
    expect(told).toContain(title);
    expect(told).toContain(`(HTTP ${status})`);
    await page.unroute(file);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('main [role=alert]').waitFor({ state: 'detached' });
    await page.context().close();
  });
});

it('what takes long is told: another chapter, the menu; the chapter before it stays as it is', async () => {
  const { page, complaints } = await site.open({}, 'vectors?step=3');
  const seen = async (): Promise<string> => (await shownText(page)).replace('Loading … ', '');
  const told = page
    .locator('book-app')
    .getByRole('status')
    .filter({ hasText: /^Loading …$/ });
  let deliver = (): void => {};
  const held = new Promise<void>((resolve) => {
    deliver = resolve;
  });
  for (const files of ['**/assets/set-*', '**/assets/figure_menu-*'])
    await page.route(files, (route) => held.then(() => route.continue()));
  await page.getByRole('button', { name: 'Figure', exact: true }).click();
  await told.waitFor();
  await page.keyboard.press('Escape');
  await told.waitFor({ state: 'detached' });
  const before = await seen();
  await page.evaluate(() => location.assign('#/set?q=2'));
  await told.waitFor();
  await page.mouse.move(200, 500);
  await page.mouse.wheel(0, 500);
  await page
    .locator('figure-vectors')
    .evaluate((figure: Element & { settled?(): Promise<void> }) => figure.settled?.());
  expect(await seen()).toEqual(before);
  expect(page.url()).toMatch(/#\/set\?q=2$/);
  deliver();
  await told.waitFor({ state: 'detached' });
  expect(await page.locator('h1').textContent()).toBe('A set has no order');
  expect(complaints).toEqual([]);
  await page.context().close();
});

it('a download is a status once; how much has come is written beside it', async () => {
  const { page } = await site.open({}, 'translate');
  const read = await page.locator('figure-translate').evaluate(async (element) => {
    const figure = element as HTMLElement & { book: { shelf: object }; updateComplete: Promise<unknown> };
    Object.assign(figure.book.shelf, { loading: { name: 'model', loaded: 1, total: 4 } });
    Object.assign(figure, { data: undefined });
    await figure.updateComplete;
    const waiting = figure.shadowRoot?.querySelector('.waiting');
    return [waiting?.textContent, waiting?.querySelector('[role=status]')?.textContent];
  });
  expect(read).toEqual(['Loading model 25 %', 'Loading model']);
  await page.context().close();
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
