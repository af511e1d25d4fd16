// Typing, addresses that no reader types, colours of the reader's system.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Site, settled } from '../site.js';
import { drawn, shownText } from './reader.js';

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

it('a text in the address may have question marks', async () => {
  const { page } = await site.visit('vectors?t=Is it you? Yes?');
  expect(await shownText(page)).toContain('“Is it you? Yes?”');
});

it('the caret stays where letters are typed', async () => {
  const { page } = await site.visit('set');
  const field = page.getByRole('textbox', { name: 'Letters: A, B and C' });
  await field.fill('ABCABC');
  await field.evaluate((node: HTMLInputElement) => node.setSelectionRange(2, 2));
  await field.press('b');
  await field.press('x');
  expect(await field.evaluate((node: HTMLInputElement) => [node.value, node.selectionStart])).toEqual(['ABBCABC', 3]);
});

it.each(['Enter', 'Escape'])('the focus goes back to the pencil after %s in the sentence', async (key) => {
  const { page } = await site.visit('vectors');
  const pencil = page.getByRole('button', { name: 'Change the sentence' });
  await pencil.click();
  await page.locator('book-sentence textarea').press(key);
  await settled(page);
  expect(await pencil.evaluate((node) => node === document.activeElement)).toBe(true);
});

it('the focus stays in the bar after the last undo and the last redo', async () => {
  const { page } = await site.open({}, 'masks');
  await page.getByRole('button', { name: 'Padding', exact: true }).click();
  await settled(page);
  for (const [pressed, left] of [
    ['Undo', 'Redo'],
    ['Redo', 'Undo'],
  ] as const) {
    await page.getByRole('button', { name: pressed, exact: true }).focus();
    await page.keyboard.press('Enter');
    await settled(page);
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(left);
  }
  await page.context().close();
});

it('undo goes back after the browser’s Back, and after a link', async () => {
  const { page } = await site.open({}, 'where?step=1&d=4');
  const part = (): string => new URLSearchParams(page.url().split('?')[1]).get('d') ?? '';
  const button = (name: string) => page.locator('.bar, .controls').getByRole('button', { name, exact: true });
  const press = async (name: string): Promise<string> => {
    await button(name).click();
    await settled(page);
    return part();
  };
  await press('8');
  await press('16');
  await page.goBack();
  await settled(page);
  expect(await press('Undo')).toBe('4');
  expect(await press('Redo')).toBe('8');
  expect(await press('Redo')).toBe('16');
  await press('8');
  await page.reload();
  await settled(page);
  await page.goBack();
  await settled(page);
  expect(await button('Undo').count()).toBe(0);
  expect(await press('Redo')).toBe('8');
  await site.go(page, 'where?step=1&d=2');
  expect(part()).toBe('2');
  expect(await press('Undo')).toBe('8');
  await page.context().close();
});

it('undo is pressed on a select or a slider, too, and the select shows it', async () => {
  const { page } = await site.visit('head');
  const [layer, at] = [page.locator('figure-head select').first(), () => page.url().split('#')[1]];
  for (const value of ['0', '1', '0']) {
    await layer.selectOption({ value });
    await settled(page);
  }
  for (const [address, value] of [
    ['/head?l=1', '1'],
    ['/head?l=0', '0'],
    ['/head', '2'],
  ]) {
    await layer.press('Control+z');
    await settled(page);
    expect([at(), await layer.inputValue()]).toEqual([address, value]);
  }
  await site.go(page, 'head?view=root&d=16');
  await page.locator('figure-head input[type=range]').press('Control+z');
  await settled(page);
  expect(at()).toBe('/head');
});

it('the focus of a button that is disabled at the end of its range goes to its neighbour', async () => {
  const { page } = await site.visit('translate?s=1');
  const at = (name: string) => page.locator('figure-translate').getByRole('button', { name, exact: true });
  const [back, on] = [at('one token back'), at('one token on')];
  await back.focus();
  await page.keyboard.press('Enter');
  await settled(page);
  expect(await back.isDisabled()).toBe(true);
  expect(await on.evaluate((node) => node === (node.getRootNode() as ShadowRoot).activeElement)).toBe(true);
});

/** The name of what has the focus; empty for nothing. */
const focusedName = (page: Page): Promise<string> =>
  page.evaluate(() => {
    let focused = document.activeElement;
    while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
    if (!focused || focused === document.body) return '';
    return focused.getAttribute('aria-label') ?? focused.textContent?.replace(/\s+/g, ' ').trim() ?? '';
  });

/** Presses a button of the figure by the keyboard. */
async function pressInFigure(page: Page, name: string): Promise<void> {
  await page.locator('main .figure').getByRole('button', { name }).first().focus();
  await page.keyboard.press('Enter');
  await settled(page);
}

describe('the focus of a button that goes away', () => {
  const [hooks, pattern] = ['edit=blocks.0.attn.hook_z:zero', 'edit=blocks.2.attn.hook_pattern:zero'];
  it.each([
    ['heads?step=4', 'training', 'training'],
    ['heads?step=4', 'All on again', /^A, weights/],
    ['block?step=7', 'All back in', /^p, without it/],
    ['seeing?step=7', 'Show all', /^place 1:/],
    [`head?step=7&${pattern}`, 'As it was', 'V, the values'],
    ['next?w=385', 'Take it back', 'Write on'],
    [`laboratory?step=1&${hooks}`, 'Remove', 'Add'],
    [`laboratory?step=1&${hooks},blocks.1.hook_mlp_out:zero`, 'Remove: blocks.1', /^Remove: blocks.0/],
    ['translate?step=5', 'Let it choose freely', 'Translate'],
    ['saying?step=4&w=385', 'Take back what follows', 'scores and odds'],
  ])('%s: %s', async (address, pressed, left) => {
    const { page } = await site.visit(address);
    await pressInFigure(page, pressed);
    expect(await focusedName(page)).toMatch(left);
  });

  it('stays in the step whose choices are as in the book again', async () => {
    const { page } = await site.visit('heads?step=4&view=train');
    await page.locator('.step-tools button').press('Enter');
    await settled(page);
    expect(await page.evaluate(() => document.activeElement?.className)).toBe('step on');
  });

  it('goes to the chapter that a link opens, or to the button of the popup that it closes', async () => {
    const { page } = await site.visit('head');
    await page.locator('.way a').last().press('Enter');
    await settled(page);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
    await page.locator('nav.where button').press('Enter');
    await page.locator('nav.where .pop a').nth(4).press('Enter');
    await settled(page);
    expect(await focusedName(page)).toMatch(/^4One head/);
  });
});

it('the reader’s own matrices take the focus and give it back to their button', async () => {
  const { page } = await site.visit('head');
  const own = page.locator('figure-head').getByRole('button', { name: 'Your own Q, K, V' });
  const open = (): Promise<string | null> => own.getAttribute('aria-expanded');
  for (const leave of [() => page.keyboard.press('Escape'), () => pressInFigure(page, 'Close')]) {
    expect(await open()).toBe('false');
    await pressInFigure(page, 'Your own Q, K, V');
    expect(await open()).toBe('true');
    expect(await focusedName(page)).toMatch(/^Q:/);
    await leave();
    await settled(page);
    expect(await open()).toBe('false');
    expect(await focusedName(page)).toBe('Your own Q, K, V');
  }
  await pressInFigure(page, 'Your own Q, K, V');
  await pressInFigure(page, 'Use them');
  expect(await focusedName(page)).toBe('Back to the model');
});

describe('Enter and Escape that belong to an input method', () => {
  it.each([
    ['vectors', 'book-sentence button.icon', 'book-sentence textarea'],
    ['next', 'figure-next .given', 'figure-next textarea'],
    ['kinds', undefined, 'figure-kinds textarea'],
    ['translate', undefined, 'figure-translate textarea'],
  ])('%s', async (address, opener, field) => {
    const { page } = await site.visit(address);
    if (opener) await page.locator(opener).click();
    await page.locator(field).fill('Hello');
    const at = page.url();
    const left = await page.locator(field).evaluate((node) =>
      ['Enter', 'Escape'].flatMap((key) =>
        // WebKit sends the key that ends a composition after it.
        [{ isComposing: true }, { keyCode: 229 }].filter((how) => {
          const init = { key, bubbles: true, composed: true, cancelable: true, ...how };
          return !node.dispatchEvent(new KeyboardEvent('keydown', init));
        }),
      ),
    );
    await settled(page);
    expect(left).toEqual([]);
    expect(page.url()).toBe(at);
    expect(await page.locator(field).inputValue()).toBe('Hello');
    await page.locator(field).press('Enter');
    await settled(page);
    expect(page.url()).toContain('t=Hello');
  });
});

it('Enter of an input method leaves the field of a matrix’s cell open', async () => {
  const { page } = await site.visit('laboratory?hook=blocks.0.hook_resid_post');
  await page.locator('figure-laboratory cf-matrix [role=grid]').press('ArrowDown');
  await page.keyboard.type('0.5');
  await page.locator('figure-laboratory cf-matrix input').evaluate((field) => {
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true }));
  });
  await settled(page);
  expect(page.url()).not.toContain('edit=');
  await page.keyboard.press('Enter');
  await settled(page);
  expect(page.url()).toContain('edit=');
});

it('keys do nothing while the page’s element is out of the document', async () => {
  const { page } = await site.open({}, 'next');
  const app = await page.evaluateHandle(() => document.querySelector('book-app') as HTMLElement);
  const inClass = (): boolean => page.url().includes('class=1');
  await app.evaluate((node) => node.remove());
  await page.keyboard.press('c');
  expect(inClass()).toBe(false);
  await app.evaluate((node) => document.body.append(node));
  await page.keyboard.press('c');
  await expect.poll(inClass).toBe(true);
  await page.context().close();
});

it('Enter on a button beside the sentence presses that button', async () => {
  const { page } = await site.visit('vectors');
  await page.getByRole('button', { name: 'Change the sentence' }).click();
  await page.locator('book-sentence textarea').fill('Hello');
  await page.locator('book-sentence').getByRole('button', { name: 'Cancel' }).press('Enter');
  await settled(page);
  expect(page.url()).not.toContain('Hello');
});

it('a mistyped hook leaves the bench as it is', async () => {
  const { page } = await site.visit('laboratory?hook=blocks.1.hook_resid_post');
  const field = page.locator('figure-laboratory input.wide');
  await field.fill('blocks.9.nothing');
  await field.press('Enter');
  await settled(page);
  expect(await field.evaluate((node: HTMLInputElement) => node.validationMessage)).toContain(
    'no hook “blocks.9.nothing”',
  );
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(page.url()).not.toContain('blocks.9');
  await field.fill('blocks.0.attn.hook_q');
  await field.press('Enter');
  await settled(page);
  expect(page.url()).toContain('hook=blocks.0.attn.hook_q');
});

describe('names of Object.prototype', () => {
  it.each([
    ...['v', 'b'].map((key) => `translate?${key}=constructor`),
    ...['v', 'pos', 'who'].map((key) => `seeing?${key}=toString`),
    ...['view', 's', 'at', 'd', 'gen'].map((key) => `head?${key}=constructor`),
    ...['mask', 'view', 'where', 'rows'].map((key) => `masks?${key}=constructor`),
    'kinds?v=constructor',
  ])('%s', async (address) => {
    const { page, complaints } = await site.visit(address);
    expect(await page.getByRole('alert').count()).toBe(0);
    expect((await drawn(page)).length).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
  });
});

describe('an address that is wrong in the middle of a visit', () => {
  it.each([
    ['head', 'edit=zzz'],
    ['heads', 'edit=zzz'],
    ['heads', 'who=zzz'],
    ['block', 'who=zzz'],
  ])('%s?%s is told, with a way out', async (chapter, wrong) => {
    const { page, complaints } = await site.visit(chapter);
    await site.go(page, `${chapter}?${wrong}`);
    expect(await page.getByRole('alert').innerText()).toContain('zzz');
    await page.getByRole('link', { name: 'As in the book' }).click();
    await settled(page);
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});

it('matrices of an address that are none are told, with a way out', async () => {
  const { page } = await site.open({}, 'head?qkv=zz');
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
  await page.getByRole('link', { name: 'As in the book' }).click();
  await settled(page);
  expect(await page.getByRole('alert').count()).toBe(0);
  await page.context().close();
});

it('without WebAssembly the first screen says what it is, and what to do', async () => {
  const { page } = await site.open({}, 'own');
  await page.addInitScript('delete globalThis.WebAssembly');
  await page.goto(`${site.url}#/next`);
  await page.reload();
  const told = page.getByRole('alert');
  await told.waitFor();
  expect(await told.innerText()).toContain('use a newer browser');
  expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('What comes next?');
  expect(await page.locator('.toc li').count()).toBe(15);
  await page.context().close();
});

it('choices, switches and pictures are seen in the colours of the system', async () => {
  const { page } = await site.open({ forcedColors: 'active', colorScheme: 'dark' }, 'where');
  const highlight = await page.evaluate(() => {
    document.body.style.backgroundColor = 'Highlight';
    return getComputedStyle(document.body).backgroundColor;
  });
  const pressed = page.getByRole('button', { pressed: true, name: 'clocks' });
  expect(await pressed.evaluate((node) => getComputedStyle(node).backgroundColor)).toBe(highlight);
  const other = page.getByRole('button', { pressed: false, name: 'tables' });
  expect(await other.evaluate((node) => getComputedStyle(node).backgroundColor)).not.toBe(highlight);
  const knob = (index: number) =>
    page
      .locator('figure-where .switch input')
      .nth(index)
      .evaluate((node) => getComputedStyle(node).backgroundColor);
  expect(await knob(0)).not.toBe(highlight);
  await page
    .getByRole('checkbox', { name: 'only sines' })
    .or(page.getByRole('switch', { name: 'only sines' }))
    .click();
  await settled(page);
  expect(await knob(0)).toBe(highlight);
  // What the reader chose without them takes effect again afterwards.
  await page.emulateMedia({ forcedColors: 'none' });
  await page.getByRole('button', { name: 'Light colours' }).click();
  const chosen = () => page.evaluate(() => document.documentElement.dataset.theme);
  expect(await chosen()).toBe('light');
  await page.emulateMedia({ contrast: 'more', forcedColors: 'active' });
  const muted = () => other.evaluate((node) => getComputedStyle(node).getPropertyValue('--cf-muted'));
  await expect.poll(muted).toContain('#c8ced8'); // lighter
  await expect.poll(chosen).toBe(undefined);
  expect(await page.getByRole('button', { name: 'Light colours' }).count()).toBe(0);
  await site.go(page, 'seeing');
  const colours = await page.evaluate(() => {
    const picture = document.querySelector('figure-seeing')?.shadowRoot?.querySelector('patch-picture')?.shadowRoot;
    const canvas = picture?.querySelector('canvas') as HTMLCanvasElement;
    const context = canvas.getContext('2d') as CanvasRenderingContext2D;
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
  expect(colours).toBeGreaterThan(2);
  await site.go(page, 'laboratory?view=lens');
  const shown = await page.evaluate(async () => {
    const tokens = document.createElement('cf-tokens') as HTMLElement & { updateComplete: Promise<unknown> };
    const given = [1, 2].map((id) => ({ id, label: 'a', text: 'a', special: false }));
    Object.assign(tokens, { tokens: given, values: [0.2, 0.9], source: 'weights' });
    document.body.append(tokens);
    await tokens.updateComplete;
    const lens = document.querySelector('figure-laboratory')?.shadowRoot?.querySelector('cf-lens');
    const cells = (element: Element | null | undefined, role: string): Element[] => [
      ...(element?.shadowRoot?.querySelectorAll(`[role=${role}]`) ?? []),
    ];
    const groups = [cells(lens, 'gridcell'), cells(tokens, 'option')];
    return groups.map((group) => new Set(group.map((cell) => getComputedStyle(cell).backgroundColor)).size);
  });
  expect(shown[0]).toBeGreaterThan(2);
  expect(shown[1]).toBe(2);
});
