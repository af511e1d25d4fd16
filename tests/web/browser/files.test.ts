// Where the package finds its files, and its errors when it cannot: pages with content security policies, Trusted
// Types, other hosts, service workers and extensions. Each generates stories260K's text, or reports the remedy that
// works there.

import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { greedyText, installPackage, type Served, serve, toldBy, writeFiles } from '../support/installed_package.js';
import { browserFlags, chromiumProgram, launchChromium } from './chromium.js';

let folder: string;
let browser: Browser;
const servers: Served[] = [];
beforeAll(async () => {
  folder = await installPackage();
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  for (const server of servers) server.stop();
  await rm(folder, { recursive: true });
});

const served = async (roots: string[], headers: Record<string, string> = {}): Promise<Served> => {
  const server = await serve(roots, headers);
  servers.push(server);
  return server;
};

/** A function `tell(model, options)` that resolves to the text, or to the error's message. */
const told = (from: string): string => `
import { AutoModelForCausalLM, AutoTokenizer, configure } from '${from}';
async function tell(model, options, settings = {}) {
  try {
    configure(settings);
    const tokenizer = await AutoTokenizer.from_pretrained(model);
    const loaded = await AutoModelForCausalLM.from_pretrained(model, options);
    const ids = await loaded.generate(tokenizer('Once upon a time'), { max_new_tokens: 200, eos_token_id: null });
    await loaded.dispose();
    return tokenizer.batch_decode(ids, { skip_special_tokens: true })[0];
  } catch (error) {
    return String(error);
  }
}`;
/** Bundles a script of no module, with characters that are not ASCII as they are. */
async function bundled(contents: string, outfile: string): Promise<void> {
  const { build } = await import('esbuild');
  const stdin = { contents, resolveDir: folder };
  await build({ stdin, bundle: true, format: 'iife', charset: 'utf8', logLevel: 'error', outfile });
}

const html =
  '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module" src="main.js"></script>';

/** The result of a page with that script. Its folder has the package at /node_modules and the model at /model. */
async function page(
  from: string,
  {
    headers = {},
    options = '{}',
    settings = '{}',
  }: { headers?: Record<string, string>; options?: string; settings?: string } = {},
): Promise<{ told: unknown; complaints: string[] }> {
  const site = await mkdtemp(join(folder, 'site-'));
  const main = `${told(from)}\nwindow.told = await tell(new URL('model/', document.baseURI), ${options}, ${settings});`;
  await writeFiles(site, { 'index.html': html, 'main.js': main });
  return toldBy(browser, (await served([site, folder, join(folder, 'public')], headers)).url);
}

const dist = '/node_modules/clearformer/dist';
const index = `${dist}/index.js`;
const inline = `${dist}/inline.js`;
const policy = (more: string): Record<string, string> => ({
  'content-security-policy': `default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src data:; ${more}`,
});

describe('a page', () => {
  it.each([
    ['index.js', index],
    ['inline.js', inline],
  ])('runs %s', async (_, from) => {
    expect(await page(from)).toEqual({ told: greedyText, complaints: [] });
  });

  it('without locks runs where its workers have them', async () => {
    const settings = '(delete Navigator.prototype.locks, {})';
    expect(await page(index, { settings })).toEqual({ told: greedyText, complaints: [] });
  });

  it('with Trusted Types knows the package by its policy', async () => {
    const types = (names: string) => policy(`require-trusted-types-for 'script'; trusted-types ${names}`);
    expect(await page(index, { headers: types('clearformer') })).toEqual({ told: greedyText, complaints: [] });
    const { told } = await page(index, { headers: types('other') });
    expect(told).toContain('allow the policy clearformer in trusted-types');
    expect((await page(index, { headers: types("'none'"), options: '{ worker: false }' })).told).toBe(greedyText);
  });

  it('whose policy refuses made workers is told what to serve, and that works', async () => {
    const { told } = await page(inline, { headers: policy("worker-src 'self'") });
    expect(told).toContain('(worker-src) refuses workers from blob:');
    expect(told).toContain('set workerUrl');
    expect(told).not.toContain('clearformer/inline');
    const settings = `{ workerUrl: '${dist}/worker.js' }`;
    expect((await page(inline, { headers: policy("worker-src 'self'"), settings })).told).toBe(greedyText);
  });

  it('whose policy refuses all workers is told to do without, and that works', async () => {
    const { told } = await page(index, { headers: policy("worker-src 'none'") });
    expect(told).toContain('(worker-src) refuses workers from http');
    expect(told).toContain('worker: false');
    const options = '{ worker: false }';
    expect((await page(index, { headers: policy("worker-src 'none'"), options })).told).toBe(greedyText);
  });

  it('whose policy refuses WebAssembly is told what to allow', async () => {
    const { told } = await page(index, { headers: { 'content-security-policy': "script-src 'self'" } });
    expect(told).toContain("allow 'wasm-unsafe-eval' in script-src");
  });

  it('that lacks the files is told which, and what would work', async () => {
    const missing = await page(index, { settings: "{ workerUrl: '/none.js' }" });
    expect(missing.told).toContain('none.js is not there (HTTP 404)');
    expect(missing.told).toContain('import from clearformer/inline');
    const strict = await page(index, { headers: policy("worker-src 'self'"), settings: "{ workerUrl: '/none.js' }" });
    expect(strict.told).not.toContain('clearformer/inline');
    const module = await page(index, { settings: '{ workerUrl: String({}) }' }); // as with webpack rules for modules
    expect(module.told).toContain('the bundler treats worker.js as a module, not as a file: set workerUrl');
    const wasm = await page(index, { settings: "{ wasmUrl: '/none/' }" });
    expect(wasm.told).toContain('set wasmUrl to where the .wasm files of clearformer/dist are served');
  });
});

it('a script of no module has the files beside its page', async () => {
  const site = await mkdtemp(join(folder, 'site-'));
  const contents = `${told('clearformer')}
    async function zeroed() {
      const model = await AutoModelForCausalLM.from_pretrained('./model/');
      const fwd_hooks = [['ln_final.hook_normalized', ({ data }) => void data.fill(0)]];
      return (await model.run_with_hooks({ input_ids: [[1]] }, { fwd_hooks })).data.every((each) => each === 0);
    }
    tell('./model/').then(async (text) => { window.told = [text, await zeroed().catch(String)]; });`;
  await bundled(contents, join(site, 'main.js'));
  await writeFiles(site, { 'index.html': html.replace('type="module" ', '') });
  const missing = await toldBy(browser, (await served([site, join(folder, 'public')])).url);
  expect(String(missing.told)).toContain('copy them beside this script, or import from clearformer/inline');
  const beside = [site, join(folder, 'node_modules/clearformer/dist'), join(folder, 'public')];
  expect(await toldBy(browser, (await served(beside)).url)).toEqual({ told: [greedyText, true], complaints: [] });
});

describe('a page of an opaque origin', () => {
  const sandbox = (more = '') => ({
    'content-security-policy': `sandbox allow-scripts; ${more}`,
    'access-control-allow-origin': '*',
  });

  it.each([
    ['index.js', index],
    ['inline.js', inline],
  ])('as in a sandboxed frame runs %s in a worker', async (_, from) => {
    const options = '{ worker: true }';
    expect(await page(from, { headers: sandbox(), options })).toEqual({ told: greedyText, complaints: [] });
    const { told } = await page(from, { headers: sandbox("worker-src 'self'") });
    expect(told).toContain('(worker-src) refuses workers from blob:, the only ones of an opaque origin: allow it');
  });

  it('of a file runs a bundle of clearformer/inline in a worker, which has to be read as UTF-8', async () => {
    const site = await mkdtemp(join(folder, 'site-'));
    const files = await Promise.all(
      ['config.json', 'tokenizer.json', 'model.safetensors'].map(async (name) => [
        name,
        await readFile(join(folder, 'public/model', name), 'base64'),
      ]),
    );
    const contents = `${told('clearformer/inline')}
      const files = ${JSON.stringify(Object.fromEntries(files))};
      const bytes = ([name, text]) => [name, Uint8Array.from(atob(text), (c) => c.charCodeAt(0))];
      tell(Object.fromEntries(Object.entries(files).map(bytes)), { worker: true }).then((text) => { window.told = text; });`;
    await bundled(contents, join(site, 'main.js'));
    const classic = html.replace('type="module" ', 'defer ');
    await writeFiles(site, { 'index.html': classic, 'other.html': classic.replace('utf-8', 'windows-1252') });
    expect(await toldBy(browser, pathToFileURL(join(site, 'index.html')).href)).toEqual({
      told: greedyText,
      complaints: [],
    });
    const other = await toldBy(browser, pathToFileURL(join(site, 'other.html')).href);
    expect(other.told).toContain('add <meta charset="utf-8">');
  });
});

describe("a page's own worker", () => {
  it('has addresses relative to its origin in a blob URL, and none in a data URL', async () => {
    const site = await mkdtemp(join(folder, 'site-'));
    const script = `${told('clearformer/inline')}\ntell('./model/').then(postMessage);`;
    await bundled(script, join(site, 'own.js'));
    await writeFiles(site, {
      'index.html': html,
      'main.js': `
        const script = await (await fetch('own.js')).blob();
        const reader = new FileReader();
        await new Promise((read) => { reader.onload = read; reader.readAsDataURL(script); });
        const told = (url) => new Promise((tell) => { new Worker(url).onmessage = ({ data }) => tell(data); });
        window.told = await Promise.all([URL.createObjectURL(script), reader.result].map(told));`,
    });
    const { url } = await served([site, folder, join(folder, 'public')]);
    const { told: texts } = await toldBy(browser, url);
    expect(texts).toEqual([greedyText, "ClearformerError: source: './model/' is no URL"]);
  });
});

describe('another host', () => {
  const open = { 'access-control-allow-origin': '*' };

  it('that serves packages gives the worker, too; where the page takes only its own, it is told', async () => {
    const host = await served([join(folder, 'node_modules')], open);
    const from = `${host.url}clearformer/dist/index.js`;
    expect(await page(from)).toEqual({ told: greedyText, complaints: [] });
    const strict = { 'content-security-policy': `worker-src 'self'` };
    const { told } = await page(from, { headers: strict });
    expect(told).toContain("serve clearformer's dist/worker.js from this site and set workerUrl");
  });

  it.each([
    ['esm.sh', 'clearformer@0.1.0/es2022/clearformer.mjs.js'],
    ['+esm of jsdelivr', 'npm/clearformer@0.1.0/+esm.js'],
  ])('that bundles them on demand (%s) has its files where they were', async (_, path) => {
    const { build } = await import('esbuild');
    const site = await mkdtemp(join(tmpdir(), 'clearformer-host-'));
    const entryPoints = [join(folder, 'node_modules/clearformer/dist/index.js')];
    await build({ entryPoints, bundle: true, format: 'esm', outfile: join(site, path), minify: true });
    const home = join(site, path.replace(/(clearformer@[^/]+)\/.*/, '$1'));
    await cp(join(folder, 'node_modules/clearformer/dist'), join(home, 'dist'), { recursive: true });
    const host = await served([site], open);
    expect(await page(`${host.url}${path}`)).toEqual({ told: greedyText, complaints: [] });
    await rm(site, { recursive: true });
  });
});

describe('a service worker', () => {
  /** The reply of a service worker with that script to the page. */
  async function serviceWorker(script: string): Promise<unknown> {
    const site = await mkdtemp(join(folder, 'site-'));
    await writeFiles(site, {
      'index.html': html,
      'worker.js': script,
      'main.js': `
        navigator.serviceWorker.onmessage = ({ data }) => { window.told = data; };
        const registration = await navigator.serviceWorker.register('worker.js', { type: 'module' });
        const worker = registration.installing ?? registration.active;
        worker.postMessage(new URL('model/', document.baseURI).href);`,
    });
    const context = await browser.newContext();
    const { url } = await served([site, folder, join(folder, 'public')]);
    const { told } = await toldBy(context, url);
    await context.close();
    return told;
  }
  const script = (from: string): string => `${told(from)}
    self.onmessage = (event) => event.waitUntil(tell(event.data, {}).then((text) => event.source.postMessage(text)));`;

  it('runs inline.js', async () => {
    expect(await serviceWorker(script(inline))).toBe(greedyText);
  });

  it('has in inline.js what is loaded on demand elsewhere', async () => {
    const seen = await serviceWorker(`
      import { AutoModelForCausalLM, AutoTokenizer } from '${inline}';
      async function see(source) {
        const tokenizer = await AutoTokenizer.from_pretrained(source);
        const model = await AutoModelForCausalLM.from_pretrained(source);
        const inputs = tokenizer('Once upon a time');
        const [, cache] = await model.run_with_cache(inputs, { names_filter: 'ln_final.hook_out' });
        const norm = await model.parameter('model.norm.weight');
        const metric = { logits: [{ token: 3 }] };
        const { grad } = await model.backward(inputs, { metric, with_respect_to: { hooks: 'blocks.0.hook_resid_pre' } });
        const ids = await model.generate(inputs, { max_new_tokens: 40, stop_strings: 'girl', stopping_criteria: () => false });
        await model.dispose();
        const [text] = tokenizer.batch_decode(ids);
        return [Object.keys(cache), norm.dims, Object.keys(grad), text.endsWith('girl')];
      }
      self.onmessage = (event) =>
        event.waitUntil(see(event.data).catch(String).then((seen) => event.source.postMessage(seen)));`);
    expect(seen).toEqual([['ln_final.hook_out'], [64], ['blocks.0.hook_resid_pre'], true]);
  });

  it('runs index.js when it is bundled', async () => {
    const { build } = await import('esbuild');
    const { outputFiles } = await build({
      stdin: { contents: script('clearformer'), resolveDir: folder },
      bundle: true,
      format: 'esm',
      write: false,
      define: { 'import.meta.url': JSON.stringify(`http://127.0.0.1:1${index}`) },
    });
    const text = (outputFiles[0]?.text ?? '').replaceAll('"http://127.0.0.1:1', `self.location.origin + "`);
    expect(await serviceWorker(text)).toBe(greedyText);
  });

  it('is told what to import where scripts cannot be loaded later', async () => {
    expect(await serviceWorker(script(index))).toContain('import from clearformer/inline');
  });
});

describe('an extension', () => {
  it('runs inline.js in its background, with a model that lacks optional files', async () => {
    const extension = await mkdtemp(join(tmpdir(), 'clearformer-extension-'));
    await cp(join(folder, 'node_modules/clearformer/dist'), join(extension, 'dist'), { recursive: true });
    await cp(join(folder, 'public/model'), join(extension, 'model'), { recursive: true });
    await rm(join(extension, 'model/generation_config.json'));
    await rm(join(extension, 'model/tokenizer_config.json'));
    const manifest = {
      manifest_version: 3,
      name: 'stories',
      version: '1',
      background: { service_worker: 'background.js', type: 'module' },
      content_security_policy: { extension_pages: "script-src 'self' 'wasm-unsafe-eval'" },
    };
    await writeFiles(extension, {
      'manifest.json': JSON.stringify(manifest),
      'background.js': `${told('./dist/inline.js')}\nself.story = () => tell(chrome.runtime.getURL('model/'), {});`,
    });
    const profile = await mkdtemp(join(tmpdir(), 'clearformer-profile-'));
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: chromiumProgram,
      headless: false,
      args: [
        ...browserFlags,
        '--headless=new',
        `--disable-extensions-except=${extension}`,
        `--load-extension=${extension}`,
      ],
    });
    const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
    expect(await worker.evaluate('self.story()')).toBe(greedyText);
    await context.close();
    await rm(extension, { recursive: true });
    await rm(profile, { recursive: true });
  });
});
