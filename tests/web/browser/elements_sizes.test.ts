// The minimum font size of the elements, in Chromium, values that are none, and other documents.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { seenTexts } from './book/seen_texts.js';
import { launchChromium } from './chromium.js';
import { cellCentre, events, makeMatrix, withElements } from './elements_page.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

const ask = (page: Page, length: string): Promise<void> =>
  page.evaluate((wanted) => document.documentElement.style.setProperty('--cf-min-font-size', wanted), length);

/** The font size of the digits of the test's matrix. */
const digitsOf = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    const matrix = document.getElementById('m') as HTMLElement & {
      updateComplete: Promise<unknown>;
      digitSize: number;
    };
    await new Promise(requestAnimationFrame);
    await matrix.updateComplete;
    return matrix.digitSize;
  });

const matrix = (page: Page, properties: object): Promise<void> =>
  page.evaluate(async (given) => {
    document.getElementById('m')?.remove();
    const data = Array.from({ length: 16 }, (_, i) => (i - 8) / 10);
    await window.bench.make('cf-matrix', { id: 'm', numbers: { dims: [4, 4], data }, source: 'a test', ...given });
  }, properties);

it('numbers of five characters keep apart in cells that they fill', async () => {
  await withElements(browser, async (page) => {
    for (const cellWidth of [25, 28, 30, 34]) {
      await matrix(page, { numbers: { dims: [1, 3], data: [-1.25, -2.75, -1.5] }, digits: 2, cellWidth });
      const gaps = await page.evaluate(() => {
        const texts = document.getElementById('m')?.shadowRoot?.querySelectorAll('.digits') ?? [];
        const boxes = Array.from(texts, (text) => text.getBoundingClientRect());
        return boxes.slice(1).map((box, i) => box.left - (boxes[i]?.right ?? 0));
      });
      expect(gaps.length).toBe(2);
      for (const gap of gaps) expect(gap, `${cellWidth} px`).toBeGreaterThan(2);
    }
  });
});

it('bars leave beside a full bar the room that the widest number and its note take', async () => {
  await withElements(browser, async (page) => {
    for (const note of [undefined, '443', 'was 75.0 %', 'same token as before']) {
      const [bar = 0, end = 0, right = 0, none] = await page.evaluate(async (told) => {
        const items = [
          { label: 'a', value: 1, note: told },
          { label: 'b', value: 0 },
        ];
        const element = await window.bench.make('cf-bars', { id: 'r', items, source: 'softmax(x)' });
        element.style.width = '320px';
        const all = (name: string): DOMRect[] =>
          Array.from(element.shadowRoot?.querySelectorAll(name) ?? [], (each) => each.getBoundingClientRect());
        const [bars, numbers] = [all('svg'), all('.number')];
        element.remove();
        return [bars[0]?.width, numbers[0]?.right, element.offsetLeft + 320, bars[1]?.width];
      }, note);
      expect(end).toBeLessThanOrEqual(right);
      expect(right - end, note).toBeLessThan(46);
      expect(bar).toBeGreaterThan(70);
      expect(none, 'a bar of zero').toBe(0);
    }
  });
});

it('applies to every text of every element, in any unit of length', async () => {
  await withElements(browser, async (page) => {
    await ask(page, '1.5rem');
    await matrix(page, {
      label: 'Q',
      about: 'what each token looks for',
      rowLabels: ['a', 'b'],
      columnLabels: ['c', 'd'],
    });
    await page.evaluate(async () => {
      const { make } = window.bench;
      const tokens = [
        { text: '<s>', id: 1, special: true },
        { text: ' park', id: 2 },
      ];
      await make('cf-tokens', { tokens, ids: true });
      await make('cf-bars', { items: [{ label: 'park', value: 0.5, note: 'was 20 %' }], source: 'a test' });
      await make('cf-attention', {
        numbers: { dims: [1, 1], data: [1] },
        source: 'a test',
        selected: { row: 0, column: 0 },
      });
      const cells = [[{ token: 'park', probability: 0.5 }]];
      await make('cf-lens', { cells, labels: ['park'], rowLabels: ['start'], source: 'a test' });
      await make('cf-matrix', { numbers: { dims: [1, 1], data: [1] } }); // shows what is missing
    });
    const texts = await seenTexts(page);
    expect(texts.length).toBeGreaterThan(25);
    expect(texts.filter(({ size }) => size < 23.99)).toEqual([]);
  });
});

it('cells have digits of at least that size or none, and follow changes', async () => {
  await withElements(browser, async (page) => {
    await matrix(page, { cellWidth: 30, cellHeight: 25 });
    expect(await digitsOf(page)).toBeGreaterThan(9);
    await ask(page, '24px');
    expect(await digitsOf(page)).toBe(0);
    await matrix(page, { cellWidth: 72, cellHeight: 28 });
    expect(await digitsOf(page)).toBe(24);
    const tight = { digits: 1, cellHeight: 26, cellWidth: 66 };
    await matrix(page, tight);
    expect(await digitsOf(page)).toBe(24);
    await ask(page, '12px'); // half the size in cells of half the size
    await matrix(page, { ...tight, cellHeight: 13, cellWidth: 33 });
    expect(await digitsOf(page)).toBe(12);
    await ask(page, '24px');
    await matrix(page, {}); // automatic cell size
    expect(await digitsOf(page)).toBe(24);
    await ask(page, '0px');
    expect(await digitsOf(page)).toBeLessThan(14);
  });
});

it('wraps long captions and truncates column labels', async () => {
  await withElements(browser, async (page) => {
    const about = 'what each token looks for in the text before it';
    const columnLabels = ['butterflies', 'and', 'flowers', 'everywhere'];
    const texts = (): Promise<string[]> =>
      page.evaluate(() =>
        [...(document.getElementById('m')?.shadowRoot?.querySelectorAll('text') ?? [])].map(
          (text) => text.textContent ?? '',
        ),
      );
    await page.evaluate(() => {
      document.body.style.width = '340px';
    });
    await matrix(page, { label: 'Q', about, columnLabels, cellWidth: 70, cellHeight: 30 });
    expect(await texts()).toContain(`Q${about}`);
    expect(await texts()).toContain('butterflies');
    await ask(page, '24px');
    await digitsOf(page);
    expect((await texts()).some((text) => text === `Q${about}`)).toBe(false);
    expect((await texts()).join(' ')).toContain('in the text');
    expect(await texts()).not.toContain('butterflies');
    expect((await texts()).some((text) => /^b.*…$/.test(text))).toBe(true);
    const [wide, shown] = await page.evaluate(() => {
      const host = document.getElementById('m') as HTMLElement;
      return [host.shadowRoot?.querySelector('svg')?.getBoundingClientRect().width ?? 0, host.clientWidth];
    });
    expect(wide).toBeLessThanOrEqual((shown ?? 0) + 1);
  });
});

it('draws where there are neither internals nor media queries, as in jsdom and happy-dom', async () => {
  await withElements(browser, async (page) => {
    await page.evaluate(() => {
      Object.defineProperty(HTMLElement.prototype, 'attachInternals', { value: undefined });
      Object.defineProperty(globalThis, 'matchMedia', { value: undefined });
      HTMLCanvasElement.prototype.getContext = () => null;
    });
    await makeMatrix(page, {});
    await expect.poll(() => page.locator('#m [role=gridcell]').count()).toBe(100);
  });
});

it('ignores sizes that are none, and names JSON that is none', async () => {
  await withElements(browser, async (page) => {
    for (const size of [-1, Number.POSITIVE_INFINITY, Number.NaN]) {
      await page.evaluate(() => document.getElementById('m')?.remove());
      await makeMatrix(page, { cellWidth: size, cellHeight: size });
      expect(await page.locator('#m [role=gridcell]').count()).toBe(100);
    }
    for (const numbers of ['[[1, "a"]]', '[[1, 2], [3], [4, 5, 6]]', '[1, [2], 3]']) {
      await page.evaluate((text) => document.getElementById('m')?.setAttribute('numbers', text), numbers);
      expect(await page.locator('#m [role=alert]').innerText(), numbers).toContain('needs a JSON array of numbers');
    }
    await page.evaluate(() => Object.assign(document.getElementById('m') as HTMLElement, { numbers: null }));
    expect(await page.locator('#m').innerText()).toBe('');
  });
});

it('keeps to what is left of a list or a map that became smaller', async () => {
  await withElements(browser, async (page) => {
    const map = (size: number) => ({ dims: [size, size], data: Array.from({ length: size ** 2 }, (_, i) => i / 100) });
    const cells = (size: number) => Array(size).fill(Array(size).fill({ token: 'a', probability: 0.5 }));
    const cases: [string, (size: number) => object, string, [string, unknown][]][] = [
      [
        'cf-bars',
        (size) => ({ items: Array(size).fill({ label: 'a', value: 0.5 }), source: 'x' }),
        'End',
        [['bar-select', { index: 2 }]],
      ],
      ['cf-tokens', (size) => ({ tokens: Array(size).fill({ text: 'a' }) }), 'End', [['token-select', { index: 2 }]]],
      [
        'cf-lens',
        (size) => ({ cells: cells(size), source: 'x' }),
        'Control+End',
        [['lens-select', { layer: 0, position: 2 }]],
      ],
      ['cf-matrix', (size) => ({ numbers: map(size), source: 'x', editable: true }), 'Control+End', []],
    ];
    for (const [tag, of, end, expected] of cases) {
      await page.evaluate(([name, given]) => window.bench.make(name, { id: name, ...given }), [tag, of(6)] as const);
      await page.locator(`#${tag} [tabindex]`).focus();
      await page.keyboard.press(end);
      if (tag === 'cf-matrix') await page.keyboard.press('7'); // into a field that is open when its cell goes
      const set = ([name, given]: readonly [string, object]) =>
        Object.assign(document.getElementById(name) as HTMLElementTagNameMap['cf-bars'], given).updateComplete;
      await page.evaluate(set, [tag, of(3)] as const);
      await events(page);
      await page.keyboard.press('Enter');
      expect((await events(page)).filter(([type]) => /select|edit/.test(type))).toEqual(expected);
      if (tag === 'cf-matrix') continue;
      const active = await page.locator(`#${tag} [aria-activedescendant]`).getAttribute('aria-activedescendant');
      expect(await page.locator(`#${tag} .at`).getAttribute('id')).toBe(active);
    }
    const selected = { row: 0, column: 5 };
    await page.evaluate(
      ([numbers, cell]) => window.bench.make('cf-attention', { numbers, source: 'x', selected: cell }),
      [map(4), selected] as const,
    );
    expect(await page.locator('cf-attention .read').innerText()).toBe('');
  });
});

it('takes a 0 that is typed over a tiny number', async () => {
  await withElements(browser, async (page) => {
    await makeMatrix(page, { numbers: { dims: [1, 3], data: [1e-5, -1e-9, 0.25] }, editable: true });
    const typed = async (...keys: string[]) => {
      await page.locator('#m [tabindex]').focus();
      for (const key of keys) await page.keyboard.press(key);
      return (await events(page)).filter(([type]) => type === 'cell-edit').map(([, detail]) => detail);
    };
    expect(await typed('0', 'Enter')).toEqual([{ row: 0, column: 0, value: 0 }]);
    expect(await typed('ArrowRight', 'Enter', 'Enter')).toEqual([]); // not touched
    expect(await typed('Enter', '0', 'Enter')).toEqual([{ row: 0, column: 1, value: 0 }]);
    expect(await typed('ArrowRight', '0', '.', '2', '5', 'Enter')).toEqual([]); // what it is
    expect(await typed('0', 'x', '1', 'Enter', 'Escape')).toEqual([]); // no number to people
  });
});

it('draws nothing for what is cleared, and names the property whose value has another form', async () => {
  const valid = {
    'cf-attention': { numbers: { dims: [1, 1], data: [1] }, source: 'x', tokens: [{ text: 'a' }], masked: null },
    'cf-bars': { items: [{ label: 'a', value: 1.5 }], source: 'x', format: 'number' },
    'cf-lens': { cells: [[{ token: 'a', probability: 1 }]], source: 'x' },
    'cf-matrix': { numbers: { dims: [1, 1], data: [1] }, source: 'x', rowLabels: ['a'] },
    'cf-tokens': { tokens: [{ text: 'a' }], values: [1], source: 'x' },
  };
  const cell = { token: 'a', probability: 1 };
  const cases: [keyof typeof valid, Record<string, unknown>, string][] = [
    ['cf-attention', { numbers: null }, 'nothing'],
    ['cf-attention', { tokens: null, keyTokens: null, selected: null, label: null }, 'drawn'],
    ['cf-attention', { tokens: ['a'] }, 'cf-attention: tokens needs [{text: string}]'],
    ['cf-attention', { masked: 5 }, 'cf-attention: masked needs function'],
    ['cf-bars', { items: null }, 'nothing'],
    ['cf-bars', { items: undefined }, 'nothing'],
    ['cf-bars', { items: 'ab' }, 'cf-bars: items needs [{label: string, value: number}]'],
    ['cf-bars', { items: [null] }, 'cf-bars: items needs [{label: string, value: number}]'],
    ['cf-bars', { format: null, label: null, max: null }, 'drawn'],
    ['cf-bars', { format: 'percents' }, 'cf-bars: format needs one of percent, number'],
    ['cf-bars', { digits: 300 }, 'drawn'],
    ['cf-bars', { digits: -1 }, 'drawn'],
    ['cf-lens', { cells: undefined }, 'nothing'],
    ['cf-lens', { labels: null, rowLabels: null }, 'drawn'],
    ['cf-lens', { labels: [1] }, 'cf-lens: labels needs [string]'],
    ['cf-lens', { labels: ['a', 'b'] }, 'cf-lens: 1 positions, but 2 labels'],
    ['cf-lens', { selected: 1 }, 'cf-lens: selected needs {layer: index, position: index}'],
    [
      'cf-lens',
      { cells: [[cell, cell], [cell], [cell, cell, cell]] },
      'cf-lens: cells needs [[{token: string, probability: number}]] with rows of one length',
    ],
    ['cf-matrix', { numbers: undefined }, 'nothing'],
    ['cf-matrix', { rowLabels: undefined, columnLabels: null, masked: null, rails: null, digits: null }, 'drawn'],
    ['cf-matrix', { rowLabels: 'ab' }, 'cf-matrix: rowLabels needs [string]'],
    ['cf-matrix', { scale: 'weigths' }, 'cf-matrix: scale needs one of signed, weights, plain'],
    ['cf-matrix', { hue: 'purple' }, 'cf-matrix: hue needs one of q, k, v, stream, ink, accent'],
    ['cf-matrix', { caption: 'left' }, 'cf-matrix: caption needs one of below, above, none'],
    ['cf-matrix', { quiet: 'all' }, 'cf-matrix: quiet needs one of rows, columns, both'],
    ['cf-matrix', { digits: 'two' }, 'cf-matrix: digits needs one of auto, a number'],
    ['cf-matrix', { digits: 300, rails: { rows: [0] }, selected: { row: 0, column: 0 } }, 'drawn'],
    [
      'cf-matrix',
      { rails: { rows: 0 } },
      'cf-matrix: rails needs {rows?: [number], columns?: [number], rowHue?: one of q',
    ],
    ['cf-matrix', { rails: 'rows' }, 'cf-matrix: rails needs'],
    ['cf-matrix', { selected: 0 }, 'cf-matrix: selected needs {row: index, column: index}'],
    ['cf-matrix', { numbers: { dims: [-1, -1], data: [1] } }, 'cf-matrix: numbers needs { dims, data }'],
    ['cf-matrix', { numbers: { dims: [0.5, 2], data: [1] } }, 'cf-matrix: numbers needs { dims, data }'],
    ['cf-matrix', { numbers: { dims: [1, 1], data: '1' } }, 'cf-matrix: numbers needs { dims, data }'],
    ['cf-matrix', { numbers: { dims: [1, 1], data: ['1'] } }, 'cf-matrix: data needs numbers alone'],
    ['cf-tokens', { tokens: null, values: undefined }, 'nothing'],
    ['cf-tokens', { values: null, hue: null }, 'drawn'],
    ['cf-tokens', { tokens: ['a'] }, 'cf-tokens: tokens needs [{text: string}]'],
    ['cf-tokens', { values: ['1'] }, 'cf-tokens: data needs numbers alone'],
    ['cf-tokens', { values: valid['cf-matrix'].numbers }, 'cf-tokens: values needs {length: number}'],
    ['cf-tokens', { scale: 'plain' }, 'cf-tokens: scale needs one of weights, signed'],
    ['cf-tokens', { values: new BigInt64Array(1) }, 'cf-tokens: int64 cannot be drawn'],
  ];
  await withElements(browser, async (page) => {
    const said = await page.evaluate(
      async ([initial, given]) => {
        const found: string[] = [];
        for (const [tag, values] of given) {
          const element = (await window.bench.make(tag, initial[tag])) as HTMLElementTagNameMap['cf-bars'];
          Object.assign(element, values);
          await element.updateComplete;
          const root = element.shadowRoot as ShadowRoot;
          const drawn = root.querySelector('[role=grid], [role=listbox], cf-matrix') ? 'drawn' : 'nothing';
          found.push(root.querySelector('[role=alert]')?.textContent ?? drawn);
          element.remove();
        }
        return found;
      },
      [valid, cases] as const,
    );
    cases.forEach(([tag, values, expected], i) => {
      expect(said[i], `${tag} ${Object.keys(values)} ${i}`).toContain(expected);
    });
    const early = await page.evaluate(() => {
      const bars = Object.assign(document.createElement('cf-bars'), { items: [null] });
      const lens = Object.assign(document.createElement('cf-lens'), { cells: [[null]] });
      return [bars.numbers, lens.numbers, document.createElement('cf-tokens').tokenBox(0).width];
    });
    expect(early).toEqual([undefined, undefined, 0]);
  });
});

it('a matrix has its styles in every document', async () => {
  await withElements(browser, async (page) => {
    await makeMatrix(page);
    const shown = await page.evaluate(async () => {
      const frame = document.body.appendChild(document.createElement('iframe'));
      const inner = frame.contentDocument as Document;
      const moved = document.getElementById('m') as HTMLElement;
      const made = Object.assign(document.createElement('cf-matrix'), {
        numbers: { dims: [1, 2], data: [1, 2] },
        source: 'a test',
      });
      const seen: unknown[] = [];
      for (const [parent, element] of [
        [inner.body, moved],
        [inner.body, made],
        [document.body, moved],
        [document.body, made],
      ] as const) {
        parent.append(element);
        await (element as HTMLElement & { updateComplete?: Promise<unknown> }).updateComplete;
        const cells = element.shadowRoot?.querySelectorAll('[role=gridcell]').length;
        seen.push([getComputedStyle(element).display, cells]);
      }
      return seen;
    });
    expect(shown).toEqual([
      ['block', 100],
      ['block', 2],
      ['block', 100],
      ['block', 2],
    ]);
  });
});

it('a field closes when its cell goes', async () => {
  await withElements(browser, async (page) => {
    await makeMatrix(page, {});
    await page.evaluate(() => document.getElementById('m')?.setAttribute('editable', ''));
    await page.mouse.click(...(await cellCentre(page, 9, 9)));
    await page.keyboard.press('5');
    expect(await page.locator('#m input').count()).toBe(1);
    await events(page);
    await page.evaluate(() => {
      const matrix = document.getElementById('m') as HTMLElement & {
        numbers: object;
        updateComplete: Promise<unknown>;
      };
      matrix.numbers = { dims: [2, 2], data: [1, 2, 3, 4] };
      return matrix.updateComplete;
    });
    expect(await page.locator('#m input').count()).toBe(0);
    expect((await events(page)).filter(([type]) => type === 'cell-edit')).toEqual([]);
  });
});
