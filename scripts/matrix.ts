// npm run matrix [-- name …]: tests the packed package in every environment of tests/matrix/projects.ts whose name
// contains one of the arguments: installed from the registry, built, run in Chromium or by its own engine. The text
// that stories260K generates there is compared with the result in this repository. Writes the table in
// web/examples/bundlers.md.

import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, chromium } from 'playwright-core';
import type { Extension, Page, Project, Server } from '../tests/matrix/project.js';
import { projects } from '../tests/matrix/projects.js';
import { serveFolders } from '../tests/matrix/serve.js';
import { browserFlags } from '../tests/web/browser/chromium.js';
import { inProject } from './build/fresh.js';
import { steps } from './build.js';
import { pack } from './check/packed.js';
import { type Command, reportErrors } from './main.js';
import { messageOf } from './message_of.js';
import { cacheFolder } from './toolchain/cache.js';
import { run, SetupError, step } from './toolchain/progress.js';
import { findChromium } from './toolchain.js';

const page = inProject('web/examples/bundlers.md');
const model = inProject('web/demo/public/models/stories260K');
const patience = 90_000;

/** A setting in the docs: the code block after its marker. */
function settingOf(name: string): string {
  const found = new RegExp(`<!-- setting: ${name} -->\\s*\`\`\`\\w*\\n([\\s\\S]*?)\`\`\``).exec(
    readFileSync(page, 'utf8'),
  );
  if (!found?.[1]) throw new SetupError(`web/examples/bundlers.md has no setting ${name}.`);
  return found[1];
}

interface Row {
  name: string;
  version: string;
  /** What is wrong; empty if the text is right. */
  fault: string;
  settings: readonly string[];
}

/** The environment of a project's commands: the programs of its packages come first in PATH. */
const environmentOf = (folder: string): Record<string, string> => ({
  PATH: [join(folder, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  CI: '1',
  NO_COLOR: '1',
  NEXT_TELEMETRY_DISABLED: '1',
  ASTRO_TELEMETRY_DISABLED: '1',
});

const shell = (command: string, cwd: string): Promise<{ stdout: string }> =>
  run('sh', ['-c', command], { cwd, env: environmentOf(cwd), timeout: 5 * patience });

/** A folder with the project's files, the model, and its packages. */
async function prepare(project: Project, tarball: string): Promise<string> {
  const folder = join(cacheFolder(), 'matrix', project.name.replace(/\W+/g, '-').toLowerCase());
  mkdirSync(folder, { recursive: true });
  const kept = ['node_modules', 'package.json'];
  for (const old of [...readdirSync(folder).filter((name) => !kept.includes(name)), 'node_modules/clearformer'])
    rmSync(join(folder, old), { recursive: true, force: true });
  const settings = Object.entries(project.settings ?? {}).map(([file, name]) => [file, settingOf(name)] as const);
  for (const [file, text] of [...Object.entries(project.files), ...settings]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  cpSync(model, join(folder, 'public/model'), { recursive: true });
  const dependencies = { ...project.packages, clearformer: `file:${tarball}` };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }));
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder });
  return folder;
}

/** The version of its first package, or else of the browser or of Node. */
function versionOf(project: Project, folder: string, browser: Browser): string {
  const name = Object.keys(project.packages)[0];
  if (name === undefined)
    return project.run.kind === 'page' ? `Chromium ${browser.version()}` : process.version.slice(1);
  return JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;
}

/** Polls `self.told` in a page or an extension's background. From outside, since policies of pages block waiting inside. */
async function toldIn({ evaluate }: { evaluate(expression: string): Promise<unknown> }): Promise<string> {
  for (const end = Date.now() + patience; Date.now() < end; await sleep(50)) {
    const told = await evaluate('self.told');
    if (told !== undefined) return String(told);
  }
  return `nothing within ${patience / 1000} s`;
}

async function toldBy(browser: Browser, url: string): Promise<string> {
  const opened = await browser.newPage();
  const complaints: string[] = [];
  opened.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
  opened.on('pageerror', ({ message }) => complaints.push(message));
  try {
    await opened.goto(url, { timeout: patience });
    return [await toldIn({ evaluate: (expression) => opened.evaluate(expression) }), ...complaints].join('\n');
  } finally {
    await opened.close();
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
    });
  });

/** Everything the project outputs, which should all contain the same text. */
async function textsOf({ run: how }: Project, folder: string, browser: Browser): Promise<string[]> {
  if (how.kind === 'program') return [(await shell(how.command, folder)).stdout];
  if (how.kind === 'page') return [await toldByPage(how, folder, browser)];
  return how.kind === 'extension' ? [await toldByExtension(how, folder)] : toldByServer(how, folder, browser);
}

async function toldByPage(
  { folder: root, headers, path = '' }: Page,
  folder: string,
  browser: Browser,
): Promise<string> {
  const served = await serveFolders([join(folder, root)], headers);
  try {
    return await toldBy(browser, served.url + path);
  } finally {
    served.stop();
  }
}

async function toldByServer(how: Server, folder: string, browser: Browser): Promise<string[]> {
  const { command, page, answers = [] } = how;
  const port = await freePort();
  const server = spawn('sh', ['-c', `exec ${command}`], {
    cwd: folder,
    env: { ...process.env, ...environmentOf(folder), PORT: String(port) },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [server.stdout, server.stderr])
    stream.on('data', (data: Buffer) => {
      output += data;
    });
  const ended = new Promise<never>((_, fail) => server.on('exit', () => fail(new Error('The server has ended.'))));
  ended.catch(() => {}); // when it is no longer needed
  const at = (path: string): string => `http://127.0.0.1:${port}${path}`;
  try {
    await Promise.race([ended, answering(at(page ?? answers[0] ?? '/'))]);
    const texts = page === undefined ? [] : [await toldBy(browser, at(page))];
    for (const path of answers) texts.push(unescaped(await (await fetch(at(path))).text()));
    return texts;
  } catch (error) {
    throw new Error(`${messageOf(error)}\n${output.slice(-2000)}`);
  } finally {
    if (server.pid !== undefined && server.exitCode === null) process.kill(-server.pid);
  }
}

async function toldByExtension({ folder: root }: Extension, folder: string): Promise<string> {
  const extension = join(folder, root);
  const profile = mkdtempSync(join(tmpdir(), 'clearformer-profile-'));
  const loading = ['--headless=new', `--disable-extensions-except=${extension}`, `--load-extension=${extension}`];
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: await findChromium(),
    headless: false, // Playwright's own headless browser has no extensions
    args: [...browserFlags, ...loading],
  });
  try {
    const background = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
    return await toldIn({ evaluate: (expression) => background.evaluate(expression) });
  } finally {
    await context.close();
    rmSync(profile, { recursive: true });
  }
}

async function answering(url: string): Promise<void> {
  const end = Date.now() + patience;
  while (Date.now() < end) {
    if (
      await fetch(url).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
    await sleep(200);
  }
  throw new Error(`${url} did not answer`);
}

const unescaped = (text: string): string => text.replaceAll('&#x27;', "'").replaceAll('&quot;', '"');

async function rowOf(project: Project, tarball: string, browser: Browser, expected: string): Promise<Row> {
  const settings = [...new Set(Object.values(project.settings ?? {}))];
  let version = '';
  try {
    const folder = await prepare(project, tarball);
    version = versionOf(project, folder, browser);
    for (const command of project.build ?? []) await shell(command, folder);
    const wrong = (await textsOf(project, folder, browser)).find((text) => !text.includes(expected));
    return { name: project.name, version, settings, fault: wrong === undefined ? '' : `says ${wrong.slice(0, 300)}` };
  } catch (error) {
    return { name: project.name, version, settings, fault: messageOf(error) };
  }
}

/** Writes the table, with these rows replacing those of the same name. */
function writeTable(rows: readonly Row[]): void {
  const text = readFileSync(page, 'utf8');
  const [begin, end] = ['<!-- matrix: begin -->\n', '<!-- matrix: end -->'];
  const [before = '', rest = ''] = text.split(begin);
  const [table = '', after = ''] = rest.split(end);
  const lines = new Map(
    table
      .split('\n')
      .flatMap((line) => (/^\| (?!place|---)/.test(line) ? [[line.split(' | ')[0]?.slice(2), line]] : [])),
  );
  const date = new Date().toISOString().slice(0, 10);
  for (const { name, version, fault, settings } of rows) {
    const needs = settings.map((each) => `\`${each}\``).join(', ') || 'none';
    lines.set(name, `| ${name} | ${version} | ${needs} | ${fault === '' ? 'works' : 'fails'} | ${date} |`);
  }
  const kept = projects.flatMap(({ name }) => lines.get(name) ?? []);
  const head = '| place | version | setting | | checked |\n| --- | --- | --- | --- | --- |\n';
  writeFileSync(page, `${before}${begin}${head}${kept.join('\n')}\n${end}${after}`);
}

async function matrix(words: readonly string[]): Promise<void> {
  await steps.package();
  const home = join(cacheFolder(), 'matrix');
  mkdirSync(home, { recursive: true });
  const tarball = join(home, (await pack(home)).filename);
  const chosen = projects.filter(
    ({ name }) => words.length === 0 || words.some((word) => name.toLowerCase().includes(word.toLowerCase())),
  );
  const own = `import { AutoModelForCausalLM, AutoTokenizer } from './dist/whole.js';
    const tokenizer = await AutoTokenizer.from_pretrained('${model}');
    const ids = await (await AutoModelForCausalLM.from_pretrained('${model}')).generate(tokenizer('Once upon a time'), { max_new_tokens: 200, eos_token_id: null });
    console.log(tokenizer.batch_decode(ids, { skip_special_tokens: true })[0]);`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', own], { cwd: inProject() });
  const expected = stdout.trim();
  if (!existsSync(tarball) || expected.length < 100)
    throw new SetupError('The package of this repository does not run.');
  const rows: Row[] = [];
  const browser = await chromium.launch({ executablePath: await findChromium(), args: browserFlags });
  try {
    for (const project of chosen) {
      const row = await step(project.name, () => rowOf(project, tarball, browser, expected));
      if (row.fault !== '') console.log(`FAILED ${row.name}: ${row.fault}`);
      rows.push(row);
      writeTable([row]);
    }
  } finally {
    await browser.close();
  }
  const failed = rows.filter(({ fault }) => fault !== '');
  if (failed.length > 0) throw new SetupError(`Failed: ${failed.map(({ name }) => name).join('; ')}.`);
}

export const command: Command = (words) => reportErrors(() => matrix(words));
