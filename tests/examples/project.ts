// The projects of web/examples as for a new user: copied to a temporary folder, with the packed package, and run with
// the commands of their READMEs.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll } from 'vitest';
import { pack } from '../../scripts/check/packed.js';

const run = promisify(execFile);
export const repository = fileURLToPath(new URL('../../', import.meta.url));
export const modelFolder = (name: string): string => join(repository, 'web/demo/public/models', name);

const home = mkdtempSync(join(tmpdir(), 'clearformer-examples-'));
const servers: ChildProcess[] = [];
afterAll(() => {
  for (const server of servers) end(server);
  rmSync(home, { recursive: true, force: true });
});

/** Ends a process and its children. */
export function end({ pid, exitCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // it has already exited
  }
}

let packed: Promise<string> | undefined;
/** The tarball of the package, packed once for the tests of a file. */
function tarball(): Promise<string> {
  packed ??= pack(home).then(({ filename }) => join(home, filename));
  return packed;
}

export interface Environment {
  [name: string]: string;
}

/** npm's environment for a README's commands: without audits, notices and colours. */
const quiet = {
  NO_COLOR: '1',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
  npm_config_prefer_offline: 'true',
};

export class Project {
  readonly #environment: Environment;

  private constructor(
    readonly folder: string,
    environment: Environment,
  ) {
    this.#environment = environment;
  }

  /** web/examples/`name` at the same path in an otherwise empty tree with the bundled models and the fixtures. */
  static async create(name: string, environment: Environment = {}): Promise<Project> {
    const tree = mkdtempSync(join(home, `${name}-`));
    const folder = join(tree, 'web/examples', name);
    cpSync(join(repository, 'web/examples', name), folder, {
      recursive: true,
      filter: (path) => !path.includes('node_modules'),
    });
    mkdirSync(join(tree, 'web/demo'), { recursive: true });
    symlinkSync(join(repository, 'web/demo/public'), join(tree, 'web/demo/public'));
    symlinkSync(join(repository, 'tests'), join(tree, 'tests'));
    const project = new Project(folder, { ...quiet, ...environment });
    const manifest = join(folder, 'package.json');
    if (project.files.includes('package.json')) {
      const { dependencies, ...rest } = JSON.parse(readFileSync(manifest, 'utf8'));
      dependencies.clearformer = `file:${await tarball()}`;
      writeFileSync(manifest, JSON.stringify({ ...rest, dependencies }));
    }
    return project;
  }

  get files(): string[] {
    return readdirSync(this.folder);
  }

  /** The lines of the README's shell blocks. */
  get commands(): string[] {
    const readme = readFileSync(join(this.folder, 'README.md'), 'utf8');
    const blocks = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, lines = '']) => lines.trim().split('\n'));
    return blocks.flat();
  }

  /** Runs the README's commands in order; resolves to the output of the last. */
  async follow(commands: readonly string[] = this.commands): Promise<string> {
    let printed = '';
    for (const command of commands)
      printed = (await run('sh', ['-c', command], { cwd: this.folder, env: this.#env(), maxBuffer: 1 << 26 })).stdout;
    return printed;
  }

  /** Starts a long-running command; its output so far is `text`. */
  start(command: string): Running {
    const child = spawn('sh', ['-c', command], {
      cwd: this.folder,
      env: this.#env(),
      detached: true, // a process group, so that its children can be ended with it
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    servers.push(child);
    return new Running(child);
  }

  /** Runs all commands but the last, which starts a server; resolves to the URL that the server prints. */
  async serve(): Promise<string> {
    const commands = this.commands;
    await this.follow(commands.slice(0, -1));
    const running = this.start(commands.at(-1) ?? '');
    const [url] = await running.says(/http:\/\/localhost:\d+\S*/);
    return url;
  }

  #env(): Environment {
    const own = Object.entries(process.env).filter(([name]) => !/^(npm_|VITEST|NODE_ENV)/i.test(name));
    return { ...(Object.fromEntries(own) as Environment), ...this.#environment };
  }
}

export class Running {
  text = '';
  readonly #child: ChildProcess;
  /** Its exit code. */
  readonly ended: Promise<number | null>;

  constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (part: string) => {
        this.text += part;
      });
    this.ended = new Promise((resolve) => child.on('close', (code) => resolve(code)));
  }

  /** Resolves to the match once the program has printed it. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.text);
      if (found) return found;
      if (this.#child.exitCode !== null) throw new Error(`It has ended without saying ${pattern}:\n${this.text}`);
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}
