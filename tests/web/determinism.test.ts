// The same bits as on the recording machine, for every architecture, dtype and number of threads.

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import {
  alone,
  asTraining,
  digestsFile,
  digestsOf,
  recordedOf,
  recordedTraining,
  type Subject,
  shared,
  trainingDigest,
  trainingWith,
} from './support/digests.js';

const entry = new URL('../../dist/index.js', import.meta.url).href;
const root = fileURLToPath(new URL('../../', import.meta.url));
const found = (subjects: readonly Subject[]) => digestsOf([entry, root, subjects]);
const trained = (numThreads: number) => trainingDigest(trainingWith(entry, root, numThreads));

it.runIf(process.env.DIGESTS === 'write')('is recorded', async () => {
  writeFileSync(
    digestsFile,
    `${JSON.stringify({ ...(await found(alone)), ...asTraining(await trained(1)) }, null, 2)}\n`,
  );
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

it('the weights of a model that was trained, with one, two and four threads', async () => {
  expect(recordedTraining()).toMatch(/^[0-9a-f]{64}$/);
  for (const threads of [1, 2, 4]) expect(await trained(threads)).toBe(recordedTraining());
});
