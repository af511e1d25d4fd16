// npm run check: formats and lint, types, import directions, file lengths, unresolved conflicts, the package's exports
// and their comments, licences, links of packed pages, download sizes.
// With "-- --fix" formats are corrected instead of reported.

import { steps } from './build.js';
import { checkConflicts } from './check/conflicts.js';
import { checkDocumented } from './check/documented.js';
import { checkExports } from './check/exports.js';
import { checkCppFormat, checkWebFormat } from './check/formats.js';
import { checkImports } from './check/imports.js';
import { checkLengths } from './check/lengths.js';
import { checkLicences } from './check/licences.js';
import { checkLinks } from './check/links.js';
import { checkSizes } from './check/sizes.js';
import { checkTypes } from './check/types.js';
import { commandOf } from './main.js';
import { SetupError, seconds } from './toolchain/progress.js';

const checks: Readonly<Record<string, (fix: boolean) => Promise<string>>> = {
  'format of C++': checkCppFormat,
  'format and lint of the rest': checkWebFormat,
  types: checkTypes,
  'import directions': checkImports,
  'file lengths': checkLengths,
  'unresolved conflicts': checkConflicts,
  exports: checkExports,
  documentation: checkDocumented,
  licences: checkLicences,
  'links of packed pages': checkLinks,
  sizes: checkSizes,
};

/** Runs every check, reports each result, and throws if any failed. Needs the package in dist/. */
export async function check(fix = false): Promise<void> {
  const failed: string[] = [];
  for (const [name, work] of Object.entries(checks)) {
    const start = Date.now();
    try {
      const detail = await work(fix);
      console.log(`• ${name}: ok (${seconds(start)})${detail ? `\n    ${detail}` : ''}`);
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      console.log(`• ${name}: FAILED\n${error.message}`);
      failed.push(name);
    }
  }
  if (failed.length > 0) throw new SetupError(`Failed: ${failed.join('; ')}.`);
}

export const command = commandOf(
  async (names) => {
    await steps.wasm();
    await steps.package();
    await check(names.includes('--fix'));
  },
  ['--fix'],
);
