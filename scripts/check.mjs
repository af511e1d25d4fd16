// npm run check: formats and lint, types, import directions, file lengths, the package's exports, download sizes.
// With "-- --fix" formats are put right instead of reported.

import { steps } from './build.mjs';
import { checkExports } from './check/exports.mjs';
import { checkCppFormat, checkWebFormat } from './check/formats.mjs';
import { checkLengths } from './check/lengths.mjs';
import { checkTypes } from './check/types.mjs';
import { checkImports } from './check-imports.mjs';
import { checkSizes } from './check-sizes.mjs';
import { main } from './main.mjs';
import { ensureModules } from './npm_modules.mjs';
import { SetupError, seconds } from './toolchain/progress.mjs';

const checks = {
  'format of C++': checkCppFormat,
  'format and lint of the rest': checkWebFormat,
  types: checkTypes,
  'import directions': checkImports,
  'file lengths': checkLengths,
  exports: checkExports,
  sizes: checkSizes,
};

/** Runs every check, says what each found, and throws if any failed. Needs the package in dist/. */
export async function check(fix = false) {
  const failed = [];
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

await main(
  import.meta,
  async (names) => {
    await ensureModules();
    await steps.wasm();
    await steps.package();
    await check(names.includes('--fix'));
  },
  ['--fix'],
);
