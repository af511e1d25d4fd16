// Type declarations: keeps those reachable from the entries.

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { run } from '../toolchain/progress.js';
import { inProject } from './fresh.js';

/** Adds a file and all that it imports. */
function reach(file: string, found: Set<string>): void {
  if (found.has(file) || !existsSync(file)) return;
  found.add(file);
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(
    /(?:from|import\(|import)\s*['"](\.[^'"]*)\.js['"]/g,
  )) {
    reach(join(dirname(file), `${path}.d.ts`), found);
  }
}

export async function emitDeclarations(): Promise<void> {
  const tsc = inProject('node_modules/typescript/bin/tsc');
  await run(process.execPath, [tsc, '-p', inProject('tsconfig.package.json')], { cwd: inProject() });
  const folder = inProject('dist');
  const found = new Set<string>();
  for (const entry of ['index', 'tokenizer', 'chat_template', 'whole', 'elements', 'worker']) {
    reach(join(folder, `${entry}.d.ts`), found);
  }
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (file.endsWith('.d.ts') && !found.has(file)) rmSync(file);
  }
}
