// Vite plugin: what the built page has beside its own files: the package's web components for pages of others, and the
// service worker with the list of everything that was built.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { build } from 'esbuild';
import type { Plugin } from 'vite';

const worker = 'service_worker.js';

const digestOf = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex').slice(0, 16);

/** Not kept without a network: the worker itself, source maps, licences, and the documentation, a site of its own. */
const left = /^service_worker\.js$|^licences\.md$|^docs\/|\.map$/;

/** Digests by path; the page itself is `./`, since servers lead from index.html to its folder. */
function filesIn(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const paths = files.map((file) => [relative(folder, file).split(sep).join('/'), file] as const);
  return Object.fromEntries(
    paths
      .filter(([path]) => !left.test(path))
      .map(([path, file]) => [path === 'index.html' ? './' : path, digestOf(readFileSync(file))]),
  );
}

/** `elements` is the built file of the package's components, `source` the service worker's. */
export function offlineFiles(source: string, elements: string): Plugin {
  let folder = '';
  let chunk = '';
  return {
    name: 'offline files',
    apply: 'build',
    configResolved({ build: { outDir } }) {
      folder = outDir;
    },
    buildStart() {
      chunk = this.emitFile({ type: 'chunk', id: elements, name: 'elements', preserveSignature: 'allow-extension' });
    },
    generateBundle() {
      // One name for other pages, whatever the build's digests are.
      const source = `export * from './${this.getFileName(chunk)}';\n`;
      this.emitFile({ type: 'asset', fileName: 'elements.js', source });
    },
    async closeBundle() {
      const files = filesIn(folder);
      const { outputFiles } = await build({
        entryPoints: [source],
        define: {
          buildFiles: JSON.stringify(files),
          buildVersion: JSON.stringify(digestOf(JSON.stringify(files))),
        },
        ...{ bundle: true, minify: true, write: false, format: 'iife', target: 'es2022' },
      });
      writeFileSync(join(folder, worker), outputFiles[0]?.text ?? '');
    },
  };
}
