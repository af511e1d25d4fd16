// The package as users get it: packed, installed into an empty folder; and helpers that serve and open pages with it.

import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, BrowserContext } from 'playwright-core';
import { vi } from 'vitest';
import { pack } from '../../../scripts/check/packed.js';
import { casesOf } from './references.js';

export const run = promisify(execFile);
export const project = fileURLToPath(new URL('../../../', import.meta.url));
export const stories = join(project, 'web/demo/public/models/stories260K');
/** stories260K's greedy text, from PyTorch. */
export const greedyText = casesOf('stories260K').find((one) => one.name === 'greedy_200')?.text ?? '';

/** An empty folder with the package in node_modules and the model in public/model. */
export async function installPackage(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'clearformer-package-'));
  const { filename } = await pack(folder);
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const install = ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`];
  await run('npm', install, { cwd: folder });
  await mkdir(join(folder, 'public'));
  await cp(stories, join(folder, 'public/model'), { recursive: true });
  return folder;
}

export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

export { type Served, serveFolders as serve } from '../../matrix/serve.js';

/** The value of window.told on the page at `url`, and errors on the console. */
export async function toldBy(
  browser: Browser | BrowserContext,
  url: string,
): Promise<{ told: unknown; complaints: string[] }> {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(url);
  const told = await vi.waitUntil(() => page.evaluate('window.told'), { timeout: 60_000, interval: 50 });
  await page.close();
  return { told, complaints };
}
