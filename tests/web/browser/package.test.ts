// The package as users get it: packed, installed into an empty folder, run in Node, in Vite's dev server, built by Vite
// under a strict content security policy, without any bundler, and from another host.

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { build, createServer as createViteServer } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { greedyText, installPackage, project, run, serve, stories, toldBy } from '../support/installed_package.js';
import { launchChromium } from './chromium.js';

/** The program of every consumer: one model per way of running it. */
const story = (from: string) => `
import { AutoModelForCausalLM, AutoTokenizer } from '${from}';
export async function story(source, ways) {
  const tokenizer = await AutoTokenizer.from_pretrained(source);
  const told = [];
  for (const way of ways) {
    const model = await AutoModelForCausalLM.from_pretrained(source, way);
    const { attentions } = await model(tokenizer('Once upon a time'), { output_attentions: true });
    const ids = await model.generate(tokenizer('Once upon a time'), { max_new_tokens: 200, eos_token_id: null });
    told.push({ text: tokenizer.batch_decode(ids, { skip_special_tokens: true })[0], dims: attentions[0].dims, ...model.info() });
    await model.dispose();
  }
  return told;
}`;
const main = `
import { story } from './story.js';
const model = new URL('model/', document.baseURI);
story(model, [{}, { worker: false }, { deterministic: true }]).then((told) => { window.told = told; }, (error) => { window.told = String(error); });`;
const html = (script: string) =>
  `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module" src="${script}"></script>`;

let folder: string;
let browser: Browser;
beforeAll(async () => {
  folder = await installPackage();
  await writeFile(join(folder, 'story.js'), story('clearformer'));
  await writeFile(join(folder, 'main.js'), main);
  await writeFile(join(folder, 'index.html'), html('./main.js'));
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await rm(folder, { recursive: true });
});

const isolation = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};
const expected = (worker: boolean, simd: string, threads: unknown = expect.objectContaining({ used: 1 })) =>
  expect.objectContaining({ text: greedyText, dims: [1, 8, 5, 5], worker, simd, threads });
/** Chromium runs both builds. */
const everyWay = [expected(true, 'relaxed'), expected(false, 'relaxed'), expected(true, 'simd128')];
/** As many threads as the machine has processors, at most four. */
const threads = expect.objectContaining({ used: Math.min(availableParallelism(), 4) });
const everyWayIsolated = [
  expected(true, 'relaxed', threads),
  expected(false, 'relaxed', threads),
  expected(true, 'simd128', threads),
];

describe('the installed package', () => {
  it('runs in Node, and its tokenizer without the WASM', async () => {
    const script = `
      const { story } = await import(${JSON.stringify(join(folder, 'story.js'))});
      const { AutoTokenizer } = await import('clearformer/tokenizer');
      await import('clearformer/elements');
      const tokenizer = await AutoTokenizer.from_pretrained(${JSON.stringify(stories)});
      console.log(JSON.stringify([await story(${JSON.stringify(stories)}, [{ worker: true, deterministic: true }, { deterministic: true }]), tokenizer.encode('Once')]));`;
    await writeFile(join(folder, 'node.mjs'), script);
    const { stdout, stderr } = await run(process.execPath, ['node.mjs'], { cwd: folder });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual([
      [expected(true, 'simd128'), expected(false, 'simd128')],
      [1, 403],
    ]);
  });

  it.runIf('require_module' in process.features)(
    'is one for import and require, and its classes keep their names',
    async () => {
      await writeFile(
        join(folder, 'required.cjs'),
        `const { AutoModelForCausalLM, AutoTokenizer, Tensor } = require('clearformer');
       const { apply_chat_template } = require('clearformer/chat_template');
       const inline = require('clearformer/inline');
       (async () => {
         const tokenizer = await AutoTokenizer.from_pretrained(${JSON.stringify(stories)});
         const told = [];
         for (const options of [{}, { worker: true }, { numThreads: 2 }]) {
           const model = await AutoModelForCausalLM.from_pretrained(${JSON.stringify(stories)}, options);
           const ids = await model.generate(tokenizer('Once upon a time'), { max_new_tokens: 200, eos_token_id: null });
           told.push(tokenizer.batch_decode(ids, { skip_special_tokens: true })[0]);
           await model.dispose();
         }
         const one = await import('clearformer');
         const same = [one, inline, await import('clearformer/tokenizer')].every((each) => each.Tensor === Tensor);
         console.log(JSON.stringify([told, typeof apply_chat_template, same, Tensor.name, one.Tensor.name]));
       })();`,
      );
      const { stdout, stderr } = await run(process.execPath, ['required.cjs'], { cwd: folder });
      expect(stderr).toBe('');
      const told = [greedyText, greedyText, greedyText];
      expect(JSON.parse(stdout)).toEqual([told, 'function', true, 'Tensor', 'Tensor']);
    },
  );

  it('has types that need nothing else', async () => {
    await writeFile(
      join(folder, 'types.ts'),
      `import { AutoModelForCausalLM, type Tensor } from 'clearformer';
       import { AutoTokenizer } from 'clearformer/tokenizer';
       import { CfMatrix, type Cell, inkOn, weight } from 'clearformer/elements';
       const matrix: CfMatrix = document.createElement('cf-matrix');
       const chosen: Cell | undefined = matrix.selected;
       const ink: number = inkOn(weight(0.5, 'dark'))[0];
       // @ts-expect-error no such scale
       matrix.scale = 'other';
       const model = await AutoModelForCausalLM.from_pretrained('a/b');
       const tokenizer = await AutoTokenizer.from_pretrained('a/b');
       const ids: Tensor<'int64'> = await model.generate(tokenizer('x'), { max_new_tokens: 3 });
       const logits: Float32Array = (await model({ input_ids: ids })).logits.data;
       // @ts-expect-error no such option
       await model.generate(tokenizer('x'), { max_tokens: 3 });
       export { logits, chosen, ink };`,
    );
    const tsc = join(project, 'node_modules/typescript/bin/tsc');
    const strict = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      'false',
      '--types',
      '',
      '--target',
      'es2022',
      '--lib',
      'es2022,dom,dom.iterable',
    ];
    for (const module of [
      ['esnext', 'bundler'],
      ['nodenext', 'nodenext'],
    ] as const) {
      const args = [
        tsc,
        ...strict,
        '--module',
        module[0],
        '--moduleResolution',
        module[1],
        '--ignoreConfig',
        'types.ts',
      ];
      await run(process.execPath, args, { cwd: folder }).catch((error: { stdout: string }) =>
        expect(error.stdout).toBe(''),
      );
    }
  });

  it.each([
    [{}, everyWay],
    [isolation, everyWayIsolated],
  ])("runs in Vite's dev server that sends %j", async (headers, ways) => {
    const server = await createViteServer({
      root: folder,
      configFile: false,
      logLevel: 'error',
      server: { host: '127.0.0.1', port: 0, headers },
    });
    await server.listen();
    const { told, complaints } = await toldBy(browser, server.resolvedUrls?.local[0] ?? '');
    await server.close();
    expect(complaints).toEqual([]);
    expect(told).toEqual(ways);
  });

  it('runs as Vite builds it, under a strict content security policy', async () => {
    await build({ root: folder, configFile: false, base: './', logLevel: 'error', build: { outDir: 'out' } });
    const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src data:";
    for (const [headers, ways] of [
      [{}, everyWay],
      [isolation, everyWayIsolated],
    ] as const) {
      const server = await serve([join(folder, 'out')], { ...headers, 'content-security-policy': policy });
      const { told, complaints } = await toldBy(browser, server.url);
      server.stop();
      expect(complaints).toEqual([]);
      expect(told).toEqual(ways);
    }
  });

  it('runs without a bundler, also from another host', async () => {
    const open = { 'access-control-allow-origin': '*', 'cross-origin-embedder-policy': 'require-corp' };
    const cdn = await serve([join(folder, 'node_modules')], {
      ...open,
      'cross-origin-resource-policy': 'cross-origin',
    });
    for (const [base, headers, ways] of [
      ['/node_modules/', {}, everyWay],
      ['/node_modules/', isolation, everyWayIsolated],
      [cdn.url, {}, everyWay],
      [cdn.url, isolation, everyWayIsolated],
    ] as const) {
      const site = join(folder, base === cdn.url ? 'far' : 'near');
      await mkdir(site, { recursive: true });
      await writeFile(join(site, 'story.js'), story(`${base}clearformer/dist/index.js`));
      await writeFile(join(site, 'main.js'), main);
      await writeFile(join(site, 'index.html'), html('./main.js'));
      const server = await serve([site, folder, join(folder, 'public')], headers);
      const { told, complaints } = await toldBy(browser, server.url);
      server.stop();
      expect(complaints).toEqual([]);
      expect(told).toEqual(ways);
    }
    cdn.stop();
  });

  it('tells when a worker ends without a word', async () => {
    const server = await serve([folder, join(folder, 'public')]);
    const page = await browser.newPage();
    await page.goto(`${server.url}node_modules/clearformer/package.json`);
    const code = await page.evaluate(`(async () => {
      const dist = new URL('dist/', location.href).href;
      const { AutoModelForCausalLM, configure } = await import(dist + 'index.js');
      const script = 'import "' + dist + 'worker.js"; addEventListener("message", ({ data }) => data.name === "model_forward" && close());';
      configure({ workerUrl: URL.createObjectURL(new Blob([script], { type: 'text/javascript' })) });
      const model = await AutoModelForCausalLM.from_pretrained('/model');
      const failures = [model({ input_ids: [[1]] }), model({ input_ids: [[1]] })].map((call) => call.then(() => 'no', (error) => error.code));
      return Promise.all(failures);
    })()`);
    await page.close();
    server.stop();
    expect(code).toEqual(['worker_failed', 'worker_failed']);
  });

  it('caches in the browser and asks again', async () => {
    const server = await serve([folder, join(folder, 'public')], { etag: '"1"' });
    const page = await browser.newPage();
    const downloads: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'GET' && request.url().includes('/model/')) downloads.push(request.url());
    });
    await page.goto(`${server.url}node_modules/clearformer/package.json`);
    const load = `import(new URL('dist/index.js', location.href).href).then(async ({ AutoModelForCausalLM }) => {
      const model = await AutoModelForCausalLM.from_pretrained('/model');
      await model.dispose();
      return (await (await caches.open('clearformer')).keys()).length;
    })`;
    expect(await page.evaluate(load)).toBe(3);
    expect(downloads).toHaveLength(3);
    expect(await page.evaluate(load)).toBe(3);
    expect(downloads).toHaveLength(3);
    await page.close();
    server.stop();
  });
});
