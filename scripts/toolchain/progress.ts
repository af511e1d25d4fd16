// Progress output and child processes: every step prints its title and duration, and is never silent for long.
// A command's output is kept and shown only if the command fails.

import { type ChildProcess, spawn } from 'node:child_process';

const heartbeatMs = 10_000;
const tailLines = 40;

/** An error whose message is intended for the user: it is printed without a stack. */
export class SetupError extends Error {}

/** The code of a system error ("ENOENT"), or ''. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

export function seconds(since: number): string {
  const elapsed = (Date.now() - since) / 1000;
  return elapsed < 10 ? `${elapsed.toFixed(1)} s` : `${Math.round(elapsed)} s`;
}

export interface FinishedStep {
  title: string;
  start: number;
  time: string;
}

const finished: FinishedStep[] = [];

/** Records a step that ended before this program began. */
export function noteFinished(step: FinishedStep): void {
  finished.push(step);
}

/** The durations of all steps, one per line, in the order they began. Steps may be nested. */
export function timesOfSteps(): string {
  const rows = finished.toSorted((a, b) => a.start - b.start);
  return rows.map(({ title, time }) => `${time.padStart(8)}  ${title}`).join('\n');
}

/** Runs `work`, printing its title, a line every ten seconds (with `status()`, if given) and its time. */
export async function step<T>(title: string, work: () => T | Promise<T>, status: () => string = () => ''): Promise<T> {
  const start = Date.now();
  console.log(`• ${title} …`);
  const timer = setInterval(() => {
    const detail = status();
    console.log(`  … ${title}: ${seconds(start)}${detail ? `, ${detail}` : ''}`);
  }, heartbeatMs);
  try {
    const result = await work();
    finished.push({ title, start, time: seconds(start) });
    console.log(`  done in ${seconds(start)}: ${title}`);
    return result;
  } finally {
    clearInterval(timer);
  }
}

const children = new Set<ChildProcess>();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    for (const child of children) child.kill(signal);
    process.kill(process.pid, signal);
  });
}

/** Variables in addition to those of this process. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface RunOptions {
  cwd?: string;
  env?: Environment;
  /** Passes the output through; otherwise it is returned as text, and a failure shows its last lines. */
  show?: boolean;
  /** `false` returns a failure instead of throwing. */
  check?: boolean;
  /** Milliseconds. */
  timeout?: number;
}

export interface RunResult {
  code: number;
  stdout: string;
  /** Standard output and error, interleaved. */
  output: string;
}

/** Runs a command. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const { cwd, env, show = false, check = true, timeout = 0 } = options;
  return new Promise((resolve, reject) => {
    const shown = show ? 'inherit' : 'pipe';
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', shown, shown] });
    const timer = timeout > 0 ? setTimeout(() => child.kill('SIGKILL'), timeout) : undefined;
    let output = '';
    let stdout = '';
    children.add(child);
    child.stdout?.on('data', (data: Buffer) => {
      stdout += data;
      output += data;
    });
    child.stderr?.on('data', (data: Buffer) => {
      output += data;
    });
    const finish = (code: number, reason: string) => {
      clearTimeout(timer);
      children.delete(child);
      if (code === 0 || !check) return resolve({ code, stdout, output });
      const tail = output.trimEnd().split('\n').slice(-tailLines).join('\n');
      reject(new SetupError(`${command} ${args.join(' ')}\nfailed (${reason})${tail ? `:\n${tail}` : '.'}`));
    };
    child.on('error', (error) => finish(-1, error.message));
    child.on('close', (code, signal) => finish(code ?? -1, signal ? `signal ${signal}` : `exit code ${code}`));
  });
}

/** The output of a short query such as `--version`, or '' if the command is missing or fails. */
export async function query(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, output } = await run(command, args, { timeout: 20_000, ...options, check: false });
  return code === 0 ? output.trim() : '';
}

/** Runs `work` for every item, at most `width` at a time. */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
