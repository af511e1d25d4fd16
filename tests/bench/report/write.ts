// Writes the table and the plot to the files shown in the readme.

import { readFileSync, writeFileSync } from 'node:fs';

import { inProject } from '../../../scripts/build/fresh.js';
import { readResults } from '../results.js';
import { plot } from './plot.js';
import { betweenMarks, page, shortTable } from './table.js';

export function writeReport(): void {
  const machines = readResults();
  const [drawn] = machines;
  if (!drawn) return;
  writeFileSync(inProject('.github/bench.md'), page(machines));
  writeFileSync(inProject('.github/bench.svg'), plot(drawn));
  const readme = inProject('README.md');
  writeFileSync(readme, betweenMarks(readFileSync(readme, 'utf8'), shortTable(machines)));
  console.log('Written: .github/bench.md, .github/bench.svg, the short table of README.md');
}
