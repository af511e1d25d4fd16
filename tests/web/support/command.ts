// Runs the command line, within this process or as a separate one, and creates folders for it.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
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
  /** The width of the terminal; default: none. */
  columns?: number;
}

let runs = 0;

/**
 * Runs `clearformer` with these arguments to its end, within this process, where most modules stay loaded. Arguments,
 * streams and exit are replaced; `runProcess` starts it as users do, which costs some tenths of a second of processor
 * time.
 */
export async function run(words: readonly string[], { stdin = '', columns }: RunOptions = {}): Promise<Result> {
  const result: Result = { code: null, out: '', err: '' };
  const collector = (name: 'out' | 'err') =>
    new Writable({
      decodeStrings: false,
      write(text: string, _encoding, done) {
        result[name] += text;
        done();
      },
    });
  const replaced = {
    argv: [process.execPath, program, ...words],
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: Object.assign(collector('out'), { columns }),
    stderr: collector('err'),
    exit: (code: number) => {
      result.code ??= code;
    },
  };
  const own = Object.keys(replaced).map((name) => [name, Object.getOwnPropertyDescriptor(process, name)] as const);
  const listeners = process.listeners('SIGINT');
  for (const [name, value] of Object.entries(replaced)) {
    Object.defineProperty(process, name, { value, configurable: true, writable: true });
  }
  try {
    await import(/* @vite-ignore */ `${pathToFileURL(program).href}?run=${runs++}`); // evaluates the program's file again
  } finally {
    for (const [name, descriptor] of own) Object.defineProperty(process, name, descriptor as PropertyDescriptor);
    for (const added of process.listeners('SIGINT')) {
      if (!listeners.includes(added)) process.off('SIGINT', added);
    }
  }
  return result;
}

export interface ProcessOptions extends RunOptions {
  cwd?: string;
}

/** Runs `clearformer` as a separate process. */
export function runProcess(words: readonly string[], { stdin = '', cwd }: ProcessOptions = {}): Promise<Result> {
  const child = spawn(process.execPath, [program, ...words], { ...(cwd !== undefined && { cwd }) });
  child.stdin.on('error', () => {}); // a program that reads no input may end before it is written
  child.stdin.end(stdin);
  return resultOf(child);
}

function resultOf(child: ChildProcessByStdio<Writable | null, Readable, Readable>): Promise<Result> {
  const text = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text.out += part;
  });
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    text.err += part;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...text })));
}

/** The JSON printed for these arguments. Fails the test unless the exit code is 0. */
export async function json(words: readonly string[], options?: RunOptions) {
  const { code, out, err } = await run([...words, '--json'], options);
  if (code !== 0) throw new Error(`clearformer ${words.join(' ')} exits with ${code}: ${err}`);
  return JSON.parse(out);
}

/** Runs a shell command, with "$CLEARFORMER" for the program. */
export function shell(line: string): Promise<Result> {
  const env = { ...process.env, CLEARFORMER: program, NODE: process.execPath };
  return resultOf(spawn('bash', ['-c', line], { env, stdio: ['ignore', 'pipe', 'pipe'] }));
}

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A temporary folder for the tests of this file: a copy of `source` with some files replaced, or removed (null). */
export function folderOf(source: string | undefined, files: Record<string, string | Uint8Array | null> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'clearformer-'));
  folders.push(folder);
  if (source !== undefined) cpSync(source, folder, { recursive: true });
  for (const [name, contents] of Object.entries(files)) {
    if (contents === null) rmSync(join(folder, name));
    else {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), contents);
    }
  }
  return folder;
}

/** A tokenizer.json whose words are w0, w1, … with those ids. */
export function numberedWords(count: number): string {
  const vocab = Object.fromEntries(Array.from({ length: count }, (_, id) => [`w${id}`, id]));
  const model = { type: 'WordLevel', vocab, unk_token: 'w0' };
  return JSON.stringify({ pre_tokenizer: { type: 'WhitespaceSplit' }, model });
}

/** The text of these ids with that tokenizer. */
export const numberedText = (ids: ArrayLike<number | bigint>) =>
  Array.from(ids as ArrayLike<number>, (id) => `w${id}`).join(' ');
