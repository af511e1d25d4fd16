// Example pages: their JavaScript as one program, its output, and the output stated on the page.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const examples = new URL('../../../web/examples/', import.meta.url);
const separator = '--- next block ---';

export interface Block {
  code: string;
  /** The output block below it; empty if there is none. */
  output: string;
}

/** A page's text. */
export const pageText = (name: string): string => readFileSync(new URL(name, examples), 'utf8');

/** Its js blocks, each with the following text block. */
export function blocksOf(text: string): Block[] {
  const found = [...text.matchAll(/^```(js|text)\n([\s\S]*?)^```$/gm)].map(([, kind, body]) => ({
    kind,
    body: body as string,
  }));
  return found.flatMap(({ kind, body }, i) => {
    const next = found[i + 1];
    return kind === 'js' ? [{ code: body, output: next?.kind === 'text' ? next.body : '' }] : [];
  });
}

/** Runs all blocks in Node as one module that imports the built package; resolves to the output of each. */
export async function printed(blocks: readonly Block[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'clearformer-page-'));
  try {
    const dist = new URL('../../../dist/index.js', import.meta.url).href;
    const program = blocks.map(({ code }) => code).join(`\nconsole.log('${separator}');\n`);
    const file = join(folder, 'page.mjs');
    writeFileSync(file, program.replace("from 'clearformer'", `from '${dist}'`));
    const { stdout } = await promisify(execFile)(process.execPath, [...process.execArgv, file]);
    return stdout.split(`${separator}\n`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
