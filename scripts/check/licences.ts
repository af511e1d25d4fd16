// THIRD_PARTY_LICENSES: must name every third-party part that the bundler and the linker included, with its current
// licence.

import { existsSync, readFileSync } from 'node:fs';

import { licencesFile, licencesText, partsOfOthers } from '../build/licences.js';
import { SetupError } from '../toolchain/progress.js';

export async function checkLicences(): Promise<string> {
  const parts = await partsOfOthers();
  const found = existsSync(licencesFile) ? readFileSync(licencesFile, 'utf8') : '';
  if (found === licencesText(parts)) return `${parts.length} parts of others`;
  const missing = parts.filter(({ name }) => !found.includes(`- ${name}\n`)).map(({ name }) => name);
  const what = missing.length > 0 ? `does not name ${missing.join(', ')}` : 'is not what the build holds';
  throw new SetupError(`THIRD_PARTY_LICENSES ${what}; "npm run build -- licences" makes it anew`);
}
