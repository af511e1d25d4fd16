// npm run real-sizes [-- model … dtype … node|chromium]: published configurations of language models with random weights: loads
// each in Node and in Chromium, generates 64 tokens after a prompt of 512, and writes load time, speed and peak memory to
// tests/bench/sizes/results.json and the table of web/examples/models.md; results of other models, dtypes, engines and processors
// are kept. Without arguments everything that fits in 4 GB. The weights (15 GB for all) are written to build/bench/sizes.

import { loadavg } from 'node:os';
import { pathToFileURL } from 'node:url';
import { thisMachine } from '../tests/bench/machine.js';
import { type PublishedName, publishedNames } from '../tests/bench/sizes/configurations.js';
import { bundleSubject, engines, measureSize, type SizesEngine } from '../tests/bench/sizes/measure.js';
import type { Dtype } from '../tests/bench/sizes/subject.js';
import { keepSizes, noteOf, type SizesResult } from '../tests/bench/sizes/table.js';
import { folderOf, writePublished } from '../tests/bench/sizes/write.js';
import { inProject } from './build/fresh.js';
import { steps } from './build.js';
import { commandOf } from './main.js';
import { messageOf } from './message_of.js';
import { step } from './toolchain/progress.js';

const dtypes = ['fp32', 'fp16', 'q8', 'q4'] as const satisfies readonly Dtype[];
type Word = PublishedName | Dtype | SizesEngine;

const chosen = <W extends Word>(all: readonly W[], words: readonly Word[]): readonly W[] => {
  const named = all.filter((word) => words.includes(word));
  return named.length > 0 ? named : all;
};

async function realSizes(words: readonly Word[]): Promise<void> {
  await steps.wasm();
  await steps.package();
  await bundleSubject();
  const { inspect } = (await import(pathToFileURL(inProject('dist/index.js')).href)) as typeof import('clearformer');
  const { cpu } = thisMachine();
  for (const model of chosen(publishedNames, words)) {
    await writePublished(model);
    const { peak } = await inspect(folderOf(model));
    for (const dtype of chosen(dtypes, words)) {
      for (const engine of chosen(engines, words)) {
        const machineLoad = Math.round(loadavg()[0] ?? 0);
        const date = new Date().toISOString().slice(0, 10);
        const told = { model, dtype, cpu, date, expected: peak?.[dtype] ?? 0 };
        const result: SizesResult = await step(`${model}, ${dtype}, ${engine}`, async () => {
          try {
            return { ...told, where: engine, measured: { ...(await measureSize(engine, model, dtype)), machineLoad } };
          } catch (error) {
            return { ...told, where: engine, refused: messageOf(error) };
          }
        });
        console.log(`    ${noteOf(result)}`);
        keepSizes(result);
      }
    }
  }
}

export const command = commandOf(realSizes, [...publishedNames, ...dtypes, ...engines]);
