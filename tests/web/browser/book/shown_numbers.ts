// Compares the numbers that the page draws at a deep link with the library's, in any browser.

import { expect } from 'vitest';
import { type EvaluatingPage, numbersOf } from './reader.js';
import type { Library, Subject } from './subjects/subject.js';

/** Other browsers may use the build with relaxed SIMD, whose fused products round differently from Node's build. */
export const acrossBuilds = 2e-4;

/** Compares the open deep link's numbers; `more` is added to the subject's tolerance. */
export async function expectNumbers(page: EvaluatingPage, subject: Subject, library: Library, more = 0): Promise<void> {
  const { source, at, tolerance = 0 } = subject;
  expect(at.length).toBeGreaterThanOrEqual(3);
  const { dims, data } = await numbersOf(page, source);
  const expected = await subject.expected(library);
  expect(expected.length).toBe(at.length);
  at.forEach((place, i) => {
    expect(place.length).toBe(dims.length);
    const shown = data[place.reduce((flat, index, axis) => flat * (dims[axis] ?? 0) + index, 0)] ?? Number.NaN;
    const wanted = expected[i] ?? Number.NaN;
    const same = Object.is(shown, wanted) || Math.abs(shown - wanted) <= tolerance + more;
    expect(same, `${source}[${place}]: the page shows ${shown}, expected ${wanted}`).toBe(true);
  });
}
