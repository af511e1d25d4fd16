// The cache of linked programs, with a linker that joins its inputs and counts its calls.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { cachedLink } from '../../scripts/toolchain/link_cache.js';

const before = process.cwd();
let folder: string;
let linker: string;
let said: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'clearformer-links-'));
  linker = join(folder, 'linker');
  writeFileSync(
    linker,
    `#!/bin/sh
echo called >> ${folder}/calls
[ "$1" = --fail ] && { echo "undefined symbol"; exit 3; }
cat one.o two.o > made.wasm
echo "$@" > made.mjs
echo "warning: $(cat one.o)"
echo "cache:INFO: a library was built"
`,
  );
  chmodSync(linker, 0o755);
  said = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => said.push(String(text)) > 0);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  process.chdir(before);
  rmSync(folder, { recursive: true });
});

const calls = (): number => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n').length;

/** A clone with two objects, as the working directory. */
function inClone(name: string, one = 'one'): string {
  const project = join(folder, name);
  mkdirSync(project, { recursive: true });
  process.chdir(project);
  for (const [file, text] of Object.entries({ 'one.o': one, 'two.o': 'two', 'library.js': 'code' }))
    writeFileSync(file, text);
  return project;
}

const linkIn = (project: string, more: readonly string[] = [], most?: number): Promise<number> => {
  const args = [...more, 'one.o', 'two.o', `--js-library=${project}/library.js`, '-o', 'made.mjs'];
  return cachedLink(linker, args, { project, folder: join(folder, 'kept'), ...(most !== undefined && { most }) });
};

it('puts every file in place again, also in another clone, with what the linker said', async () => {
  expect(await linkIn(inClone('a'))).toBe(0);
  expect(said.join('')).toBe('warning: one\ncache:INFO: a library was built\n');
  for (const clone of ['a', 'b']) {
    const project = inClone(clone);
    said = [];
    for (const file of ['made.mjs', 'made.wasm']) rmSync(file, { force: true });
    expect(await linkIn(project)).toBe(0);
    expect(readFileSync('made.wasm', 'utf8')).toBe('onetwo');
    expect(readdirSync('.').toSorted()).toEqual(['library.js', 'made.mjs', 'made.wasm', 'one.o', 'two.o']);
    expect(said.join('')).toBe('warning: one\n');
  }
  expect(calls()).toBe(1);
});

it('links again for another object, script, argument, response file, linker or setting', async () => {
  const project = inClone('a');
  let expected = 0;
  const linksAnew = async (more: readonly string[] = []): Promise<void> => {
    for (let times = 0; times < 2; times++) expect(await linkIn(project, more)).toBe(0);
    expect(calls()).toBe(++expected);
  };
  await linksAnew();
  writeFileSync('one.o', 'another');
  await linksAnew();
  expect(readFileSync('made.wasm', 'utf8')).toBe('anothertwo');
  writeFileSync('library.js', 'other code');
  await linksAnew();
  await linksAnew(['-O1']);
  writeFileSync('list.rsp', '"one.o" three.o');
  writeFileSync('three.o', 'three');
  await linksAnew(['@list.rsp']);
  writeFileSync('three.o', 'four');
  await linksAnew(['@list.rsp']);
  vi.stubEnv('EMCC_CFLAGS', '-g');
  await linksAnew();
  vi.unstubAllEnvs();
  writeFileSync(join(folder, 'emscripten-version.txt'), '7.0.0');
  await linksAnew();
  writeFileSync(join(folder, 'em-config'), `#!/bin/sh\necho ${folder}\n`, { mode: 0o755 });
  mkdirSync(join(folder, 'bin'));
  for (const program of ['clang', 'wasm-ld', 'bin/wasm-opt']) {
    writeFileSync(join(folder, program), 'newer than before');
    await linksAnew();
  }
});

it('keeps no failure, and passes its code and words on', async () => {
  const project = inClone('a');
  for (let times = 1; times <= 2; times++) {
    expect(await linkIn(project, ['--fail'])).toBe(3);
    expect(calls()).toBe(times);
  }
  expect(said).toEqual(['undefined symbol\n', 'undefined symbol\n']);
  expect(existsSync(join(folder, 'kept'))).toBe(false);
});

it('links without a cache that can be written, and says so', async () => {
  const log = vi.spyOn(console, 'log').mockReturnValue();
  writeFileSync(join(folder, 'kept'), 'a file');
  expect(await linkIn(inClone('a'))).toBe(0);
  expect(readFileSync('made.wasm', 'utf8')).toBe('onetwo');
  expect(log.mock.calls.join()).toMatch(/can't be kept in .*kept: Error: E/);
});

it('keeps the programs last used', async () => {
  const project = inClone('a');
  for (const argument of ['-a', '-b', '-a', '-c', '-a', '-b']) {
    await linkIn(project, [argument], 2);
    await new Promise((done) => setTimeout(done, 20)); // a later time
  }
  expect(calls()).toBe(4); // -b was given up for -c
  expect(readdirSync(join(folder, 'kept'))).toHaveLength(2);
});
