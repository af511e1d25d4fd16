// Serves the project's folder: pages that import from dist/, with headers chosen by the test.

import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

const project = fileURLToPath(new URL('../../../', import.meta.url));
const types: Record<string, string> = {
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

/** Serves the project's folder with these headers, except the files to be missing. */
export async function serveProject(
  headers: Record<string, string>,
  missing?: RegExp,
): Promise<{ server: Server; url: string }> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    if (pathname === '/') {
      const page = '<!doctype html><link rel="icon" href="data:,">';
      return void response.writeHead(200, { ...headers, 'content-type': 'text/html' }).end(page);
    }
    const body = missing?.test(pathname) ? undefined : await readFile(join(project, pathname)).catch(() => undefined);
    const type = { 'content-type': types[extname(pathname)] ?? 'application/octet-stream' };
    response.writeHead(body === undefined ? 404 : 200, { ...headers, ...type }).end(body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

/** The result of `work` in an empty page of that site. */
export async function withPage<T>(
  browser: Browser,
  headers: Record<string, string>,
  work: (page: Page) => Promise<T>,
  missing?: RegExp,
  options: BrowserContextOptions = {},
): Promise<T> {
  const { server, url } = await serveProject(headers, missing);
  const page = await browser.newPage(options);
  try {
    await page.goto(url);
    return await work(page);
  } finally {
    await page.close();
    server.close();
  }
}

/** A function call as source text for a page, with the imported functions that it uses. */
export function pageProgram<A>(
  program: (given: A) => Promise<unknown>,
  given: A,
  ...used: readonly ((...given: never[]) => unknown)[]
): string {
  const functions = used.map((each) => `const ${each.name} = ${each};`).join('\n');
  const text = `(() => { ${functions}\nreturn (${program})(${JSON.stringify(given)}); })()`;
  // The form in which the test runner writes imports.
  return text
    .replaceAll('__vite_ssr_dynamic_import__', 'import')
    .replace(/\(0,\s*__vite_ssr_import_\d+__\.(\w+)\)/g, '$1');
}

/** Runs a function of one argument in the page; its dynamic imports are kept. */
export async function runInPage<A, R>(page: Page, program: (given: A) => Promise<R>, given: A): Promise<R> {
  return page.evaluate(pageProgram(program, given));
}
