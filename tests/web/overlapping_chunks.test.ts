// Long audio in chunks: their number if the audio ends at a boundary, and where their tokens are joined.
import { describe, expect, it } from 'vitest';
import { type Chunking, chunksOf, joined as joinedBy } from '../../web/src/pipelines/overlapping_chunks.js';

const chunking: Chunking = { length: 6, left: 1, right: 1 };
const joined = (sequences: number[][]) => joinedBy(sequences, (left, right) => left === right);
const spans = (samples: number, given = chunking) =>
  chunksOf(
    Float32Array.from({ length: samples }, (_, i) => i),
    given,
  ).map(({ samples }) => [samples[0], samples.at(-1)]);

describe('chunksOf', () => {
  it.each([
    [1, [[0, 0]]],
    [6, [[0, 5]]], // exactly one: no second one
    [
      7,
      [
        [0, 5],
        [4, 6],
      ],
    ],
    [
      10,
      [
        [0, 5],
        [4, 9],
      ],
    ], // exactly two
    [
      11,
      [
        [0, 5],
        [4, 9],
        [8, 10],
      ],
    ],
    [
      14,
      [
        [0, 5],
        [4, 9],
        [8, 13],
      ],
    ],
  ])('cuts %i samples', (samples, wanted) => {
    expect(spans(samples)).toEqual(wanted);
  });

  it('has each sample, and without overlap each once', () => {
    for (let samples = 1; samples < 40; samples++) {
      const once = chunksOf(
        Float32Array.from({ length: samples }, (_, i) => i),
        { length: 5, left: 0, right: 0 },
      );
      expect(once.flatMap(({ samples }) => [...samples])).toEqual(Array.from({ length: samples }, (_, i) => i));
      expect(spans(samples).at(-1)?.[1]).toBe(samples - 1);
    }
  });
});

describe('joined', () => {
  it('cuts two chunks in the middle of what both say', () => {
    expect(
      joined([
        [1, 2, 3, 4, 5],
        [3, 4, 5, 6, 7],
      ]),
    ).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(
      joined([
        [1, 2, 3, 4, 9],
        [8, 3, 4, 5, 6],
      ]),
    ).toEqual([1, 2, 3, 4, 5, 6]); // wrong at the ends
  });

  it('does not take one equal token for an agreement', () => {
    expect(
      joined([
        [1, 2, 3],
        [3, 4, 5],
      ]),
    ).toEqual([1, 2, 3, 3, 4, 5]);
    expect(
      joined([
        [1, 2, 3, 4],
        [3, 4, 5],
      ]),
    ).toEqual([1, 2, 3, 4, 5]);
  });

  it('takes one, none and several', () => {
    expect(joined([])).toEqual([]);
    expect(joined([[7, 8]])).toEqual([7, 8]);
    expect(
      joined([
        [1, 2, 3, 4],
        [3, 4, 5, 6],
        [5, 6, 7],
      ]),
    ).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });
});
