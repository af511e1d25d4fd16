// Measures a model in Node, where it is read from the disk, and in Chromium, where it is given as files, each time in a new
// process.

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { inProject } from '../../../scripts/build/fresh.js';
import { findChromium } from '../../../scripts/toolchain.js';
import { browserFlags } from '../../web/browser/chromium.js';
import { serveFiles } from '../hosts/server.js';
import type { PublishedName } from './configurations.js';
import type { Dtype, Timed } from './subject.js';
import { filesOf, folderOf } from './write.js';

export const engines = ['node', 'chromium'] as const;
export type SizesEngine = (typeof engines)[number];

/** One row of the results. */
export interface Measured extends Timed {
  /** Bytes of the process at its peak, in Chromium of the page's; undefined if the system does not tell. */
  processBytes?: number;
  /** The engine's name and version. */
  engine: string;
  /** The machine's load (runnable processes, mean of a minute) when it began. */
  machineLoad: number;
}

const bundles = { child: 'build/bench/sizes/child.mjs', subject: 'build/bench/sizes/subject.js' };

/** Bundles the subject for pages and for processes. */
export async function bundleSubject(): Promise<void> {
  const { build } = await import('esbuild');
  const shared = { bundle: true, format: 'esm', target: 'es2022', logLevel: 'error' } as const;
  const file = (name: string): string[] => [inProject('tests/bench/sizes', name)];
  await build({ ...shared, entryPoints: file('subject.ts'), outfile: inProject(bundles.subject) });
  await build({ ...shared, entryPoints: file('child.ts'), outfile: inProject(bundles.child), platform: 'node' });
}

/** Measures in Node or in Chromium; rejects with the error that the load or the generation ended with. */
export function measureSize(
  engine: SizesEngine,
  name: PublishedName,
  dtype: Dtype,
): Promise<Omit<Measured, 'machineLoad'>> {
  return engine === 'node' ? inNode(name, dtype) : inChromium(name, dtype);
}

async function inNode(name: PublishedName, dtype: Dtype): Promise<Omit<Measured, 'machineLoad'>> {
  const args = [inProject(bundles.child), inProject('dist/index.js'), folderOf(name), dtype];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (text) => {
    output += text;
  });
  child.stderr.on('data', (text) => {
    errors += text;
  });
  const code = await new Promise((done) => child.on('close', done));
  if (code !== 0) throw new Error(/ClearformerError: (.*)/.exec(errors)?.[1] ?? (errors || `exit code ${code}`));
  return { ...JSON.parse(output), engine: `Node ${process.versions.node}` };
}

/** Defined by page.html. */
interface SizesPage {
  timeFiles(dtype: Dtype): Promise<Timed>;
}

async function inChromium(name: PublishedName, dtype: Dtype): Promise<Omit<Measured, 'machineLoad'>> {
  const server = await serveFiles();
  const browser = await chromium.launch({ executablePath: await findChromium(), args: browserFlags });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(0); // a busy machine is not an error
    await page.goto(`${server.url}/files/tests/bench/sizes/page.html`);
    await page.waitForFunction(() => document.title === 'ready');
    await page.setInputFiles('input', filesOf(name));
    const timed = await page.evaluate((asked) => (globalThis as unknown as SizesPage).timeFiles(asked), dtype);
    const processBytes = peakOfPages();
    return { ...timed, engine: `Chromium ${browser.version()}`, ...(processBytes !== undefined && { processBytes }) };
  } finally {
    await browser.close();
    server.close();
  }
}

/** The largest peak among the processes of pages, in bytes; undefined where there is no /proc. */
function peakOfPages(): number | undefined {
  try {
    const parents = new Map<number, number>();
    for (const entry of readdirSync('/proc')) {
      if (!/^\d+$/.test(entry)) continue;
      const parent = /^PPid:\s*(\d+)/m.exec(textOf(`/proc/${entry}/status`))?.[1];
      if (parent !== undefined) parents.set(Number(entry), Number(parent));
    }
    const isOurs = (pid: number | undefined): boolean =>
      pid !== undefined && (pid === process.pid || isOurs(parents.get(pid)));
    const peaks = [...parents.keys()]
      .filter((pid) => isOurs(pid) && textOf(`/proc/${pid}/cmdline`).includes('--type=renderer'))
      .map((pid) => 1024 * Number(/^VmHWM:\s*(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0));
    return peaks.length > 0 ? Math.max(...peaks) : undefined;
  } catch {
    return undefined;
  }
}

/** Empty for a process that has ended. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
