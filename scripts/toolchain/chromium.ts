// Chromium for the browser tests: the machine's; else installed by apt when running as root; else Debian's packages, unpacked
// privately. With headless_shell if available, the same engine without windows, which opens a page in half of the processor
// time.

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { haveApt, installPackages, ownSuite, unpackPackages } from './apt.js';
import { cacheFolder, completeFolder } from './cache.js';
import { onPath } from './programs.js';
import { query, SetupError } from './progress.js';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const macChrome = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
const packages = ['chromium', 'fonts-dejavu-core'];
const shell = 'chromium-headless-shell';

/** Resolves to the path of a Chromium that starts. */
export async function findChromium(): Promise<string> {
  const { CHROMIUM } = process.env;
  if (CHROMIUM) {
    if (await starts(CHROMIUM)) return CHROMIUM;
    throw new SetupError(`CHROMIUM is set to ${CHROMIUM}, which does not start.`);
  }
  for (const file of [...names.map(onPath), macChrome])
    if (file && existsSync(file) && (await starts(file))) return file;
  const reasons: string[] = [];
  for (const provide of [installed, unpacked]) {
    try {
      const file = await provide();
      if (file && (await starts(file))) return file;
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      reasons.push(error.message);
    }
  }
  const why = reasons.length > 0 ? `\n${reasons.join('\n')}` : '';
  throw new SetupError(
    `The browser tests need Chromium or Chrome, and none was found or could be installed.${why}\n` +
      "Install one with the system's package manager, or set CHROMIUM to its program.",
  );
}

const starts = async (file: string): Promise<boolean> =>
  /\d+\.\d+/.test(await query(file, ['--version', '--no-sandbox'], { timeout: 60_000 }));

async function installed(): Promise<string | undefined> {
  const both = await installPackages('Chromium', [...packages, shell]).catch((error: unknown) => {
    if (!(error instanceof SetupError)) throw error;
    return installPackages('Chromium', packages); // older Debians and Ubuntu have no package of the shell
  });
  return both ? onPath('chromium') : undefined;
}

/** The path of a working headless_shell; undefined if there is none. */
export async function findHeadlessShell(): Promise<string | undefined> {
  const file = onPath(shell);
  return file && (await starts(file)) ? file : undefined;
}

async function unpacked(): Promise<string | undefined> {
  const suite = ownSuite();
  if (!suite || !(await haveApt())) return undefined;
  const root = join(cacheFolder(), `chromium-${suite}`);
  await completeFolder(root, `${suite} 1`, async (temporary) => {
    // From the machine's own suite, and without a C library: the programs use the machine's.
    await unpackPackages(temporary, suite, packages, { closure: true, without: /^libc6_/ });
    writeLauncher(temporary, root);
  });
  return join(root, 'chromium-private');
}

// A script that starts the unpacked Chromium with its own libraries and fonts.
function writeLauncher(root: string, finalRoot: string): void {
  const folders = libraryFolders(root);
  const fonts = join(finalRoot, 'fonts.conf');
  const libraries = folders.map((each) => join(finalRoot, each)).join(':');
  const lines = [
    '#!/bin/sh',
    `export LD_LIBRARY_PATH='${libraries}' FONTCONFIG_FILE='${fonts}'`,
    `exec '${join(finalRoot, 'usr/lib/chromium/chromium')}' --no-sandbox "$@"`,
  ];
  writeFileSync(join(root, 'chromium-private'), `${lines.join('\n')}\n`, { mode: 0o755 });
  mkdirSync(join(root, 'font-cache'));
  const config = [
    '<?xml version="1.0"?>',
    '<!DOCTYPE fontconfig SYSTEM "fonts.dtd">',
    '<fontconfig>',
    `  <dir>${join(finalRoot, 'usr/share/fonts')}</dir>`,
    `  <cachedir>${join(finalRoot, 'font-cache')}</cachedir>`,
    '  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>',
    '</fontconfig>',
  ];
  writeFileSync(join(root, 'fonts.conf'), `${config.join('\n')}\n`);
}

// Older packages use /lib as well as /usr/lib, and some keep private libraries one folder deeper.
function libraryFolders(root: string): string[] {
  const triplet = readdirSync(join(root, 'usr/lib')).find((name) =>
    existsSync(join(root, 'usr/lib', name, 'libnss3.so')),
  );
  if (!triplet) throw new SetupError(`Chromium's libraries are missing in ${root}.`);
  const folders = ['usr/lib', 'lib'].flatMap((base) =>
    ['', 'nss', 'pulseaudio'].map((each) => join(base, triplet, each)),
  );
  return folders.filter((each) => existsSync(join(root, each)));
}
