// The projects of web/examples that are served by Vite, in a browser.

import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../web/browser/chromium.js';
import { greedyText } from '../web/support/installed_package.js';
import { modelFolder, Project } from './project.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

/** The project's page, started with its README's commands, and the errors on its console. */
async function opened(name: string): Promise<{ page: Page; complaints: string[] }> {
  const project = await Project.create(name);
  const url = await project.serve();
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
  page.on('pageerror', ({ message }) => complaints.push(message));
  await page.goto(url);
  return { page, complaints };
}

const press = (page: Page, name: string) => page.getByRole('button', { name }).click();
const told = async (page: Page, id: string): Promise<string> => (await page.locator(`#${id}`).textContent()) ?? '';
const comes = (page: Page, id: string, text: string) => page.locator(`#${id}`, { hasText: text }).waitFor();

/** Has the page itself press Stop once its story is longer than that: from outside, the story could be finished first. */
const stopAt = (page: Page, length: number) =>
  page.evaluate(`(() => {
    const story = document.querySelector('#story');
    const stop = [...document.querySelectorAll('button')].find(({ textContent }) => textContent.trim() === 'Stop');
    const observer = new MutationObserver(() => {
      if (story.textContent.length <= ${length}) return;
      observer.disconnect();
      stop.click();
    });
    observer.observe(story, { childList: true, characterData: true, subtree: true });
  })()`);

it('stories streams and stops', async () => {
  const { page, complaints } = await opened('stories');
  await comes(page, 'state', 'ready');
  await stopAt(page, 60);
  await press(page, 'Write');
  await comes(page, 'state', 'stopped');
  const story = await told(page, 'story');
  expect(story.startsWith('Once upon a time')).toBe(true);
  expect(story.length).toBeLessThan(200);
  await page.waitForTimeout(500);
  expect(await told(page, 'story')).toBe(story);
  await press(page, 'Write');
  await comes(page, 'state', 'finished');
  expect((await told(page, 'story')).length).toBeGreaterThan(600);
  expect(complaints).toEqual([]);
});

it('translate_worker translates in its own worker', async () => {
  const { page, complaints } = await opened('translate_worker');
  await press(page, 'Translate');
  await comes(page, 'french', 'Où est la gare ?');
  expect(page.workers()).toHaveLength(1);
  expect(complaints).toEqual([]);
});

it('image_attention names the digit and shows where the model looked', async () => {
  const { page, complaints } = await opened('image_attention');
  await comes(page, 'answer', 'choose');
  const samples = join(modelFolder('vit-mnist'), 'samples.png');
  const buffer = await sharp(samples).extract({ left: 0, top: 0, width: 28, height: 28 }).png().toBuffer();
  await page.locator('#file').setInputFiles({ name: 'digit.png', mimeType: 'image/png', buffer });
  await comes(page, 'answer', '%');
  expect(await told(page, 'answer')).toMatch(/^0 \((9\d|100)\.\d %\)$/);
  const red = await page.evaluate(`(() => {
    const { data } = document.querySelector('#picture').getContext('2d').getImageData(0, 0, 280, 280);
    return data.filter((_, i) => i % 4 === 0 && data[i] > data[i + 1] + 60).length;
  })()`);
  expect(red).toBeGreaterThan(1000);
  expect(complaints).toEqual([]);
});

it('react_hook writes, stops and writes again', async () => {
  const { page, complaints } = await opened('react_hook');
  await comes(page, 'state', 'ready');
  const written = (length: number) =>
    page.waitForFunction(`document.querySelector('#story').textContent.length > ${length} &&
      document.querySelector('#state').textContent === 'ready'`);
  await stopAt(page, 30);
  await press(page, 'Write');
  await written(30);
  const begun = await told(page, 'story');
  expect(begun.length).toBeLessThan(100);
  expect(String(greedyText).startsWith(begun)).toBe(true);
  await press(page, 'Write');
  await written(150);
  const story = await told(page, 'story');
  expect(story.length).toBeGreaterThan(150);
  expect(String(greedyText).startsWith(story)).toBe(true);
  expect(complaints).toEqual([]);
});
