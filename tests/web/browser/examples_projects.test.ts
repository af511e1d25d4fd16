// The projects of web/examples without a build step, in a browser: the package comes from another origin, as from a
// CDN.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AutoModelForCausalLM, AutoTokenizer } from 'clearformer';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Project } from '../../examples/project.js';
import { greedyText, installPackage, type Served, serve, stories } from '../support/installed_package.js';
import { launchChromium } from './chromium.js';

let browser: Browser;
let folder: string;
let cdn: Served;
beforeAll(async () => {
  browser = await launchChromium();
  folder = await installPackage();
  cdn = await serve([join(folder, 'node_modules/clearformer')], { 'access-control-allow-origin': '*' });
});
afterAll(async () => {
  cdn.stop();
  await browser.close();
  rmSync(folder, { recursive: true });
});

/** Serves the project, after running its commands and inserting the CDN's address into index.html. */
async function served(name: string): Promise<Served> {
  const project = await Project.create(name);
  await project.follow();
  const page = join(project.folder, 'index.html');
  const text = readFileSync(page, 'utf8');
  const ours = text.replaceAll(/https:\/\/cdn\.jsdelivr\.net\/npm\/clearformer@[\d.]+\//g, cdn.url);
  expect(ours).not.toBe(text);
  writeFileSync(page, ours);
  return serve([project.folder]);
}

it('plain_html writes a story', async () => {
  const site = await served('plain_html');
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
  page.on('pageerror', ({ message }) => complaints.push(message));
  await page.goto(site.url);
  await page.getByRole('button', { name: 'Write' }).click();
  await page
    .locator('#story')
    .filter({ hasText: /Once upon a time./ })
    .waitFor(); // it has begun, and may have ended
  await page.getByRole('button', { name: 'Write', disabled: false }).waitFor();
  const story = (await page.locator('#story').textContent()) ?? '';
  expect(complaints).toEqual([]);
  expect(story.length).toBeGreaterThan(150);
  expect(String(greedyText).startsWith(story)).toBe(true);
  expect(site.requests.some((path) => path.endsWith('.wasm'))).toBe(false);
  expect(cdn.requests.some((path) => path.endsWith('.wasm'))).toBe(true);
  site.stop();
});

it('notebook computes anew what depends on a changed cell, and nothing else', async () => {
  const site = await served('notebook');
  const page = await browser.newPage();
  await page.goto(site.url);
  const cell = (name: string) => page.locator(`[data-cell=${name}] output`);
  const looked = async (text: string, layer: number) => {
    const inputs = (await AutoTokenizer.from_pretrained(stories))(text);
    const model = await AutoModelForCausalLM.from_pretrained(stories);
    const { attentions = [] } = await model(inputs, { output_attentions: true });
    await model.dispose();
    const tokens = (await AutoTokenizer.from_pretrained(stories)).convert_ids_to_tokens(inputs.input_ids.slice(0));
    const [heads = []] = (attentions[layer]?.tolist() ?? []) as number[][][][];
    return JSON.stringify(heads.map((head) => tokens[head.at(-1)?.indexOf(Math.max(...(head.at(-1) ?? []))) ?? 0]));
  };
  await cell('looked_at')
    .filter({ hasText: await looked('Lily went to the park.', 2) })
    .waitFor();
  const loads = site.requests.length;
  await page.getByLabel('layer', { exact: true }).fill('4');
  await page.getByLabel('layer', { exact: true }).blur();
  await cell('looked_at')
    .filter({ hasText: await looked('Lily went to the park.', 4) })
    .waitFor();
  await page.getByLabel('text', { exact: true }).fill("'Tim has a big red ball.'");
  await page.getByLabel('text', { exact: true }).blur();
  await cell('looked_at')
    .filter({ hasText: await looked('Tim has a big red ball.', 4) })
    .waitFor();
  expect(site.requests).toHaveLength(loads); // the model was not loaded again
  await page.getByLabel('layer', { exact: true }).fill('nonsense');
  await page.getByLabel('layer', { exact: true }).blur();
  await cell('looked_at').filter({ hasText: 'ReferenceError: nonsense is not defined' }).waitFor();
  site.stop();
});
