// The chat of chapter 14: a model with a chat template as the reader's own files, its answers compared with those of the
// pipeline in Node, and what happens at the end of its context of 512 tokens.

import { readFileSync } from 'node:fs';
import { type Message, pipeline, type TextGenerationPipeline } from 'clearformer';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenPage, Site } from '../site.js';
import { seriousFaults } from './accessibility.js';
import { brokenLooks } from './reader.js';

const folder = './web/demo/public/models/stories260K';
const read = (name: string): Buffer => readFileSync(`${folder}/${name}`);
const chat_template = `{{ bos_token }}{% for m in messages %}{% if m.role == 'system' %}({{ m.content }}) {% elif m.role == 'user' %}{{ m.content }} {% else %}{{ m.content }} {% endif %}{% endfor %}`;
const config = (given: object): Buffer =>
  Buffer.from(JSON.stringify({ ...JSON.parse(read('tokenizer_config.json').toString()), ...given }));
const plain: Record<string, Buffer> = {
  'config.json': read('config.json'),
  'tokenizer.json': read('tokenizer.json'),
  'model.safetensors': read('model.safetensors'),
};
const chatty = { ...plain, 'tokenizer_config.json': config({ chat_template }) };

let site: Site;
let open: OpenPage;
let page: Page;
let node: TextGenerationPipeline;
beforeAll(async () => {
  site = await Site.start();
  open = await site.open({ viewport: { width: 768, height: 1024 } }, 'own');
  page = open.page;
  node = await pipeline('text-generation', chatty, { worker: false });
});
afterAll(async () => {
  await node.dispose();
  await site.stop();
});

async function load(files: Record<string, Buffer>): Promise<void> {
  const list = Object.entries(files).map(([name, buffer]) => ({ name, mimeType: 'application/octet-stream', buffer }));
  await page.setInputFiles('figure-own file-pick #files', list);
  await page.getByRole('button', { name: /^Load in fp32/ }).click();
}

const field = () => page.getByLabel('Your message');
const answers = () => page.locator('own-chat article.assistant .said');
const idle = () => page.locator('own-chat .log[aria-busy=false]').waitFor();
const use = () => page.locator('own-chat .use').innerText();

async function beginAnew(): Promise<void> {
  const button = page.getByRole('button', { name: 'New conversation' });
  const isBegun = (await button.count()) > 0;
  if (isBegun) await button.click();
  await button.waitFor({ state: 'detached' });
  if (isBegun) expect(await field().evaluate((node) => node.matches(':focus'))).toBe(true);
}

async function say(text: string): Promise<string> {
  const before = await answers().count();
  await field().fill(text);
  await field().press('Enter');
  await answers().nth(before).waitFor();
  await idle();
  return (await answers().last().textContent()) ?? '';
}

async function set(label: RegExp, value: string): Promise<void> {
  await page.getByLabel(label).fill(value);
  await page.getByLabel(label).blur();
}

interface Said extends Message {
  content: string;
}
async function expected(messages: readonly Said[], max_new_tokens: number): Promise<string> {
  const options = { max_new_tokens, do_sample: false, return_full_text: false } as const;
  const [made] = await node(messages as readonly Message[], options);
  return made?.generated_text ?? '';
}

describe('a model with a chat template', () => {
  it('answers as the pipeline does, and reads only what is new', async () => {
    await load(chatty);
    await page.getByText('Instructions and sampling').click();
    await set(/^Temperature/, '0');
    await set(/^Tokens of an answer/, '24');
    const said: Said[] = [{ role: 'user', content: 'Once upon a time' }];
    for (const more of ['', 'Then she saw a dog.']) {
      if (more !== '') said.push({ role: 'user', content: more });
      const content = await say(said.at(-1)?.content ?? '');
      expect(content.trim()).toBe((await expected(said, 24)).trim());
      said.push({ role: 'assistant', content });
    }
    const { groups } = /(?<used>\d+) of the 512 tokens.*values: (?<kept>\d+)/s.exec(await use()) ?? {};
    const read = node.tokenizer(chatText(said.slice(0, 3)), { add_special_tokens: false }).input_ids.size;
    expect(Number(groups?.used)).toBe(read + 24);
    // All tokens of the first exchange, but for those that its text is divided into otherwise.
    expect(Number(groups?.kept)).toBeGreaterThan(24);
    expect(Number(groups?.kept)).toBeLessThan(read);
  });

  it('reads the instructions first, and begins anew', async () => {
    await beginAnew();
    await page.getByLabel(/^Instructions for the model/).fill('A story of a cat.');
    const content = await say('Tom had');
    const messages = [
      { role: 'system', content: 'A story of a cat.' },
      { role: 'user', content: 'Tom had' },
    ];
    expect(content.trim()).toBe((await expected(messages, 24)).trim());
    await page.getByRole('button', { name: 'Go on' }).click();
    await idle();
    const longer = await answers().last().innerText();
    expect(longer.startsWith(content.trim())).toBe(true);
    expect(longer.length).toBeGreaterThan(content.length);
    await page.getByLabel(/^Instructions for the model/).fill('');
  });

  it('is stopped by Escape, and keeps what it wrote', async () => {
    await beginAnew();
    await set(/^Tokens of an answer/, '400');
    await field().fill('Lily liked');
    await field().press('Enter');
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    await answers().filter({ hasNotText: 'It is writing' }).first().waitFor();
    await field().press('Escape');
    await page.getByText('Stopped.').waitFor();
    const full = await expected([{ role: 'user', content: 'Lily liked' }], 400);
    const written = ((await answers().last().textContent()) ?? '').trim();
    expect(written).not.toBe('');
    expect(full.trim().startsWith(written)).toBe(true);
  });

  it('says that the context is full, and leaves out the oldest only when asked', async () => {
    await beginAnew();
    await set(/^Tokens of an answer/, '1000');
    await say('One day '.repeat(40));
    const end = page.getByText('The context is full: the answer ends here.');
    for (let turn = 0; turn < 4 && (await end.count()) === 0; turn++) await say('And then '.repeat(30));
    expect(await use()).toContain('512 of the 512 tokens');
    await field().fill('And?');
    await field().press('Enter');
    const alert = page.locator('own-chat [role=alert]');
    await alert.waitFor();
    expect(await alert.innerText()).toMatch(/has 5\d\d tokens now; the model has 512 positions/);
    expect(await page.locator('own-chat article.out').count()).toBe(0);
    await alert.getByRole('button', { name: 'Leave out the oldest exchange' }).click();
    await page.locator('own-chat article.out').first().waitFor();
    expect(await page.locator('own-chat article.out').allInnerTexts()).toEqual(
      expect.arrayContaining([expect.stringContaining('The model no longer reads this.')]),
    );
  });

  it('gives a message back that is too long by itself', async () => {
    await beginAnew();
    const long = 'One day a dog ran. '.repeat(150).trim();
    await field().fill(long);
    await field().press('Enter');
    await page.getByRole('button', { name: 'Shorten the message' }).click();
    expect(await field().inputValue()).toBe(long);
    expect(await page.locator('own-chat article').count()).toBe(0);
    await field().fill('');
  });

  it.each([390, 768, 1440])('is readable and operable at %i px', async (width) => {
    await page.setViewportSize({ width, height: 900 });
    await set(/^Tokens of an answer/, '12');
    await beginAnew();
    await say('Once upon a time there was a very-long-word-without-any-break-in-it-at-all-which-has-to-wrap-somewhere');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(() => {
        const inTime = document.getAnimations().filter(({ timeline }) => timeline === document.timeline); // not of scrolling
        return Promise.all(inTime.map(({ finished }) => finished));
      });
      await field().scrollIntoViewIfNeeded();
      expect(await brokenLooks(page)).toEqual([]);
      expect(await seriousFaults(page)).toEqual([]);
      if (process.env.CHAT_PICTURES)
        await page.screenshot({ path: `${process.env.CHAT_PICTURES}/${width}-${colorScheme}.png` });
    }
    expect(open.complaints).toEqual([]);
  });
});

it('a model without a template says so, and continues a text', async () => {
  await load({ ...plain, 'tokenizer_config.json': read('tokenizer_config.json') });
  await page.getByText('The folder has no chat template').waitFor();
  expect(await page.locator('own-chat').count()).toBe(0);
  await page.getByRole('button', { name: 'Run' }).click();
  await page.locator('figure-own output').filter({ hasText: 'Once upon a time' }).waitFor();
});

function chatText(messages: readonly Said[]): string {
  return `<s>${messages.map(({ content }) => `${content} `).join('')}`;
}
