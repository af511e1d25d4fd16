// ccache, which finds again what was compiled from the same files before, also in another clone: the machine's if it is
// new enough, else that of a newer suite. Without one everything is compiled.

import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { haveApt, unpackPackages } from './apt.js';
import { cacheFolder, completeFolder } from './cache.js';
import { goodEnough } from './programs.js';
import { type Environment, SetupError } from './progress.js';
import { relocate } from './relocate.js';
import { ccacheMinimum, newerSuite } from './versions.js';

/** After a failure it is not tried again for a day: every start would wait for the network. */
const againAfterMs = 86_400_000;

async function program(): Promise<string | undefined> {
  const found = await goodEnough('ccache', ccacheMinimum);
  if (found || !(await haveApt())) return found;
  const root = join(cacheFolder(), `ccache-${newerSuite}`);
  const failed = statSync(`${root}.failed`, { throwIfNoEntry: false });
  if (failed && Date.now() - failed.mtimeMs < againAfterMs) return undefined;
  try {
    await completeFolder(root, `${newerSuite} 1`, async (temporary) => {
      await unpackPackages(temporary, newerSuite, ['ccache', 'patchelf'], { closure: true });
      await relocate(temporary, root, { folders: ['usr/bin'], programs: /\/bin\/ccache$/, libraries: /^$/ });
    });
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.log(`  not to be had as a package: install ccache to keep what is compiled.\n${error.message}`);
    writeFileSync(`${root}.failed`, '');
    return undefined;
  }
  return join(root, 'usr/bin/ccache');
}

/** Compiles through ccache: a program before the compiler's name, and its settings. */
export interface CompilerCache {
  launcher: string;
  env: Environment;
}

/** The cache for the clone in `project`. */
export async function findCompilerCache(project: string): Promise<CompilerCache | undefined> {
  const launcher = await program();
  if (launcher === undefined) return undefined;
  const env = {
    CCACHE_DIR: join(cacheFolder(), 'objects'),
    CCACHE_MAXSIZE: '1G',
    // Paths below the clone are relative, so that the same files have the same key everywhere.
    CCACHE_BASEDIR: project,
    CCACHE_NOHASHDIR: '1',
    // The compiler tells which headers it read: without preprocessing everything once more.
    CCACHE_DEPEND: '1',
    // What includes a precompiled header is kept, too; no file uses __TIME__ or defines what its header was compiled without.
    CCACHE_SLOPPINESS: 'pch_defines,time_macros',
  };
  return { launcher, env };
}
