// Hook functions in the worker of a page, of the package as users get it: built by Vite with and without a content
// security policy that forbids sources, in its dev server, from another host, and as one script.

import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { build, createServer as createViteServer } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPackage, serve, toldBy, writeFiles } from '../support/installed_package.js';
import { launchChromium } from './chromium.js';

const main = (from: string, settings = '{}') => `
import { AutoModelForCausalLM, configure } from '${from}';
configure(${settings});
const source = new URL('model/', document.baseURI);
const load = (worker) => AutoModelForCausalLM.from_pretrained(source, { worker, deterministic: true });
const surrounding = 2;
async function told() {
  const [there, here] = await Promise.all([load(true), load(false)]);
  const run = (model, ...hook) => model
    .run_with_hooks({ input_ids: [[1, 403]] }, { fwd_hooks: [['blocks.1.hook_resid_post', ...hook]] })
    .then(({ data }) => data[0], ({ code, message }) => code + (/is not defined|'unsafe-eval'/.exec(message)?.[0] ?? message));
  const module = new URL('twice.js', document.baseURI);
  const wanted = await run(here, (value) => value.mul(2));
  const found = [
    await run(there, (value, { constants }) => value.mul(constants.by), { by: 2 }),
    await run(there, (value, { F }) => F.matmul(value, Array.from({ length: 64 }, (_, i) => Array.from({ length: 64 }, (_, j) => (i === j ? 2 : 0))))),
    await run(there, { module }),
    await run(here, { module }),
    await run(there, (value) => value.mul(surrounding + document.childElementCount)),
  ];
  return found.map((one) => (one === wanted ? 'same' : one));
}
told().then((all) => { window.told = all; }, (error) => { window.told = String(error); });`;
const html =
  '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module" src="./main.js"></script>';

const free = ['same', 'same', 'same', 'same', 'invalid_argumentis not defined'];
const strict = ["unsupported'unsafe-eval'", "unsupported'unsafe-eval'", 'same', 'same', "unsupported'unsafe-eval'"];

let folder: string;
let browser: Browser;
beforeAll(async () => {
  folder = await installPackage();
  await writeFiles(folder, {
    'index.html': html,
    'main.js': main('clearformer'),
    'inline/index.html': html,
    'inline/main.js': main('clearformer/inline'),
    'public/twice.js': 'export default (value) => value.mul(2);',
  });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await rm(folder, { recursive: true });
});

async function expectTold(folders: string[], headers: Record<string, string>, wanted: unknown): Promise<void> {
  const server = await serve(folders, headers);
  const { told } = await toldBy(browser, server.url);
  server.stop();
  expect(told).toEqual(wanted);
}

describe('hook functions in a worker', () => {
  it.each([
    ['', "'self'", "'self'"],
    ['inline', "'self' blob:", "'self' blob:"],
    ['inline', "'self'", 'blob:'],
  ])(
    'as Vite builds them (%s; script-src %s; worker-src %s): their source where the policy allows it, else modules',
    async (root, scripts, workers) => {
      const outDir = join(folder, `out${root}`);
      const publicDir = join(folder, 'public');
      await build({
        root: join(folder, root),
        publicDir,
        configFile: false,
        base: './',
        logLevel: 'error',
        build: { outDir },
      });
      const policy = (more: string) =>
        `default-src 'self'; script-src ${scripts} 'wasm-unsafe-eval'${more}; worker-src ${workers}; img-src data:`;
      await expectTold([outDir], { 'content-security-policy': policy('') }, strict);
      await expectTold([outDir], { 'content-security-policy': policy(" 'unsafe-eval'") }, free);
      const types = "; require-trusted-types-for 'script'; trusted-types clearformer";
      await expectTold([outDir], { 'content-security-policy': policy(" 'unsafe-eval'") + types }, strict);
    },
  );

  it('from one script, whose worker is a file under the same policy', async () => {
    const dist = '/node_modules/clearformer/dist';
    await writeFiles(folder, {
      'file/index.html': html,
      'file/main.js': main(`${dist}/inline.js`, `{ workerUrl: '${dist}/worker.js?v=1/2' }`),
    });
    const policy = (scripts: string) =>
      `default-src 'self'; script-src ${scripts} 'wasm-unsafe-eval'; worker-src 'self'; img-src data:`;
    const folders = [join(folder, 'file'), folder, join(folder, 'public')];
    await expectTold(folders, { 'content-security-policy': policy("'self'") }, strict);
    await expectTold(folders, { 'content-security-policy': policy("'self' 'unsafe-eval'") }, free);
    await writeFiles(folder, {
      'alone/index.html': html,
      'alone/main.js': main(`${dist}/inline.js`, `{ workerUrl: '/worker.js' }`),
      'alone/worker.js': await readFile(join(folder, dist, 'worker.js'), 'utf8'),
    });
    const cure = expect.stringContaining(
      "serve clearformer's dist/hook_functions.js there, which script-src must allow",
    );
    await expectTold([join(folder, 'alone'), ...folders.slice(1)], {}, [cure, cure, cure, 'same', cure]);
  });

  it("in Vite's dev server", async () => {
    const server = await createViteServer({
      root: folder,
      configFile: false,
      logLevel: 'error',
      server: { host: '127.0.0.1', port: 0 },
    });
    await server.listen();
    const { told, complaints } = await toldBy(browser, server.resolvedUrls?.local[0] ?? '');
    await server.close();
    expect(told).toEqual(free);
    expect(complaints).toEqual([]);
  });

  it('without a bundler, from another host', async () => {
    const open = { 'access-control-allow-origin': '*' };
    const cdn = await serve([join(folder, 'node_modules')], open);
    await writeFiles(folder, { 'far/index.html': html, 'far/main.js': main(`${cdn.url}clearformer/dist/index.js`) });
    await expectTold([join(folder, 'far'), join(folder, 'public')], {}, free);
    cdn.stop();
  });
});
