// Chapter 11: drawing, samples and files, masking and moving patches, switching heads off, with all state in the
// address.

import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { laidOut, Site, settled } from '../site.js';
import { numbersOf, shownText } from './reader.js';

let site: Site;
beforeAll(async () => {
  site = await Site.start();
});
afterAll(() => site.stop());

const scores = async (page: Page): Promise<number[]> => (await numbersOf(page, 'softmax(logits)')).data;
const said = async (page: Page): Promise<number> => {
  const all = await scores(page);
  return all.indexOf(Math.max(...all));
};

/** Waits until the address contains a picture other than `before`, and its numbers are drawn. */
async function pictureAfter(page: Page, before: string): Promise<string> {
  await page.waitForFunction(
    (known) => (new URLSearchParams(location.hash.split('?')[1]).get('d') ?? '') !== known,
    before,
  );
  await settled(page);
  return (await page.evaluate(() => new URLSearchParams(location.hash.split('?')[1]).get('d'))) ?? '';
}

async function drawOne(page: Page): Promise<void> {
  const box = await page.locator('digit-pad canvas[role=application]').boundingBox();
  if (!box) throw new Error('no pad');
  await page.mouse.move(box.x + box.width / 2, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height - 40, { steps: 8 });
  await page.mouse.up();
}

describe('chapter 11', () => {
  it('keeps its picture when a file is none, and names the file', async () => {
    const { page } = await site.visit('seeing');
    const buffer = Buffer.from('no picture');
    await page.locator('input[type=file]').setInputFiles({ name: 'photo.heic', mimeType: 'image/heic', buffer });
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('“photo.heic” is no picture');
    expect(await said(page)).toBe(5);
    await page.getByRole('button', { name: 'Sample 3' }).click();
    await settled(page);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('shows no sentence, which nothing in it reads, and begins right below the bar on a phone', async () => {
    const { page } = await site.visit('seeing?step=1');
    await page.setViewportSize({ width: 390, height: 844 });
    await laidOut(page);
    expect(await page.locator('book-sentence').count()).toBe(0);
    const edgeOf = async (part: string): Promise<number> => {
      const box = await page.locator(part).boundingBox();
      return (box?.y ?? Number.NaN) + (part === 'header.bar' ? (box?.height ?? 0) : 0);
    };
    expect(await edgeOf('main .figure')).toBeCloseTo(await edgeOf('header.bar'), 0);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it('reads what is drawn, and a link gives the same numbers in a fresh browser', async () => {
    const { page, complaints } = await site.visit('seeing');
    expect(await said(page)).toBe(5);
    await drawOne(page);
    const picture = await pictureAfter(page, '');
    expect(await said(page)).toBe(1);
    const fresh = await site.open({}, `seeing?d=${picture}`);
    expect(await scores(fresh.page)).toEqual(await scores(page));
    await page.reload();
    await settled(page);
    expect(await said(page)).toBe(1);
    await page.goBack();
    await settled(page);
    expect(await said(page)).toBe(5);
    expect([...complaints, ...fresh.complaints]).toEqual([]);
    await fresh.page.context().close();
  });

  it('is drawn on with the keyboard', async () => {
    const { page } = await site.visit('seeing');
    await page.locator('digit-pad canvas[role=application]').focus();
    for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowUp');
    for (let i = 0; i < 12; i++) await page.keyboard.press('Shift+ArrowDown');
    await pictureAfter(page, '');
    expect(await said(page)).toBe(1);
  });

  it('takes a sample, and a photograph of dark ink on light paper', async () => {
    const { page } = await site.visit('seeing');
    await page.getByRole('button', { name: 'Sample 3' }).click();
    expect(await pictureAfter(page, '')).toBe('s3');
    expect(await said(page)).toBe(3);
    const strip = readFileSync('./web/demo/public/models/vit-mnist/samples.png');
    const photo = await sharp(strip)
      .extract({ left: 7 * 28, top: 0, width: 28, height: 28 })
      .resize(300, 300)
      .negate({ alpha: false })
      .extend({ left: 60, right: 60, background: '#000' })
      .jpeg()
      .toBuffer();
    await page.locator('input[type=file]').setInputFiles({ name: 'seven.jpg', mimeType: 'image/jpeg', buffer: photo });
    await pictureAfter(page, 's3');
    expect(await said(page)).toBe(7);
  });

  it('keeps the picture given last, and the address of another chapter', async () => {
    const { page } = await site.visit('seeing');
    const given = () => new URLSearchParams(page.url().split('?')[1]).get('d');
    const give = (all: readonly ('large' | 'small')[], then = '') =>
      page.evaluate(
        async ([all, then]) => {
          const figure = document.querySelector('figure-seeing') as unknown as { readFile(file: Blob): Promise<void> };
          const pictures = all.map((size) => {
            const side = size === 'large' ? 3000 : 60;
            const canvas = new OffscreenCanvas(side, side);
            const ink = canvas.getContext('2d');
            if (!ink) throw new Error('no canvas');
            ink.fillRect(0, 0, side, side);
            ink.fillStyle = '#fff';
            ink.fillRect(side / 3, side / 5, size === 'large' ? side / 2 : side / 9, side / 2);
            return canvas.convertToBlob();
          });
          const files = await Promise.all(pictures);
          const reading = files.map((file) => figure.readFile(file));
          if (then !== '') location.hash = then;
          await Promise.all(reading);
        },
        [all, then] as const,
      );
    await give(['small']);
    const last = given();
    expect(last).not.toBeNull();
    await give(['large', 'small']);
    expect(given()).toBe(last);
    await give(['large'], '#/head');
    await settled(page);
    expect(given()).toBeNull();
  });

  it('says what is wrong with an address, and with a file that is no picture', async () => {
    const { page } = await site.visit('seeing?d=nonsense');
    expect(await shownText(page)).toContain("the picture of the address can't be read");
    await site.go(page, 'seeing?step=8&order=abc');
    expect(await shownText(page)).toContain("the order of patches of the address can't be read");
    await site.go(page, 'seeing?d=s1');
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'x.png', mimeType: 'image/png', buffer: Buffer.from('no') });
    await page.getByText('no picture that this browser can read').waitFor();
  });

  it('hides, exchanges and silences by clicks, and Back takes each back', async () => {
    const { page, complaints } = await site.visit('seeing?step=7');
    expect(await said(page)).toBe(6);
    await page.getByRole('button', { name: 'place 12:' }).click();
    await settled(page);
    await page.getByRole('button', { name: 'place 13:' }).click();
    await settled(page);
    expect(await said(page)).toBe(5);
    await page.goBack();
    await settled(page);
    expect(new URL(page.url()).hash).toContain('hide=12');
    // The second of two quick choices is made before the first is computed.
    const twice = (type: string, details: object[]): Promise<void> =>
      page.locator('patch-picture').evaluate(
        (picture, [name, given]) => {
          for (const detail of given) picture.dispatchEvent(new CustomEvent(name, { detail }));
        },
        [type, details] as const,
      );
    await twice('patch-select', [{ place: 20 }, { place: 21 }]);
    await settled(page);
    expect(new URL(page.url()).hash).toMatch(/hide=[\d.]*20\.21\b/);
    await site.go(page, 'seeing?step=8&order=none');
    await twice('patch-move', [
      { from: 0, to: 1 },
      { from: 2, to: 3 },
    ]);
    await settled(page);
    expect(new URL(page.url()).hash).toContain('order=BADC');
    await site.go(page, 'seeing?step=8&order=none');
    const before = (await numbersOf(page, 'pixel_values[0, 0]')).data;
    await page.getByRole('button', { name: 'place 12:' }).click();
    await page.getByRole('button', { name: 'place 1:' }).click();
    await settled(page);
    const after = (await numbersOf(page, 'pixel_values[0, 0]')).data;
    expect(after[0]).toBe(before[4 * 28 + 16]);
    expect(after[4 * 28 + 16]).toBe(before[0]);
    await site.go(page, 'seeing?step=5&l=1&h=5');
    const whole = await scores(page);
    await page.getByRole('checkbox', { name: 'silence this head' }).click();
    await settled(page);
    expect(await scores(page)).not.toEqual(whole);
    expect(decodeURIComponent(new URL(page.url()).hash)).toContain('blocks.1.attn.hook_z@h5:zero');
    expect(complaints).toEqual([]);
  });

  it('checks its questions by computing', async () => {
    const { page } = await site.visit('seeing?step=4&p=24');
    const row = (await numbersOf(page, 'matmul(p, pᵀ)[24]')).data;
    await site.go(page, 'seeing?step=7&hide=11.12');
    const question = (id: string) => page.locator(`[data-question=${id}]`);
    const ask = async (id: string, answer: string): Promise<string> => {
      await question(id).getByRole('textbox').fill(answer);
      await question(id).getByRole('button').click();
      await question(id).locator('.verdict').waitFor();
      await page.waitForTimeout(300);
      return (await question(id).locator('.verdict').getAttribute('class')) ?? '';
    };
    row[24] = -2;
    const nearest = row.indexOf(Math.max(...row)) + 1;
    await question('nearest').scrollIntoViewIfNeeded();
    expect(await ask('nearest', String(nearest))).toContain('right');
    expect(await ask('nearest', '1')).toContain('wrong');
    const blind = async (): Promise<string> => {
      await question('blind').getByRole('button').last().click();
      await page.waitForTimeout(500);
      return (await question('blind').locator('.verdict').getAttribute('class')) ?? '';
    };
    expect(await blind()).toContain('right');
    await site.go(page, 'seeing?step=7&hide=none');
    expect(await blind()).toContain('wrong');
  });

  it.each([360, 1280])('draws vectors whole at %i px', async (width) => {
    const { page } = await site.open({ viewport: { width, height: 900 } }, 'seeing?step=3');
    const cells = await page.locator('.three cf-matrix').evaluateAll((all) =>
      all.map((one) => ({
        room: one.clientWidth - 16,
        width: Number(Reflect.get(one, 'cellWidth')) * 96,
      })),
    );
    expect(cells).toHaveLength(3);
    for (const cell of cells) {
      expect(cell.width).toBeGreaterThan(0.8 * cell.room);
      expect(cell.width).toBeLessThanOrEqual(cell.room);
    }
    await page.context().close();
  });

  it('patches and kernels are not too close to each other for fingers', async () => {
    const phone = { hasTouch: true, isMobile: true, viewport: { width: 360, height: 740 } };
    const { page } = await site.open(phone, 'seeing?step=2');
    for (const parts of ['patch-picture', 'tile-grid']) {
      const lefts = await page
        .locator(`figure-seeing ${parts} button`)
        .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
      expect((lefts[1] ?? 0) - (lefts[0] ?? 0), parts).toBeGreaterThanOrEqual(24);
    }
    await page.context().close();
  });
});
