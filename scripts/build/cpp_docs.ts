// The C++ reference: pages from the public headers' comments, made by doxygen if it is installed. A class, function,
// type or constant without a comment is rejected, as in the package's reference; members may lack one.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { onPath } from '../toolchain/programs.js';
import { run, SetupError, step } from '../toolchain/progress.js';
import { tools } from './cmake.js';
import { digestOf, inProject, unlessFresh } from './fresh.js';

const home = 'scripts/docs';
const folder = inProject('build/cpp_docs');
const shownWarnings = 40;

/** Allowed warnings: members of documented classes, and specializations of documented templates. */
const allowed = /: warning: (Member .* of (class|struct) \S.* is not documented|Compound \S+< .* > is not documented)/;

async function publicHeaders(): Promise<string[]> {
  const { cmake } = await tools.build();
  const { stdout } = await run(cmake, ['-P', inProject('scripts/build/public_headers.cmake')]);
  return stdout.split('\n').filter(Boolean);
}

// Removes the scripts, which a strict content security policy blocks; they only add a menu for small screens.
function withoutScripts(): void {
  for (const name of readdirSync(join(folder, 'html'))) {
    const file = join(folder, 'html', name);
    if (name.endsWith('.js')) rmSync(file);
    if (!name.endsWith('.html')) continue;
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/<script\b[^>]*>[\s\S]*?<\/script>/g, '').replace(/ on\w+="[^"]*"/g, ''));
  }
}

async function makePages(doxygen: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const headers = (await publicHeaders()).map((header) => `cpp/${header}`);
  const own = [`INPUT = ${headers.join(' ')}`, `OUTPUT_DIRECTORY = ${folder}`, 'WARN_FORMAT = "$file:$line: $text"'];
  const input = [readFileSync(inProject(home, 'Doxyfile'), 'utf8'), ...own].join('\n');
  const { status, stderr } = spawnSync(doxygen, ['-'], { cwd: inProject(), input, encoding: 'utf8' });
  const warnings = stderr.split('\n').filter((line) => line && !allowed.test(line));
  if (status !== 0 || warnings.length > 0) {
    const shown = warnings.slice(0, shownWarnings).map((line) => line.replace(inProject(), ''));
    throw new SetupError(`doxygen (lines are one too high):\n${shown.join('\n')}`);
  }
  withoutScripts();
}

/** Writes the pages to `destination`; reports it if there is no doxygen. */
export async function buildCppDocs(destination: string): Promise<void> {
  const doxygen = onPath('doxygen');
  if (!doxygen) {
    console.log('• No doxygen: the documentation goes without the C++ reference. (Debian: apt-get install doxygen)');
    return;
  }
  const recipe = {
    stamp: inProject('build/cpp_docs.stamp'),
    digest: digestOf(
      ['cpp/clearformer', `${home}/Doxyfile`, `${home}/comments.sed`, 'scripts/build/cpp_docs.ts'].map((name) =>
        inProject(name),
      ),
    ),
    outputs: [join(folder, 'html/index.html')],
  };
  await unlessFresh(recipe, () => step('Making the C++ reference (build/page/docs/cpp)', () => makePages(doxygen)));
  if (existsSync(destination)) rmSync(destination, { recursive: true });
  cpSync(join(folder, 'html'), destination, { recursive: true });
}
