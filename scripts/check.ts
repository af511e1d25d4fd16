// npm run check: formats and lint, types, import directions, file lengths, unresolved conflicts, the package's exports
// and their comments, licences, links of packed pages, what is packed, download sizes.
// With "-- --fix" formats are corrected first.

import { steps } from './build.js';
import { checkConflicts } from './check/conflicts.js';
import { checkDocumented } from './check/documented.js';
import { checkExports } from './check/exports.js';
import { checkCppFormat, checkWebFormat, fixFormats } from './check/formats.js';
import { checkImports } from './check/imports.js';
import { checkLengths } from './check/lengths.js';
import { checkLicences } from './check/licences.js';
import { checkLinks } from './check/links.js';
import { checkPackage } from './check/packed.js';
import { checkSizes } from './check/sizes.js';
import { checkTypes } from './check/types.js';
import { commandOf } from './main.js';
import { SetupError, seconds } from './toolchain/progress.js';

const checks: Readonly<Record<string, () => Promise<string>>> = {
  types: checkTypes, // takes longest
  'format of C++': checkCppFormat,
  'format and lint of the rest': checkWebFormat,
  'import directions': checkImports,
  'file lengths': checkLengths,
  'unresolved conflicts': checkConflicts,
  exports: checkExports,
  documentation: checkDocumented,
  licences: checkLicences,
  'links of packed pages': checkLinks,
  'contents of the package': checkPackage,
  sizes: checkSizes,
};

interface Outcome {
  name: string;
  passed: boolean;
  report: string;
}

async function outcomeOf(name: string, work: () => Promise<string>): Promise<Outcome> {
  const start = Date.now();
  try {
    const detail = await work();
    return { name, passed: true, report: `ok (${seconds(start)})${detail ? `\n    ${detail}` : ''}` };
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return { name, passed: false, report: `FAILED\n${error.message}` };
  }
}

/** Runs all checks side by side, reports each result, and throws if any failed. Needs the package in dist/. */
export async function check(): Promise<void> {
  const outcomes = await Promise.all(Object.entries(checks).map(([name, work]) => outcomeOf(name, work)));
  for (const { name, report } of outcomes) console.log(`• ${name}: ${report}`);
  const failed = outcomes.filter(({ passed }) => !passed).map(({ name }) => name);
  if (failed.length > 0) throw new SetupError(`Failed: ${failed.join('; ')}.`);
}

export const command = commandOf(
  async (names) => {
    await steps.wasm();
    await steps.package();
    if (names.includes('--fix')) await fixFormats();
    await check();
  },
  ['--fix'],
);
