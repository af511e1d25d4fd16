// Vite plugin: the additional files of the built page: the package's web components for embedding in other pages, and
// the service worker with its precache list.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { build } from 'esbuild';
import type { Plugin } from 'vite';

const worker = 'service_worker.js';

const digestOf = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex').slice(0, 16);

/** Not cached in advance: the worker itself, source maps, licences, the documentation site, and onnxruntime-web. */
const left = /^service_worker\.js$|^licences\.md$|^docs\/|^onnxruntime\/|\.map$/;

/** Digests by path; index.html is `./`, as servers redirect to its folder. */
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

/** `elements` is the built module of the package's components, `source` that of the service worker. */
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
      // A stable name for embedding pages, independent of the build's digests.
      const source = `export * from './${this.getFileName(chunk)}';\n`;
      this.emitFile({ type: 'asset', fileName: 'elements.js', source });
    },
    // Only after a build that succeeded, unlike closeBundle, whose own failure would hide the cause.
    async writeBundle() {
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
