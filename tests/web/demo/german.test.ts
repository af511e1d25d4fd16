// The German texts address the reader in one way: du, with the -e of the imperative where a verb may have one.

import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';

const folder = new URL('../../../web/demo/words/de/', import.meta.url);

/** All strings of a catalogue. */
const stringsOf = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Object.values(value ?? {}).flatMap(stringsOf);

const short =
  /(?<!\p{L}|[Ee]in )(?:beweg|bring|dreh|drück|geh|klick|leg|lern|schieb|schreib|stell|tipp|trag|versuch|zähl|zeig|zieh)(?!\p{L})/giu;
const formal = /\p{Ll}en Sie(?!\p{L})|(?<!\p{L})[Bb]itte(?!\p{L})/gu;

it('asks the reader in one form', async () => {
  const files = await readdir(folder);
  const texts = await Promise.all(files.map(async (file) => stringsOf(await import(new URL(file, folder).href))));
  expect(texts.flat().length).toBeGreaterThan(1000);
  expect(texts.flat().flatMap((text) => [...(text.match(short) ?? []), ...(text.match(formal) ?? [])])).toEqual([]);
});
