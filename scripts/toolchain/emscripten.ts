// Emscripten: the one on PATH or of EMSDK if it is new enough, else emsdk, else Debian's packages of a newer suite.

import { accessSync, constants, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

import { haveApt, unpackPackages } from './apt.js';
import { cacheFolder, completeFolder, isComplete } from './cache.js';
import { type Environment, query, run, SetupError, step } from './progress.js';
import { makeLauncher, relocate } from './relocate.js';
import { atLeast, emscriptenMinimum, emsdkVersion, newerSuite } from './versions.js';

const emsdkRepository = 'https://github.com/emscripten-core/emsdk.git';
const probeMs = 10_000;

export interface Emscripten {
  emcc: string;
  root: string;
  version: string;
  /** Its origin. */
  origin: string;
  /** Environment variables that emcc needs in addition. */
  env: Environment;
}

export async function findEmscripten(): Promise<Emscripten> {
  // Installed ones take precedence over those to be downloaded, to avoid needing the network.
  for (const provide of [fromSystem, installedEmsdk, unpackedPackages, newEmsdk, newPackages]) {
    try {
      const found = await provide();
      if (found) return found;
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      console.log(`  not to be had this way:\n${error.message}`);
    }
  }
  throw new SetupError(
    `Emscripten ${emscriptenMinimum} or newer is needed to build the WebAssembly, and it could not be had:\n` +
      '- no new enough emcc is on PATH or under EMSDK;\n' +
      `- ${emsdkRepository} can't be reached, or its installation failed;\n` +
      `- packages of Debian's suite "${newerSuite}" can't be had by this system's apt.\n` +
      'Install it as https://emscripten.org/docs/getting_started/downloads.html says, then run this again.',
  );
}

async function describe(emcc: string, origin: string, env: Environment = {}): Promise<Emscripten | undefined> {
  const text = await query(emcc, ['--version'], { env, timeout: 60_000 });
  const version = /emcc .*?(\d+\.\d+\.\d+)/.exec(text)?.[1];
  if (!version) return undefined;
  const path = [dirname(emcc), process.env.PATH].join(delimiter);
  return { emcc, root: dirname(emcc), version, origin, env: { ...env, PATH: path } };
}

// The file that `emcc` on PATH refers to, with links resolved by emcc itself.
async function pathOfEmcc(): Promise<string | undefined> {
  const root = await query('em-config', ['EMSCRIPTEN_ROOT'], { timeout: 60_000 });
  const last = root.split('\n').at(-1);
  return last && existsSync(join(last, 'emcc')) ? join(last, 'emcc') : undefined;
}

async function fromSystem(): Promise<Emscripten | undefined> {
  const { EMSDK } = process.env;
  const candidates: { emcc: string | undefined; origin: string; env: Environment }[] = [
    { emcc: await pathOfEmcc(), origin: 'PATH', env: {} },
  ];
  if (EMSDK) {
    const env = { EM_CONFIG: join(EMSDK, '.emscripten') };
    candidates.push({ emcc: join(EMSDK, 'upstream/emscripten/emcc'), origin: 'EMSDK', env });
  }
  for (const { emcc, origin, env } of candidates) {
    const found = emcc && existsSync(emcc) && (await describe(emcc, origin, env));
    if (!found) continue;
    if (atLeast(found.version, emscriptenMinimum)) return withWritableCache(found);
    console.log(`• Emscripten ${found.version} (${origin}) is older than ${emscriptenMinimum}: not used`);
  }
  return undefined;
}

// Emscripten builds its system libraries on first use: if its own cache is read-only, it gets one in ours.
async function withWritableCache(found: Emscripten): Promise<Emscripten> {
  const cache = (await query(join(found.root, 'em-config'), ['CACHE'], { env: found.env })).split('\n').at(-1) ?? '';
  try {
    accessSync(existsSync(cache) ? cache : dirname(cache), constants.W_OK);
    return found;
  } catch {
    const own = join(cacheFolder(), `emscripten-libraries-${found.version}`);
    mkdirSync(own, { recursive: true });
    return { ...found, env: { ...found.env, EM_CACHE: own, EM_FROZEN_CACHE: '' } };
  }
}

const emsdkFolder = () => join(cacheFolder(), `emsdk-${emsdkVersion}`);

async function installedEmsdk(): Promise<Emscripten | undefined> {
  const folder = emsdkFolder();
  if (!isComplete(folder, emsdkVersion)) return undefined;
  const env = { EM_CONFIG: join(folder, '.emscripten'), EMSDK: folder };
  return describe(join(folder, 'upstream/emscripten/emcc'), 'emsdk', env);
}

async function newEmsdk(): Promise<Emscripten | undefined> {
  if (!(await reachable())) return undefined;
  await completeFolder(emsdkFolder(), emsdkVersion, installEmsdk);
  return installedEmsdk();
}

const gitEnv = { GIT_TERMINAL_PROMPT: '0' };

async function reachable(): Promise<boolean> {
  const options = { env: gitEnv, timeout: probeMs };
  return (await query('git', ['ls-remote', '--exit-code', emsdkRepository, 'HEAD'], options)) !== '';
}

async function installEmsdk(folder: string): Promise<void> {
  const clone = ['clone', '-q', '--depth', '1', emsdkRepository, folder];
  await step('Cloning emsdk', () => run('git', clone, { env: gitEnv, timeout: 300_000 }));
  const emsdk = join(folder, 'emsdk');
  await step(`Installing Emscripten ${emsdkVersion}`, () => run(emsdk, ['install', emsdkVersion]));
  await run(emsdk, ['activate', emsdkVersion]); // writes paths relative to its own folder
}

const packagesFolder = () => join(cacheFolder(), `emscripten-${newerSuite}`);
const packagesKey = `${newerSuite} 2`; // the number changes with the recipe below
const librariesFolder = () => join(cacheFolder(), `emscripten-libraries-${newerSuite}`);

async function unpackedPackages(): Promise<Emscripten | undefined> {
  const folder = packagesFolder();
  if (!isComplete(folder, packagesKey)) return undefined;
  const env = { EM_CONFIG: join(folder, 'emscripten.config'), EMSDK_PYTHON: join(folder, 'usr/bin/python3-private') };
  const root = join(folder, 'usr/share/emscripten');
  if (!existsSync(join(librariesFolder(), 'sysroot_install.stamp'))) {
    await step('Installing the headers of WebAssembly', () =>
      run(join(root, 'embuilder'), ['build', 'sysroot'], { env }),
    );
  }
  return describe(join(root, 'emcc'), `packages of ${newerSuite}`, env);
}

async function newPackages(): Promise<Emscripten | undefined> {
  if (!(await haveApt())) return undefined;
  await completeFolder(packagesFolder(), packagesKey, (temporary) => makeFromPackages(temporary, packagesFolder()));
  return unpackedPackages();
}

async function makeFromPackages(root: string, finalRoot: string): Promise<void> {
  await unpackPackages(root, newerSuite, ['emscripten', 'patchelf'], { closure: true });
  const llvm = join('usr/lib', readdirSync(join(root, 'usr/lib')).find((name) => /^llvm-\d+$/.test(name)) ?? '', 'bin');
  await relocate(root, finalRoot, {
    folders: [llvm, 'usr/bin'],
    programs: /\/llvm-\d+\/bin\/|\/bin\/wasm/,
    libraries: /\/lib(LLVM|clang-cpp)[^/]*\.so/,
  });
  makeLauncher(root, finalRoot, 'usr/bin/python3', 'usr/bin/python3-private');
  // The JavaScript optimiser imports its parser from a folder of this name.
  symlinkSync('../nodejs', join(root, 'usr/share/emscripten/node_modules'));
  const config = {
    LLVM_ROOT: join(finalRoot, llvm),
    BINARYEN_ROOT: join(finalRoot, 'usr'),
    NODE_JS: process.execPath,
    CACHE: librariesFolder(),
  };
  const lines = Object.entries(config).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  writeFileSync(join(root, 'emscripten.config'), `${lines.join('\n')}\n`);
}
