// inspect in Chromium gives the same results as in Node, for valid and invalid folders.

import { readFileSync } from 'node:fs';
import { inspect } from 'clearformer';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from './chromium.js';
import { runInPage, withPage } from './project_page.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

const files = ['config.json', 'generation_config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'];
const whole = ['stories260K', 'marian-tiny-en-fr', 'vit-mnist'].map((model) => ({ model, left_out: '' }));

it.each([...whole, { model: 'stories260K', left_out: 'model.safetensors' }])('%o', async (given) => {
  const folder = new URL(`../../../web/demo/public/models/${given.model}/`, import.meta.url);
  const names = files.filter((name) => name !== given.left_out);
  const there = names.flatMap((name) => {
    try {
      return [[name, new Uint8Array(readFileSync(new URL(name, folder)))] as const];
    } catch {
      return [];
    }
  });
  const wanted = await inspect(Object.fromEntries(there));
  const program = async ({ model, names }: { model: string; names: string[] }): Promise<string> => {
    const { inspect: inPage } = await import('/dist/index.js' as string);
    const load = async (name: string): Promise<[string, Uint8Array]> => {
      const answer = await fetch(`/web/demo/public/models/${model}/${name}`);
      return [name, new Uint8Array(await answer.arrayBuffer())];
    };
    return JSON.stringify(await inPage(Object.fromEntries(await Promise.all(names.map(load)))));
  };
  const found = await withPage(browser, {}, (page) =>
    runInPage(page, program, { model: given.model, names: there.map(([name]) => name) }),
  );
  expect(JSON.parse(found)).toEqual(wanted);
});
