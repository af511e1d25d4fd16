// `clearformer/elements` without a DOM: importable, with legible colours and correctly formatted numbers.

import * as elements from 'clearformer/elements';
import { describe, expect, it, vi } from 'vitest';
import { misfitOf } from '../../web/src/elements/forms.js';
import { ModelTask } from '../../web/src/elements/model_task.js';
import { cellForm, faultOf, type Numbers } from '../../web/src/elements/numbers.js';

const { contrast, inkOn, luminance, paper, signed, weight } = elements;
const themes = ['light', 'dark'] as const;

it('can be imported where there are no elements', () => {
  expect(typeof HTMLElement).toBe('undefined');
  expect(typeof elements.CfMatrix).toBe('function');
});

it('show the error of a tokenizer also when the model has loaded after it', async () => {
  const task = new ModelTask({ isConnected: true, addController: () => {}, requestUpdate: () => {} } as never);
  let tellLater = (): void => {};
  const failed = vi.fn();
  task.start(['model'], {
    run: ({ tell }) => {
      tellLater = () => {
        for (const status of ['progress', 'ready']) tell({ loaded: 1, total: 1, status });
      };
      return Promise.reject(new Error('no tokenizer'));
    },
    shown: () => ({}),
    failed,
  });
  await vi.waitFor(() => expect(failed).toHaveBeenCalled(), { timeout: 30_000 }); // imports the package's sources
  tellLater();
  expect(task.status()).toMatchObject({ values: ['no tokenizer'] });
});

describe.each(themes)('colours, %s', (theme) => {
  const steps = Array.from({ length: 1001 }, (_, i) => i / 1000);

  it('carry digits at 4.5 : 1 or more', () => {
    for (const share of steps) {
      for (const rgb of [weight(share, theme), signed(share, 1, theme), signed(-share, 1, theme)]) {
        expect(contrast(rgb, inkOn(rgb)), `${share}: ${rgb}`).toBeGreaterThanOrEqual(4.5);
      }
    }
  });

  it('have zero on the paper', () => {
    expect(weight(0, theme)).toEqual(paper[theme]);
    expect(signed(0, 3, theme)).toEqual(paper[theme]);
    expect(signed(-0, 3, theme)).toEqual(paper[theme]);
  });

  it('leave the paper steadily', () => {
    const away = theme === 'light' ? -1 : 1;
    for (const colour of [(x: number) => weight(x, theme), (x: number) => signed(x, 1, theme)]) {
      const lights = steps.map((share) => away * luminance(colour(share)));
      // Rounding to bytes: two steps of similar luminance may be swapped by less than one byte of one channel.
      for (let i = 1; i < lights.length; i++) expect(lights[i]).toBeGreaterThan((lights[i - 1] as number) - 0.004);
      expect(lights.at(-1)).toBeGreaterThan((lights[0] as number) + 0.15);
    }
  });

  it('tell above from below zero, and stop at the bound', () => {
    expect(signed(1, 1, theme)).not.toEqual(signed(-1, 1, theme));
    for (const beyond of [2, 1e30, Infinity]) expect(signed(beyond, 1, theme)).toEqual(signed(1, 1, theme));
    expect(weight(7, theme)).toEqual(weight(1, theme));
    for (const odd of [Number.NaN, -1, -Infinity]) expect(weight(odd, theme)).toEqual(paper[theme]);
    expect(signed(Number.NaN, 1, theme)).toEqual(paper[theme]);
    for (const bound of [0, -1, Number.NaN]) expect(signed(2, bound, theme)).toEqual(paper[theme]);
  });
});

it('finds an ink of 4.5 : 1 for every grey and every pure mixture', () => {
  for (let red = 0; red < 256; red += 15) {
    for (let green = 0; green < 256; green += 15) {
      for (let blue = 0; blue < 256; blue += 15) {
        const rgb = [red, green, blue] as const;
        expect(contrast(rgb, inkOn(rgb)), `${rgb}`).toBeGreaterThanOrEqual(4.5);
      }
    }
  }
});

describe('numbers as text', () => {
  const { short, two, four, small2, weightDigits, spoken, percent, decimals } = elements;
  const odd = [
    [Number.NaN, 'NaN'],
    [Infinity, '∞'],
    [-Infinity, '−∞'],
  ] as const;

  it.each(odd)('says %s', (value, text) => {
    for (const write of [short, two, four, small2, weightDigits, spoken, percent]) expect(write(value)).toBe(text);
    expect(decimals(value, 3)).toBe(text);
  });

  it.each([
    [short, 0, '0.0'],
    [short, -0.04, '0.0'],
    [short, -3.26, '−3.3'],
    [short, 9.94, '9.9'],
    [short, 9.96, '10'],
    [short, -31.4, '−31'],
    [short, 999.4, '999'],
    [short, -12345, '−1e4'],
    [two, -0.001, '0.00'],
    [two, -1.005, '−1.00'],
    [four, 0.94421, '0.9442'],
    [small2, 0.0049, '0'],
    [small2, -0.07, '−.07'],
    [small2, 0.993, '.99'],
    [small2, 0.996, '1.0'],
    [small2, -1.24, '−1.2'],
    [weightDigits, 0, '·'],
    [weightDigits, 0.0049, '·'],
    [weightDigits, 0.005, '.01'],
    [weightDigits, 0.944, '.94'],
    [weightDigits, 0.9949, '.99'],
    [weightDigits, 1, '1'],
    [spoken, 30.8906, '30.9'],
    [spoken, -0.00214321, '−0.00214'],
    [spoken, -1.23e-9, '−1.23e−9'],
    [percent, 0.4312, '43.1 %'],
    [percent, 0.00041, '0.04 %'],
    [percent, 1e-9, '< 0.01 %'],
    [percent, 0.99999, '> 99.9 %'],
    [percent, 1, '100 %'],
    [percent, -0.25, '−25.0 %'],
  ])('%o of %d', (write, value, text) => {
    expect(write(value)).toBe(text);
  });
});

it.each<[string, unknown, string | undefined]>([
  ['numbers', [1, 2], undefined],
  ['typed numbers', Float64Array.of(1, 2), undefined],
  ['numbers by index', { length: 2, 0: 1, 1: 2 }, undefined],
  ['holes', new Array(2), 'data needs numbers alone'],
  ['members that are none', { length: 2, 0: 'a' }, 'data needs numbers alone'],
  ['int64', BigInt64Array.of(1n, 2n), 'int64 cannot be drawn'],
  ['uint64', BigUint64Array.of(1n, 2n), 'int64 cannot be drawn'],
])('draws %s or says why not', (_, data, fault) => {
  const found = faultOf({ numbers: { dims: [2], data } as Numbers, source: 'a test' });
  expect(found).toEqual(fault === undefined ? undefined : expect.stringContaining(fault));
});

it('a cell has whole indices', () => {
  expect(misfitOf('selected', { row: 0, column: 3 }, cellForm)).toBe(undefined);
  for (const row of [0.5, Number.NaN, '1'])
    expect(misfitOf('selected', { row, column: 0 }, cellForm)).toBe('selected needs {row: index, column: index}');
});

describe('pieces of a text', () => {
  const { tokenPieces, visibleToken } = elements;

  it('are what each token adds', () => {
    const words = ['<s>', 'Lily', ' went', '\n'];
    const names = {
      all_special_ids: [0],
      vocab_size: words.length,
      decode: (ids: readonly number[]) => ids.map((id) => words[id]).join(''),
      convert_ids_to_tokens: (ids: readonly number[]) => ids.map((id) => words[id]),
    };
    const pieces = tokenPieces(names as never, [0, 1, 2, 3]);
    expect(pieces).toEqual([
      { text: '<s>', id: 0, special: true },
      { text: 'Lily', id: 1 },
      { text: ' went', id: 2 },
      { text: '\n', id: 3 },
    ]);
  });

  it('names the bytes of a character that several tokens make, and ids that no token has', () => {
    const words = ['Hello', '<byte 1>', '<byte 2>'];
    const decode = (ids: readonly number[]): string =>
      ids
        .map((id) => words[id])
        .join('')
        .replace('<byte 1><byte 2>', 'é')
        .replace(/<byte .>/, '\uFFFD');
    const convert_ids_to_tokens = (ids: readonly number[]) => ids.map((id) => words[id] ?? '');
    const names = { all_special_ids: [], vocab_size: words.length, decode, convert_ids_to_tokens };
    const texts = [
      [0, 1],
      [0, 1, 2],
      [0, 9],
    ].map((ids) => tokenPieces(names as never, ids).at(-1)?.text);
    expect(texts).toEqual(['<byte 1>', '<byte 2>', '#9']);
  });

  it('can be seen', () => {
    expect(['', ' ', '\n', ' dog', '\t'].map(visibleToken)).toEqual(['∅', '␣', '↵', ' dog', '⇥']);
  });
});
