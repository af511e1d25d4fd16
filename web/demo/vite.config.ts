// Builds the page from web/demo into static files that work under any path; `clearformer` is the built package in
// dist/. (The package.json beside this file says that modules here do something when imported: components register.)

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { offlineFiles } from './build/offline_files.js';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

// What a server sends so that the page is cross-origin isolated: only then models may use several threads.
const headers = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };

export default defineConfig({
  root: here('.'),
  base: './',
  resolve: {
    alias: [
      { find: /^clearformer$/, replacement: here('../../dist/index.js') },
      { find: /^clearformer\/(\w+)$/, replacement: `${here('../../dist/')}$1.js` },
    ],
  },
  build: {
    outDir: here('../../build/page'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    license: { fileName: 'licences.md' }, // read by scripts/build/page.ts, which puts THIRD_PARTY_LICENSES in its place
  },
  // The dev server may read the package and its dependencies, which lie above this folder.
  server: { headers, fs: { allow: [here('../..')] } },
  preview: { headers },
  worker: { format: 'es' },
  plugins: [offlineFiles(here('./service_worker.ts'), here('../../dist/elements.js'))],
});
