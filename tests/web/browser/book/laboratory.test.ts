// The laboratory rejects what the model does not support, and states the format of its own numbers.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenPage, Site } from '../site.js';
import { numbersOf, shownText } from './reader.js';

let site: Site;
let open: OpenPage;
beforeAll(async () => {
  site = await Site.start();
  open = await site.open({}, 'laboratory');
});
afterAll(() => site.stop());

it('names a hook that the model does not have, and takes one that it has', async () => {
  await site.go(open.page, 'laboratory?hook=blocks.9.attn.hook_z');
  const text = await shownText(open.page);
  expect(text).toContain('invalid_argument');
  expect(text).toContain("no hook 'blocks.9.attn.hook_z'");
  expect(text).toContain('blocks.0.attn.hook_z');
  await site.go(open.page, 'laboratory?hook=blocks.1.hook_resid_post');
  expect((await numbersOf(open.page, 'blocks.1.hook_resid_post[0, :, :]')).dims[1]).toBe(64);
});

it('shows the first hook of a model that has not the usual one', async () => {
  await site.go(open.page, 'laboratory?m=marian-tiny-en-fr&t=The+cat+is+black.');
  expect(await open.page.locator('figure-laboratory input.wide').inputValue()).toMatch(/^encoder\./);
  expect(open.complaints).toEqual([]);
});

it.each(['position', 'head', 'layer'])('patches by %s what a decoder has written', async (by) => {
  await site.go(
    open.page,
    `laboratory?view=patching&by=${by}&m=marian-tiny-en-fr&t=The+cat+is+black.&t2=The+dog+is+black.`,
  );
  const source = `patchActivations(model, { clean, corrupted, metric, by: '${by}' }).patched`;
  expect((await numbersOf(open.page, source)).dims[0]).toBe(3);
});

it('goes into the other chapters with a model of two stacks, or says why not', async () => {
  for (const address of ['masks', 'saying']) {
    await site.go(open.page, `${address}?m=marian-tiny-en-fr`);
    expect(await open.page.getByRole('alert').count(), address).toBe(0);
  }
  await site.go(open.page, 'next?m=marian-tiny-en-fr');
  expect(await shownText(open.page)).toContain('follows one stack of blocks, and marian has two');
  await site.go(open.page, 'next?m=vit-mnist');
  expect(await shownText(open.page)).toContain('vit reads no text');
});

it('marks the English reason for its number of threads in the German page', async () => {
  await site.go(open.page, 'laboratory?view=export&lang=de');
  expect(await open.page.locator('figure-laboratory .verdict [lang=en]').innerText()).not.toBe('');
});
