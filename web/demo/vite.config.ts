// Builds the page in web/demo into static files that work under any path; `clearformer` is the built package in dist/.
// (The package.json in this folder declares that modules here have side effects on import: components register
// themselves.)

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { offlineFiles } from './build/offline_files.js';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

// Response headers for cross-origin isolation, without which models can use one thread only.
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
    rollupOptions: { input: [here('index.html'), here('bench.html')] },
    license: { fileName: 'licences.md' }, // scripts/build/page.ts replaces it with THIRD_PARTY_LICENSES
  },
  // The dev server may read the package and its dependencies, which are outside of this folder.
  server: { headers, fs: { allow: [here('../..')] } },
  preview: { headers },
  worker: { format: 'es' },
  plugins: [offlineFiles(here('./service_worker.ts'), here('../../dist/elements.js'))],
});
