// What the reader gives the small chapters: letters to sort, a drawing that is brought to where the digits of MNIST lie.

import { describe, expect, it } from 'vitest';
import { alphabet, letterCount, lettersOf, shuffled, sorted } from '../../../web/demo/state/letters.js';
import { mnistFrame } from '../../../web/demo/state/pixels.js';
import { TokenTexts } from '../../../web/demo/state/token_texts.js';

describe('letters', () => {
  it('are what the model knows, and no more than six', () => {
    expect(lettersOf('a-b c x BBBCCC')).toBe('ABCBBB');
    expect(lettersOf('xyz')).toBe('');
  });

  it('come by chance, six of them', () => {
    for (let i = 0; i < 20; i++) {
      const letters = shuffled();
      expect(letters.length).toBe(letterCount);
      expect([...letters].every((letter) => alphabet.includes(letter))).toBe(true);
    }
  });

  it('are sorted as the model should', () => {
    expect(sorted('CBABAC')).toBe('AABBCC');
  });
});

describe('mnistFrame', () => {
  const side = 56;
  /** White where `inside`, black elsewhere. */
  const drawing = (inside: (x: number, y: number) => boolean): Uint8ClampedArray => {
    const rgba = new Uint8ClampedArray(side * side * 4);
    for (let i = 0; i < side * side; i++) rgba.fill(inside(i % side, Math.floor(i / side)) ? 255 : 0, i * 4, i * 4 + 3);
    return rgba;
  };

  it('brings the longer side to 20 of 28, and the centre of mass to the middle', () => {
    const frame = mnistFrame(
      drawing((x, y) => x >= 4 && x < 8 && y >= 10 && y < 30),
      side,
    );
    expect(frame?.scale).toBeCloseTo((side * 20) / 28 / 20, 12);
    const at = (place: number, from: number): number => from + place * (frame?.scale ?? 0);
    expect(at(6, frame?.left ?? 0)).toBeCloseTo(side / 2, 9);
    expect(at(20, frame?.top ?? 0)).toBeCloseTo(side / 2, 9);
  });

  it('leaves a digit that already lies so where it is', () => {
    const frame = mnistFrame(
      drawing((x, y) => x >= 8 && x < 48 && y >= 8 && y < 48),
      side,
    );
    expect(frame?.scale).toBeCloseTo(1, 12);
    expect(frame?.left).toBeCloseTo(0, 9);
    expect(frame?.top).toBeCloseTo(0, 9);
  });

  it('finds nothing where nothing is drawn', () => {
    expect(
      mnistFrame(
        drawing(() => false),
        side,
      ),
    ).toBeUndefined();
  });
});

describe('TokenTexts', () => {
  const words = ['<s>', 'Hello', ' there', '!', '<byte 1>', '<byte 2>'];
  /** The two bytes are one character, as byte-level tokenizers split some. */
  const decode = (ids: readonly number[]): string =>
    ids
      .map((id) => words[id])
      .join('')
      .replace('<byte 1><byte 2>', 'é')
      .replace(/<byte .>/, '\uFFFD');
  const texts = new TokenTexts({
    all_special_ids: [0],
    vocab_size: words.length,
    decode: (ids) => decode(ids as number[]),
    convert_ids_to_tokens: (ids: readonly number[]) => ids.map((id) => words[id] ?? ''),
  } as ConstructorParameters<typeof TokenTexts>[0]);

  it('gives every token the text it adds', () => {
    expect(texts.pieces([0, 1, 2, 3])).toEqual([
      { text: '<s>', special: true },
      { text: 'Hello', special: false },
      { text: ' there', special: false },
      { text: '!', special: false },
    ]);
  });

  it('names the bytes of a character, and ids that no token has', () => {
    expect(texts.piece([1, 4]).text).toBe('<byte 1>');
    expect(texts.piece([1, 4, 5]).text).toBe('<byte 2>');
    expect(texts.piece([1, 9]).text).toBe('#9');
  });
});
