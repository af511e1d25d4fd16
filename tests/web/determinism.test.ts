// The same bits as on the recording machine, for every architecture, dtype and number of threads.

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { alone, digestsFile, digestsOf, recordedOf, type Subject, shared } from './support/digests.js';

const entry = new URL('../../dist/index.js', import.meta.url).href;
const root = fileURLToPath(new URL('../../', import.meta.url));
const found = (subjects: readonly Subject[]) => digestsOf([entry, root, subjects]);

it.runIf(process.env.DIGESTS === 'write')('is recorded', async () => {
  writeFileSync(digestsFile, `${JSON.stringify(await found(alone), null, 2)}\n`);
});

it('every architecture, and the bundled models in every dtype', async () => {
  expect(await found(alone)).toEqual(recordedOf(alone));
});

it('the bundled models with two and four threads', async () => {
  for (const threads of [2, 4]) {
    const subjects = shared.filter(({ numThreads }) => numThreads === threads);
    expect(await found(subjects)).toEqual(recordedOf(subjects));
  }
});
