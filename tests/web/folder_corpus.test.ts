// Invalid folders of every kind: each is refused with a typed error that names the file, the key and the value, and
// validate reports the same. A seed selects the values; a fresh one must not change the result.

import * as library from 'clearformer';
import { describe, expect, it } from 'vitest';
import { type BadFolder, Draw } from './corpus/folders.js';
import { complaint, kinds, refusalOf } from './corpus/kinds.js';

const { validate } = library;

const refused = async (one: BadFolder) => complaint(one, await refusalOf(library, one.reader, one.files));

/** Whether validate reports the same for a folder with a model's files. */
async function untold({ title, files, words }: BadFolder): Promise<string | undefined> {
  const { valid, problems } = await validate(files);
  const told = problems.map(({ message }) => message);
  if (!valid && told.some((message) => words.every((word) => message.includes(word)))) return undefined;
  return `${title}: validate tells "${told.join('; ').slice(0, 300)}"`;
}

async function complaints(cases: Iterable<BadFolder>, check: (one: BadFolder) => Promise<string | undefined>) {
  const found: string[] = [];
  for (const one of cases) {
    const wrong = await check(one);
    if (wrong !== undefined) found.push(wrong);
  }
  return found;
}

describe('refused by name', () => {
  let count = 0;
  it.each(Object.entries(kinds))(
    '%s',
    async (_, generate) => {
      const cases = [...generate(new Draw(1))];
      count += cases.length;
      expect(await complaints(cases, refused)).toEqual([]);
    },
    60_000,
  );

  it('450 of them', () => expect(count).toBeGreaterThan(450));
});

describe('told by validate', () => {
  it.each(Object.entries(kinds))(
    '%s',
    async (_, generate) => {
      const draw = new Draw(2);
      const whole = [...generate(draw)].filter(({ files }) => 'config.json' in files && 'model.safetensors' in files);
      expect(await complaints(draw.some(whole, 12), untold)).toEqual([]);
    },
    60_000,
  );
});

const fresh = Date.now() % 2 ** 31;
it(`the seed ${fresh} changes nothing`, async () => {
  const draw = new Draw(fresh);
  const cases = Object.values(kinds).flatMap((generate) => draw.some([...generate(draw)], 8));
  expect(await complaints(cases, refused)).toEqual([]);
}, 60_000);
