// The command line as a process, and folders for it to read.

import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

export const program = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));
export const bundledModel = (name: string) =>
  fileURLToPath(new URL(`../../../web/demo/public/models/${name}`, import.meta.url));

export interface Result {
  code: number | null;
  out: string;
  err: string;
}

export interface RunOptions {
  /** Contents of standard input; default: none. */
  stdin?: string | Uint8Array;
  cwd?: string;
  /** Node's own flags. */
  node?: readonly string[];
}

/** Runs `clearformer` with these words to its end. */
export function run(words: readonly string[], { stdin = '', cwd, node = [] }: RunOptions = {}): Promise<Result> {
  const child = spawn(process.execPath, [...node, program, ...words], { ...(cwd !== undefined && { cwd }) });
  const text = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text.out += part;
  });
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    text.err += part;
  });
  child.stdin.on('error', () => {}); // a program that reads no input may end before it is written
  child.stdin.end(stdin);
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...text })));
}

/** The JSON that the words print. Fails the test unless they exit with 0. */
export async function json(words: readonly string[], options?: RunOptions) {
  const { code, out, err } = await run([...words, '--json'], options);
  if (code !== 0) throw new Error(`clearformer ${words.join(' ')} exits with ${code}: ${err}`);
  return JSON.parse(out);
}

/** Runs a line of the shell, with "$CLEARFORMER" for the program. */
export function shell(line: string): Promise<Result> {
  const env = { ...process.env, CLEARFORMER: program, NODE: process.execPath };
  const child = spawn('bash', ['-c', line], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const text = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text.out += part;
  });
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    text.err += part;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...text })));
}

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder that goes away with the tests of this file: a copy of `source` with some files written anew, or left out (null). */
export function folderOf(source: string | undefined, files: Record<string, string | Uint8Array | null> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'clearformer-'));
  folders.push(folder);
  if (source !== undefined) cpSync(source, folder, { recursive: true });
  for (const [name, contents] of Object.entries(files)) {
    if (contents === null) rmSync(join(folder, name));
    else writeFileSync(join(folder, name), contents);
  }
  return folder;
}

/** A tokenizer.json whose words are w0, w1, … with those ids. */
export function numberedWords(count: number): string {
  const vocab = Object.fromEntries(Array.from({ length: count }, (_, id) => [`w${id}`, id]));
  const model = { type: 'WordLevel', vocab, unk_token: 'w0' };
  return JSON.stringify({ pre_tokenizer: { type: 'WhitespaceSplit' }, model });
}

/** The text that tokenizer makes these ids of. */
export const numberedText = (ids: ArrayLike<number | bigint>) =>
  Array.from(ids as ArrayLike<number>, (id) => `w${id}`).join(' ');
