// node scripts/run.mjs link <linker> <arguments>: the linker of the WebAssembly as CMake calls it (CMAKE_CXX_LINKER_LAUNCHER),
// through the cache of what was linked before.

import { join } from 'node:path';

import { inProject } from './build/fresh.js';
import { type Command, reportErrors } from './main.js';
import { cacheFolder } from './toolchain/cache.js';
import { cachedLink } from './toolchain/link_cache.js';

export const command: Command = ([linker = '', ...args]) =>
  reportErrors(async () => {
    const cache = { folder: join(cacheFolder(), 'links'), project: inProject() };
    process.exitCode = await cachedLink(linker, args, cache);
  });
