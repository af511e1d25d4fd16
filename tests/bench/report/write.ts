// Writes the table and the plot to the files shown in the readme.

import { readFileSync, writeFileSync } from 'node:fs';

import { inProject } from '../../../scripts/build/fresh.js';
import { readResults } from '../results.js';
import { plot } from './plot.js';
import { betweenMarks, page, shortTable } from './table.js';

export function writeReport(): void {
  const results = readResults();
  if (Object.keys(results.measured).length === 0) return;
  writeFileSync(inProject('.github/bench.md'), page(results));
  writeFileSync(inProject('.github/bench.svg'), plot(results));
  const readme = inProject('README.md');
  writeFileSync(readme, betweenMarks(readFileSync(readme, 'utf8'), shortTable(results)));
  console.log('Written: .github/bench.md, .github/bench.svg, the short table of README.md');
}
