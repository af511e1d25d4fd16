// The elements that draw numbers, in Chromium: by mouse, keyboard, touch and screen reader, light and dark.

import { contrast, cssColour, type Rgb, signed, weight } from 'clearformer/elements';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from './chromium.js';
import { cellCentre, drawnCells, events, makeMatrix, swipeUp, withElements } from './elements_page.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

describe('a matrix', () => {
  it('writes every number with an ink that reads, light and dark', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const scale of ['signed', 'weights']) {
        await withElements(
          browser,
          async (page) => {
            await page.evaluate(() => {
              document.documentElement.style.colorScheme = 'light dark';
            });
            await makeMatrix(page, {
              scale,
              bound: scale === 'weights' ? 4 : 0,
              rowLabels: ['ar'],
              columnLabels: ['a', 'p'],
            });
            const cells = await page.evaluate(drawnCells);
            expect(cells).toHaveLength(100);
            expect(cells[1]?.name).toBe('row ar, column p: 3.97');
            if (scale === 'signed') expect(cells.slice(0, 3).map(({ text }) => text)).toEqual(['0.0', '4.0', '−1.0']);
            const bytes = (colour: string): Rgb => (colour.match(/\d+/g) ?? []).map(Number) as unknown as Rgb;
            const least = Math.min(...cells.map(({ fill, ink }) => contrast(bytes(fill), bytes(ink))));
            expect(least).toBeGreaterThanOrEqual(4.5);
            const zero = colorScheme === 'dark' ? 'rgb(18, 21, 26)' : 'rgb(251, 250, 247)';
            expect(cells[0]?.fill).toBe(zero);
          },
          { colorScheme },
        );
      }
    }
  });

  it('tells what the pointer is over, and leaves the cells alone', async () => {
    await withElements(browser, async (page) => {
      await makeMatrix(page);
      await page.evaluate(() => {
        const cells = document.getElementById('m')?.shadowRoot?.querySelector('.cells') as Element;
        const seen: unknown[] = [];
        Object.assign(window, { seen });
        const all = { subtree: true, childList: true, attributes: true, characterData: true };
        new MutationObserver((records) => seen.push(...records)).observe(cells, all);
      });
      for (const [row, column] of [
        [1, 2],
        [1, 3],
        [7, 3],
      ] as const) {
        await page.mouse.move(...(await cellCentre(page, row, column)));
        expect(await events(page)).toEqual([['cell-point', { row, column }]]);
      }
      await page.mouse.move(1000, 700);
      expect(await events(page)).toEqual([['cell-point', null]]);
      expect(await page.evaluate('window.seen.length')).toBe(0);
      await page.mouse.move(...(await cellCentre(page, 1, 2)));
      await page.evaluate(() => Object.assign(document.getElementById('m') as HTMLElement, { numbers: null }));
      expect((await events(page)).map(([, cell]) => cell)).toEqual([{ row: 1, column: 2 }, null]);
    });
  });

  it('changes only the cells whose numbers changed', async () => {
    await withElements(browser, async (page) => {
      await makeMatrix(page, { bound: 4 });
      const touched = await page.evaluate(async () => {
        const matrix = document.getElementById('m') as HTMLElementTagNameMap['cf-matrix'];
        const cells = matrix.shadowRoot?.querySelector('.cells') as Element;
        const seen: MutationRecord[] = [];
        const all = { subtree: true, childList: true, attributes: true, characterData: true };
        new MutationObserver((records) => seen.push(...records)).observe(cells, all);
        const data = Float32Array.from(matrix.numbers?.data ?? []);
        data[37] = 3.5;
        matrix.numbers = { dims: [10, 10], data };
        await matrix.updateComplete;
        await new Promise((resolve) => setTimeout(resolve));
        return [...new Set(seen.map(({ target }) => (target as Element).closest('[id]')?.id))];
      });
      expect(touched).toEqual(['cell-3-7']);
    });
  });

  it('is chosen and edited by mouse', async () => {
    await withElements(browser, async (page) => {
      await makeMatrix(page, { editable: true });
      const at = await cellCentre(page, 2, 3);
      await page.mouse.click(...at);
      expect(await events(page)).toContainEqual(['cell-select', { row: 2, column: 3 }]);
      expect(await page.locator('#m [aria-selected=true]').getAttribute('id')).toBe('cell-2-3');
      await page.mouse.click(...at);
      const field = page.locator('#m .editor input');
      expect(await field.getAttribute('inputmode')).toBe('decimal');
      expect(await field.getAttribute('aria-label')).toBe('value: row 3, column 4');
      await field.fill('1,2,3');
      await page.keyboard.press('Enter');
      expect(await page.locator('#m [role=alert]').innerText()).toBe('Not a number. Write it like −1.5.');
      await field.fill('−2,5');
      await page.keyboard.press('Enter');
      expect(await events(page)).toContainEqual(['cell-edit', { row: 2, column: 3, value: -2.5 }]);
      expect(await field.count()).toBe(0);
      // The matrix does not change the value itself.
      expect((await page.evaluate(drawnCells))[23]?.text).not.toBe('−2.5');
      await page.mouse.click(...at);
      await page.keyboard.press('Escape');
      expect((await events(page)).filter(([type]) => type === 'cell-edit')).toEqual([]);
    });
  });

  it('opens no field where nothing is to be edited', async () => {
    await withElements(browser, async (page) => {
      await makeMatrix(page, {});
      const at = await cellCentre(page, 0, 0);
      await page.mouse.click(...at);
      await page.mouse.click(...at);
      await page.keyboard.press('5');
      await page.keyboard.press('Enter');
      expect(await page.locator('#m input').count()).toBe(0);
    });
  });

  it('is one tab stop with arrows inside', async () => {
    await withElements(browser, async (page) => {
      await makeMatrix(page, { editable: true });
      await page.evaluate(() => window.bench.make('button', { id: 'after', textContent: 'after' }));
      await page.keyboard.press('Tab');
      await events(page);
      for (const [key, row, column] of [
        ['ArrowRight', 0, 1],
        ['ArrowDown', 1, 1],
        ['End', 1, 9],
        ['PageDown', 9, 9],
        ['Control+Home', 0, 0],
        ['Control+End', 9, 9],
        ['ArrowLeft', 9, 8],
        ['Home', 9, 0],
      ] as const) {
        await page.keyboard.press(key);
        expect(await events(page), key).toEqual([['cell-point', { row, column }]]);
      }
      await page.keyboard.press('ArrowUp');
      await page.keyboard.type('-7');
      await page.keyboard.press('Enter');
      expect(await events(page)).toContainEqual(['cell-edit', { row: 8, column: 0, value: -7 }]);
      await page.keyboard.press('ArrowUp'); // the matrix has the focus again
      expect(await events(page)).toContainEqual(['cell-point', { row: 7, column: 0 }]);
      await page.keyboard.press('Tab');
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('after');
    });
  });

  it('keeps rows and columns when it is transposed', async () => {
    await withElements(browser, async (page) => {
      await page.evaluate(async () => {
        const numbers = { dims: [2, 3], data: [1, 2, 3, 4, 5, 6] };
        const labels = { rowLabels: ['a', 'b'], columnLabels: ['x', 'y', 'z'], label: 'K' };
        const masked = (row: number, column: number): boolean => row === 1 && column === 0;
        await window.bench.make('cf-matrix', { id: 'm', numbers, source: 'x', transposed: true, masked, ...labels });
      });
      const cells = await page.evaluate(drawnCells);
      expect(cells.map(({ name }) => name)).toEqual([
        'row a, column x: 1',
        'row b, column x: masked',
        'row a, column y: 2',
        'row b, column y: 5',
        'row a, column z: 3',
        'row b, column z: 6',
      ]);
      expect(cells[1]?.fill).toBe('url(#hatch)');
      await page.mouse.click(...(await cellCentre(page, 0, 2)));
      expect(await events(page)).toContainEqual(['cell-select', { row: 0, column: 2 }]);
      expect(await page.locator('#m svg').innerHTML()).toContain('⊤');
      await makeMatrix(page, { id: 'named', label: 'K⊤', cellWidth: 400 });
      const caption = page.locator('#named').locator('.name, .power');
      expect(await caption.allTextContents()).toEqual(['K', '⊤']);
      const frame = page.locator('#named .frame'); // wider than the window, it fades at its edge
      expect(await frame.evaluate((node) => getComputedStyle(node).maskImage)).toContain('linear-gradient');
    });
  });

  it('paints thousands of cells, which are chosen as well', async () => {
    await withElements(browser, async (page) => {
      await page.evaluate(async () => {
        const data = Float32Array.from({ length: 512 * 64 }, (_, i) => (i === 40 * 64 + 50 ? -3 : Math.sin(i) / 100));
        await window.bench.make('cf-matrix', {
          id: 'm',
          numbers: { dims: [512, 64], data },
          source: 'x',
          cellWidth: 10,
          cellHeight: 8,
        });
      });
      const at = await cellCentre(page, 40, 50);
      await page.mouse.click(...at);
      expect(await events(page)).toContainEqual(['cell-select', { row: 40, column: 50 }]);
      const cells = await page.evaluate(drawnCells);
      expect(cells.map(({ name }) => name)).toEqual(['row 41, column 51: −3']);
      const colour = await page.evaluate(([x, y]) => {
        const canvas = document.getElementById('m')?.shadowRoot?.querySelector('canvas') as HTMLCanvasElement;
        const box = canvas.getBoundingClientRect();
        const scale = canvas.width / box.width;
        const place = [(x - box.x) * scale, (y - box.y) * scale] as const;
        return [...(canvas.getContext('2d')?.getImageData(...place, 1, 1).data ?? [])].slice(0, 3);
      }, at);
      expect(colour).toEqual([...signed(-3, 3, 'light')]);
      await page.keyboard.press('Control+End');
      expect(await events(page)).toContainEqual(['cell-point', { row: 511, column: 63 }]);
    });
  });

  it.each([
    [{ numbers: { dims: [2, 2], data: [1, 2, 3, 4] } }, 'source is missing'],
    [{ numbers: { dims: [2, 2], data: [1, 2, 3] }, source: 'x' }, 'dims [2, 2] need 4 numbers, data has 3'],
    [{ numbers: { dims: [1, 2, 2], data: [1, 2, 3, 4] }, source: 'x' }, 'one or two dimensions'],
    [{ numbers: [[1, 2]], source: 'x' }, 'needs { dims, data }'],
    [{ numbers: { dims: [1, 1], data: [1] }, source: null }, 'source is missing'],
    [{ numbers: { dims: [1, 2], data: new BigInt64Array(2) }, source: 'x' }, 'int64 cannot be drawn'],
  ])('says what is wrong with %o', async (given, fault) => {
    await withElements(browser, async (page) => {
      await page.evaluate((properties) => window.bench.make('cf-matrix', { id: 'm', ...properties }), given);
      expect(await page.locator('#m [role=alert]').innerText()).toContain(fault);
      expect(await page.locator('#m svg').count()).toBe(0);
    });
  });

  it('fades changed frames in, but not for readers who want no motion', async () => {
    for (const [reducedMotion, count] of [
      ['no-preference', 1],
      ['reduce', 0],
    ] as const) {
      await withElements(
        browser,
        async (page) => {
          await makeMatrix(page);
          const running = await page.evaluate(async () => {
            const matrix = document.getElementById('m') as HTMLElementTagNameMap['cf-matrix'];
            matrix.changed = (row, column) => row === 4 && column === 4;
            await matrix.updateComplete;
            const frames = [...(matrix.shadowRoot?.querySelectorAll('.changed') ?? [])];
            return [frames.length, frames.flatMap((frame) => frame.getAnimations()).length];
          });
          expect(running).toEqual([1, count]);
        },
        { reducedMotion },
      );
    }
  });

  it('follows the theme and the language of the page', async () => {
    await withElements(browser, async (page) => {
      await makeMatrix(page);
      const first = async (): Promise<unknown> => (await page.evaluate(drawnCells))[0];
      expect(await first()).toMatchObject({ fill: 'rgb(251, 250, 247)', name: 'row 1, column 1: 0' });
      await page.evaluate(() => {
        document.documentElement.style.color = '#eee';
        document.documentElement.lang = 'de';
      });
      await expect.poll(first).toMatchObject({ fill: 'rgb(18, 21, 26)', name: 'Zeile 1, Spalte 1: 0' });
      const updates = await page.evaluate(async () => {
        const matrix = document.querySelector('#m') as HTMLElement & { requestUpdate(): void };
        let count = 0;
        matrix.requestUpdate = () => void count++;
        const told = async (lang: string): Promise<number> => {
          count = 0;
          document.documentElement.lang = lang;
          await new Promise((resolve) => setTimeout(resolve));
          return count;
        };
        return [await told('de'), await told('en')];
      });
      expect(updates).toEqual([0, 1]); // the language it has is no change
    });
  });

  it('is chosen by the first tap, edited by the second, and scrolled past by a swipe', async () => {
    await withElements(
      browser,
      async (page) => {
        await makeMatrix(page, { editable: true });
        await page.evaluate(() => {
          document.body.style.height = '3000px';
        });
        const at = await cellCentre(page, 5, 5);
        await page.touchscreen.tap(...at);
        expect(await events(page)).toEqual([['cell-select', { row: 5, column: 5 }]]);
        expect(await page.locator('#m input').count()).toBe(0);
        await page.touchscreen.tap(...at);
        expect(await page.locator('#m input').count()).toBe(1);
        await page.locator('#m input').fill('4');
        await page.locator('#m .editor button').tap();
        await page.keyboard.press('Enter');
        expect(await events(page)).toContainEqual(['cell-edit', { row: 5, column: 5, value: -4 }]);
        await swipeUp(page, [150, 240], 150);
        expect(await page.evaluate('scrollY')).toBeGreaterThan(50);
        expect((await events(page)).filter(([type]) => type === 'cell-select')).toEqual([]);
      },
      { hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } },
    );
  });
});

describe('tokens and bars', () => {
  const tokens = [{ text: '<s>', special: true, id: 1 }, { text: ' Lily' }, { text: ' ' }];

  it('are lists with one tab stop', async () => {
    await withElements(browser, async (page) => {
      await page.evaluate(async (given) => {
        await window.bench.make('cf-tokens', { tokens: given, selected: 1 });
        const items = [
          { label: ' a', value: 0.75 },
          { label: '\n', value: 0.25, note: 'cut' },
        ];
        await window.bench.make('cf-bars', { items, source: 'softmax(x)' });
      }, tokens);
      await page.keyboard.press('Tab');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Enter');
      expect(await events(page)).toEqual([['token-select', { index: 2 }]]);
      await page.keyboard.press('Tab');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press(' ');
      expect(await events(page)).toEqual([['bar-select', { index: 1 }]]);
      const names = await page
        .locator('[role=option]')
        .evaluateAll((all) => all.map((each) => each.textContent.trim()));
      expect(names).toEqual(['<s>, special', 'Lily', '␣', 'a, 75.0 %', '↵, 25.0 %, cut']);
      const [long = 0, less = 0] = await page
        .locator('cf-bars rect')
        .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().width));
      expect(long / less).toBeCloseTo(3, 1);
      const negative = await page.evaluate(async () => {
        const items = [-1, -4].map((value) => ({ label: 'a', value }));
        const { shadowRoot } = await window.bench.make('cf-bars', { items, source: 'x', format: 'number' });
        const shapes = [...(shadowRoot?.querySelectorAll('svg > *') ?? [])];
        return shapes.map((node) => node.getAttribute('x1') ?? node.getAttribute('width'));
      });
      expect(negative).toEqual(['25%', '100%', '100%', '100%']); // bar and line
    });
  });

  it('show weights behind tokens, which need a source', async () => {
    await withElements(browser, async (page) => {
      const said = await page.evaluate(async (given) => {
        const element = await window.bench.make('cf-tokens', { tokens: given, values: [1, 0.25, 0] });
        const without = element.shadowRoot?.textContent?.trim();
        await window.bench.make('cf-tokens', { id: 't', tokens: given, values: [1, 0.25, 0], source: 'pattern' });
        return without;
      }, tokens);
      expect(said).toContain('source is missing');
      const colours = await page
        .locator('#t [role=option]')
        .evaluateAll((all) => all.map((each) => getComputedStyle(each).backgroundColor));
      expect(colours).toEqual([1, 0.25, 0].map((share) => cssColour(weight(share, 'light'))));
    });
  });
});

it('leaves no control unnamed in the accessibility tree', async () => {
  await withElements(browser, async (page) => {
    await makeMatrix(page, { editable: true, selected: { row: 1, column: 1 } });
    await page.evaluate(async () => {
      document.documentElement.lang = 'en';
      document.title = 'elements';
      await window.bench.make('cf-tokens', { tokens: [{ text: 'a' }], ids: true });
      await window.bench.make('cf-bars', { items: [{ label: 'a', value: 1 }], source: 'x' });
      await window.bench.make('cf-bars', {
        items: [{ label: 'a', value: -1 }],
        source: 'x',
        readonly: true,
        format: 'number',
      });
      const cells = [[{ token: 'a', probability: 0.5 }], [{ token: 'b', probability: 1 }]];
      await window.bench.make('cf-lens', { cells, labels: ['x'], source: 'logitLens(model, inputs)' });
    });
    await page.mouse.dblclick(...(await cellCentre(page, 1, 1)));
    const protocol = await page.context().newCDPSession(page);
    const { nodes } = await protocol.send('Accessibility.getFullAXTree');
    const controls = ['grid', 'gridcell', 'listbox', 'option', 'textbox', 'button', 'list'];
    const found = nodes.filter(({ ignored, role }) => !ignored && controls.includes(role?.value));
    expect(found.filter(({ name }) => !name?.value).map(({ role }) => role?.value)).toEqual([]);
    expect(nodes.some(({ role, name }) => role?.value === 'rowheader' && !name?.value)).toBe(false);
    const kinds = new Set(found.map(({ role }) => role?.value));
    expect([...kinds].sort()).toEqual(['grid', 'gridcell', 'list', 'listbox', 'option', 'textbox']);
    expect(found.filter(({ role }) => role?.value === 'gridcell')).toHaveLength(102);
  });
});
