// A drawing is normalised to the size and position of MNIST's digits.

import { describe, expect, it } from 'vitest';
import { mnistFrame, canvasSide as side } from '../../../web/demo/chapters/seeing/frame.js';

/** White where `inside`, black elsewhere. */
function drawing(inside: (x: number, y: number) => boolean): Uint8ClampedArray {
  const rgba = new Uint8ClampedArray(side * side * 4);
  for (let i = 0; i < side * side; i++) rgba.fill(inside(i % side, Math.floor(i / side)) ? 255 : 0, i * 4, i * 4 + 3);
  return rgba;
}

describe('mnistFrame', () => {
  it('brings the longer side to 20 of 28, and the centre of mass to the middle', () => {
    const frame = mnistFrame(drawing((x, y) => x >= 20 && x < 40 && y >= 50 && y < 150));
    expect(frame?.scale).toBeCloseTo((side * 20) / 28 / 100, 12);
    const at = (place: number, from: number): number => from + place * (frame?.scale ?? 0);
    expect(at(30, frame?.left ?? 0)).toBeCloseTo(side / 2, 9);
    expect(at(100, frame?.top ?? 0)).toBeCloseTo(side / 2, 9);
  });

  it('leaves a digit that already lies so where it is', () => {
    const frame = mnistFrame(drawing((x, y) => x >= 40 && x < 240 && y >= 40 && y < 240));
    expect(frame?.scale).toBeCloseTo(1, 12);
    expect(frame?.left).toBeCloseTo(0, 9);
    expect(frame?.top).toBeCloseTo(0, 9);
  });

  it('finds nothing where nothing is drawn', () => {
    expect(mnistFrame(drawing(() => false))).toBeUndefined();
  });
});
