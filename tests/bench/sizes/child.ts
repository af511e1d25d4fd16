// A Node process that measures one model: child.mjs <library> <folder> <dtype>; prints the result as JSON. Its times
// are those of the processor, which other programs do not change.

import { pathToFileURL } from 'node:url';
import { type Dtype, timeSubject } from './subject.js';

const [library = '', folder = '', dtype = 'q8'] = process.argv.slice(2);
const now = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const timed = await timeSubject(await import(pathToFileURL(library).href), folder, dtype as Dtype, now);
const processBytes = process.resourceUsage().maxRSS * 1024;
process.stdout.write(`${JSON.stringify({ ...timed, processBytes })}\n`);
