// The bad folders of tests/web/corpus in Chromium: each is refused there as in Node, word by word.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as library from 'clearformer';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BadFolder, Draw, type Reader } from '../corpus/folders.js';
import { complaint, kinds, type Refusal, refusalOf } from '../corpus/kinds.js';
import { launchChromium } from './chromium.js';
import { pageProgram, withPage } from './project_page.js';

const project = fileURLToPath(new URL('../../../', import.meta.url));
let folder: string;
let browser: Browser;
beforeAll(async () => {
  mkdirSync(join(project, 'build'), { recursive: true });
  folder = mkdtempSync(join(project, 'build/corpus-'));
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

/** A folder whose files are parts of one large file: the place of each, by name. */
interface Placed {
  reader: Reader;
  files: Record<string, readonly [start: number, end: number]>;
}

/** All distinct files one after the other, and where those of each folder are. */
function packed(cases: readonly BadFolder[]): { bytes: Buffer; placed: Placed[] } {
  const places = new Map<Uint8Array, readonly [number, number]>();
  const all: Uint8Array[] = [];
  let end = 0;
  const place = (bytes: Uint8Array) => {
    const known = places.get(bytes);
    if (known !== undefined) return known;
    const found = [end, end + bytes.length] as const;
    places.set(bytes, found);
    all.push(bytes);
    [, end] = found;
    return found;
  };
  const placed = cases.map(({ reader, files }) => ({
    reader,
    files: Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, place(bytes)])),
  }));
  return { bytes: Buffer.concat(all), placed };
}

/** In the page: how each folder is refused. */
async function refusals({ address, placed }: { address: string; placed: Placed[] }): Promise<Refusal[]> {
  const library = await import('/dist/index.js' as string);
  const bytes = new Uint8Array(await (await fetch(address)).arrayBuffer());
  const found: Refusal[] = [];
  for (const { reader, files } of placed) {
    const parts = Object.entries(files).map(([name, [start, end]]) => [name, bytes.slice(start, end)]);
    found.push(await refusalOf(library, reader, Object.fromEntries(parts)));
  }
  return found;
}

/** Newer engines add the line to what is wrong with JSON. */
const inEveryEngine = ({ code, message }: Refusal) => ({
  code,
  message: message.replace(/ \(line \d+ column \d+\)/, ''),
});

async function expectSameRefusals(cases: readonly BadFolder[]): Promise<void> {
  const { bytes, placed } = packed(cases);
  const file = join(folder, 'all.bin');
  writeFileSync(file, bytes);
  const address = `/${relative(project, file)}`;
  const program = pageProgram(refusals, { address, placed }, refusalOf);
  const found = await withPage(browser, {}, (page) => page.evaluate(program) as Promise<Refusal[]>);
  const here: Refusal[] = [];
  for (const { reader, files } of cases) here.push(await refusalOf(library, reader, files));
  expect(cases.flatMap((one, i) => complaint(one, found[i] as Refusal) ?? [])).toEqual([]);
  expect(found.map(inEveryEngine)).toEqual(here.map(inEveryEngine));
}

it('every folder', async () => {
  const cases = Object.values(kinds).flatMap((generate) => [...generate(new Draw(1))]);
  expect(cases.length).toBeGreaterThan(450);
  const start = performance.now();
  await expectSameRefusals(cases);
  console.log(`${cases.length} folders in ${((performance.now() - start) / 1000).toFixed(1)} s`);
});

const fresh = Date.now() % 2 ** 31;
it(`the seed ${fresh} changes nothing`, async () => {
  const draw = new Draw(fresh);
  await expectSameRefusals(Object.values(kinds).flatMap((generate) => draw.some([...generate(draw)], 8)));
});
