// Firefox for the browser tests: the machine's, else installed by apt when running as root. Without it its tests are
// skipped: Chromium's cover the same page.

import { existsSync } from 'node:fs';

import { installPackages } from './apt.js';
import { onPath } from './programs.js';
import { query, SetupError } from './progress.js';

const names = ['firefox-esr', 'firefox'];
const macFirefox = '/Applications/Firefox.app/Contents/MacOS/firefox';

/** Resolves to the path of a Firefox that starts; without one reports the reason and resolves to undefined. */
export async function findFirefox(): Promise<string | undefined> {
  const { FIREFOX } = process.env;
  if (FIREFOX) {
    if (await starts(FIREFOX)) return FIREFOX;
    throw new SetupError(`FIREFOX is set to ${FIREFOX}, which does not start.`);
  }
  const present = await firstThatStarts();
  if (present) return present;
  let why = '';
  try {
    await installPackages('Firefox', ['firefox-esr', 'fonts-dejavu-core']);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    why = `\n${error.message}`;
  }
  const installed = await firstThatStarts();
  if (!installed)
    console.log(
      `• No Firefox: the page is not tested in it.${why}\n` +
        "  Install it with the system's package manager (Debian: firefox-esr), or set FIREFOX to its program.",
    );
  return installed;
}

async function firstThatStarts(): Promise<string | undefined> {
  for (const file of [...names.map(onPath), macFirefox])
    if (file && existsSync(file) && (await starts(file))) return file;
  return undefined;
}

const starts = async (file: string): Promise<boolean> =>
  /Firefox \d+\.\d+/.test(await query(file, ['--version'], { timeout: 60_000 }));
