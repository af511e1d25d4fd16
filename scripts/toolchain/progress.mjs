// Progress on the screen and child processes: every step says what it does, is never silent for long,
// and says how long it took. A command's output is kept and shown only if the command fails.
import { spawn } from 'node:child_process';

const HEARTBEAT_MS = 10_000;
const TAIL_LINES = 40;

/** An error whose message is meant for the reader as it is: no stack is printed for it. */
export class SetupError extends Error {}

export function seconds(since) {
  const elapsed = (Date.now() - since) / 1000;
  return elapsed < 10 ? `${elapsed.toFixed(1)} s` : `${Math.round(elapsed)} s`;
}

const finished = [];

/** What each finished step took, one a line, in the order in which they began. Steps may lie in one another. */
export function timesOfSteps() {
  const rows = finished.toSorted((a, b) => a.start - b.start);
  return rows.map(({ title, time }) => `${time.padStart(8)}  ${title}`).join('\n');
}

/** Runs `work`, printing its title, a line every ten seconds (with `status()`, if given) and its time. */
export async function step(title, work, status = () => '') {
  const start = Date.now();
  console.log(`• ${title} …`);
  const timer = setInterval(() => {
    const detail = status();
    console.log(`  … ${title}: ${seconds(start)}${detail ? `, ${detail}` : ''}`);
  }, HEARTBEAT_MS);
  try {
    const result = await work();
    finished.push({ title, start, time: seconds(start) });
    console.log(`  done in ${seconds(start)}: ${title}`);
    return result;
  } finally {
    clearInterval(timer);
  }
}

const children = new Set();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    for (const child of children) child.kill(signal);
    process.kill(process.pid, signal);
  });
}

/**
 * Runs a command. `show: true` passes its output through; otherwise it is returned as text, and a failure shows its
 * last lines. `check: false` returns a failure instead of throwing; `timeout` is in milliseconds.
 */
export function run(command, args, { cwd, env, show = false, check = true, timeout = 0 } = {}) {
  return new Promise((resolve, reject) => {
    const stdio = show ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'];
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio });
    const timer = timeout > 0 ? setTimeout(() => child.kill('SIGKILL'), timeout) : undefined;
    let output = '';
    let stdout = '';
    children.add(child);
    child.stdout?.on('data', (data) => {
      stdout += data;
      output += data;
    });
    child.stderr?.on('data', (data) => {
      output += data;
    });
    const finish = (code, reason) => {
      clearTimeout(timer);
      children.delete(child);
      if (code === 0 || !check) return resolve({ code, stdout, output });
      const tail = output.trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
      reject(new SetupError(`${command} ${args.join(' ')}\nfailed (${reason})${tail ? `:\n${tail}` : '.'}`));
    };
    child.on('error', (error) => finish(-1, error.message));
    child.on('close', (code, signal) => finish(code ?? -1, signal ? `signal ${signal}` : `exit code ${code}`));
  });
}

/** The output of a short query such as `--version`, or '' when the command is missing or fails. */
export async function query(command, args, options = {}) {
  const { code, output } = await run(command, args, { timeout: 20_000, ...options, check: false });
  return code === 0 ? output.trim() : '';
}

/** Runs `work` for every item, at most `width` at a time. */
export async function inParallel(items, width, work) {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
