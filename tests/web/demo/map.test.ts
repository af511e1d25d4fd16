// The attention map's drawing, apart from the canvas: where cells lie, what a pixel stands for, which colour it has.

import { describe, expect, it } from 'vitest';
import { colourScale, cssColour, luminance, rampIndex, textOn } from '../../../web/demo/state/colour_scale.js';
import { MapGeometry, windowAround } from '../../../web/demo/state/map_geometry.js';
import { capacityFor, WeightImage } from '../../../web/demo/state/weight_image.js';

describe('MapGeometry', () => {
  it.each([4, 7, 50, 131, 512])('finds the cell of every box, with %i cells on 400 pixels', (count) => {
    const map = new MapGeometry({ query: 0, key: 0, count }, 400, 66, 60);
    for (let i = 0; i < count; i++) {
      const cell = { query: i, key: count - 1 - i };
      const { x, y, width, height } = map.boxOf(cell);
      expect(x).toBeGreaterThanOrEqual(66);
      expect(x + width).toBeLessThanOrEqual(66 + 400 + 1);
      const found = map.cellAt(x + width / 2, y + height / 2);
      expect(Math.abs((found?.query ?? -9) - cell.query)).toBeLessThanOrEqual(map.factor - 1);
      expect(Math.abs((found?.key ?? -9) - cell.key)).toBeLessThanOrEqual(map.factor - 1);
    }
  });

  it('has no cell outside, and counts from its window', () => {
    const map = new MapGeometry({ query: 30, key: 10, count: 20 }, 400, 60, 60);
    expect(map.cellAt(59, 100)).toBeUndefined();
    expect(map.cellAt(100, 461)).toBeUndefined();
    expect(map.cellAt(61, 61)).toEqual({ query: 30, key: 10 });
  });
});

describe('windowAround', () => {
  it('moves as little as it must', () => {
    const first = windowAround({ query: 50, key: 3 }, 20, 100);
    expect(first).toEqual({ query: 40, key: 0, count: 20 });
    expect(windowAround({ query: 59, key: 19 }, 20, 100, first)).toEqual(first);
    expect(windowAround({ query: 60, key: 20 }, 20, 100, first)).toEqual({ query: 41, key: 1, count: 20 });
    expect(windowAround({ query: 39, key: 0 }, 20, 100, first).query).toBe(39);
    expect(windowAround({ query: 99, key: 99 }, 20, 100)).toEqual({ query: 80, key: 80, count: 20 });
  });
});

describe('WeightImage', () => {
  it('shows the strongest weight of a block when there are more cells than pixels', () => {
    const image = new WeightImage(8, 4);
    expect([image.factor, image.side]).toEqual([2, 4]);
    for (let query = 0; query < 8; query++) {
      const row = new Float32Array(query + 1);
      row[0] = query === 5 ? 1 : 0;
      image.addRow(row);
    }
    const scale = colourScale('light', 'even');
    const pixels = new Uint8ClampedArray(4 * 4 * 4);
    image.paint(scale, pixels, 4);
    const at = (x: number, y: number): string => `rgb(${pixels.slice((y * 4 + x) * 4, (y * 4 + x) * 4 + 3).join(' ')})`;
    expect(at(0, 2)).toBe(cssColour(scale, 1));
    expect(at(0, 3)).toBe(cssColour(scale, 0));
    expect(pixels[(0 * 4 + 3) * 4 + 3]).toBe(0); // the future stays clear
  });

  it('grows in few steps', () => {
    const steps = new Set(Array.from({ length: 512 }, (_, i) => capacityFor(i + 1)));
    expect([...steps]).toEqual([16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512]);
  });
});

describe('colour scale', () => {
  it.each(['light', 'dark'] as const)('changes its lightness steadily from 0 to 1 (%s)', (theme) => {
    const { table } = colourScale(theme, 'even');
    const values = Array.from({ length: 256 }, (_, i) =>
      luminance([table[i * 3] ?? 0, table[i * 3 + 1] ?? 0, table[i * 3 + 2] ?? 0]),
    );
    const sign = theme === 'light' ? -1 : 1;
    values.slice(1).forEach((value, i) => {
      expect(sign * (value - (values[i] as number))).toBeGreaterThan(-0.003);
    });
    expect(Math.abs((values[255] as number) - (values[0] as number))).toBeGreaterThan(0.7);
  });

  it('spreads weights evenly or by their root', () => {
    expect(rampIndex('even', 0.25)).toBe(64);
    expect(rampIndex('root', 0.25)).toBe(128);
    expect([rampIndex('root', -1), rampIndex('even', 2)]).toEqual([0, 255]);
  });

  it('puts readable text on every weight', () => {
    for (const theme of ['light', 'dark'] as const) {
      const scale = colourScale(theme, 'even');
      for (let i = 0; i <= 255; i++) {
        const rgb = cssColour(scale, i / 255)
          .match(/\d+/g)
          ?.map(Number) as [number, number, number];
        const [ground, ink] = [luminance(rgb), textOn(scale, i / 255) === '#fff' ? 1 : 0];
        const contrast = (Math.max(ground, ink) + 0.05) / (Math.min(ground, ink) + 0.05);
        expect(contrast).toBeGreaterThanOrEqual(4.5);
      }
    }
  });
});
