// What was linked from the same files before is found again, also in another clone: ccache keeps objects alone, and the linker of
// the WebAssembly optimises the whole program, which takes most of the time of a build whose objects are cached.

import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, parse, resolve } from 'node:path';

import { codeOf, query, run } from './progress.js';

export interface LinkCache {
  /** Where programs are kept, one folder each. */
  folder: string;
  /** The clone: paths below it have the same key everywhere. */
  project: string;
  /** How many programs are kept: those last used. */
  most?: number;
}

/** The file of each program with what the linker said. */
const saidFile = 'said.txt';
/** What Emscripten says once, when it builds one of its own libraries. */
const saidOnce = /^cache:INFO/;

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/**
 * Runs a linker, or puts in place what it made when it was called like that before, with whatever it said. Returns its exit
 * code; a link that failed is not kept.
 */
export async function cachedLink(linker: string, args: readonly string[], cache: LinkCache): Promise<number> {
  const output = args[args.indexOf('-o') + 1];
  if (!args.includes('-o') || output === undefined) return (await link(linker, args)).code;
  const made = outputsOf(output);
  const entry = join(cache.folder, await keyOf(linker, args, made, cache.project));
  if (existsSync(entry)) {
    noteUse(entry);
    for (const name of readdirSync(entry)) if (name !== saidFile) copyFileSync(join(entry, name), made.path(name));
    process.stdout.write(readFileSync(join(entry, saidFile)));
    return 0;
  }
  const before = made.times();
  const { code, said } = await link(linker, args);
  if (code !== 0) return code;
  const names = [...made.times()].filter(([name, time]) => before.get(name) !== time).map(([name]) => name);
  try {
    keep(entry, names.map(made.path), said);
    removeOld(cache);
  } catch (error) {
    console.log(`What was linked can't be kept in ${cache.folder}: ${error}`);
  }
  return 0;
}

async function link(linker: string, args: readonly string[]): Promise<{ code: number; said: string }> {
  const { code, output } = await run(linker, args, { check: false });
  process.stdout.write(output);
  const lasting = output.split('\n').filter((line) => !saidOnce.test(line));
  return { code: code < 0 ? 1 : code, said: lasting.join('\n') };
}

interface Outputs {
  path(name: string): string;
  has(path: string): boolean;
  /** When each was last written, by name. */
  times(): Map<string, number>;
}

/** The files beside the output of the same name with any extension: a linker writes several. */
function outputsOf(output: string): Outputs {
  const folder = resolve(dirname(output));
  const start = `${parse(output).name}.`;
  const path = (name: string): string => join(folder, name);
  const timesOf = (names: readonly string[]) =>
    new Map(names.filter((name) => name.startsWith(start)).map((name) => [name, statSync(path(name)).mtimeMs]));
  return {
    path,
    has: (file) => resolve(dirname(file)) === folder && basename(file).startsWith(start),
    times: () => timesOf(readdirSync(folder)),
  };
}

/** Before it is read, so that no other process removes it meanwhile. A cache that is not ours to write serves as well. */
function noteUse(entry: string): void {
  try {
    utimesSync(entry, new Date(), new Date());
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error))) throw error;
  }
}

/** What em++ runs: packages of their own, which may be newer than before while em++ is the same. */
async function programsOf(linker: string): Promise<string[]> {
  const settingOf = (name: string) => query(join(dirname(linker), 'em-config'), [name]);
  const [llvm, binaryen] = await Promise.all(['LLVM_ROOT', 'BINARYEN_ROOT'].map(settingOf));
  return [...['clang', 'wasm-ld'].map((name) => join(llvm ?? '', name)), join(binaryen ?? '', 'bin/wasm-opt')];
}

/** A digest of the linker, its settings in the environment, its arguments, and the contents of the files they name. */
async function keyOf(linker: string, args: readonly string[], made: Outputs, project: string): Promise<string> {
  const hash = createHash('sha256');
  const add = (text: string): void => void hash.update(`${text.replaceAll(project, '.')}\0`);
  for (const file of [linker, join(dirname(linker), 'emscripten-version.txt'), ...(await programsOf(linker))]) {
    const found = statSync(file, { throwIfNoEntry: false });
    add(`${found?.size} ${found?.mtimeMs}`); // as ccache knows a compiler
  }
  for (const [name, value] of Object.entries(process.env).toSorted())
    if (/^(EM|BINARYEN)/.test(name)) add(`${name}=${value}`);
  for (const word of args.flatMap(withResponse)) {
    add(word);
    for (const file of word.split(/[=,]/).filter((part) => isFile(part) && !made.has(part)))
      hash.update(readFileSync(file));
  }
  return hash.digest('hex');
}

/** `@file` stands for the arguments in the file. */
function withResponse(word: string): string[] {
  const file = word.slice(1);
  if (!word.startsWith('@') || !isFile(file)) return [word];
  return readFileSync(file, 'utf8')
    .split(/\s+/)
    .map((one) => one.replace(/^"(.*)"$/, '$1'));
}

function keep(entry: string, files: readonly string[], said: string): void {
  const unfinished = `${entry}.unfinished-${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  for (const file of files) copyFileSync(file, join(unfinished, basename(file)));
  writeFileSync(join(unfinished, saidFile), said);
  if (existsSync(entry)) rmSync(unfinished, { recursive: true });
  else renameSync(unfinished, entry);
}

function removeOld({ folder, most = 40 }: LinkCache): void {
  const paths = readdirSync(folder).map((name) => join(folder, name));
  const byAge = paths.map((path) => ({ path, used: statSync(path).mtimeMs })).toSorted((a, b) => b.used - a.used);
  for (const { path } of byAge.slice(most)) rmSync(path, { recursive: true, force: true });
}
