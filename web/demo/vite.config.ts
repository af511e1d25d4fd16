// Builds the page from web/demo into static files that work under any path; `clearformer` is the built package in
// dist/. (The package.json beside this file says that modules here do something when imported: components register.)
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here('.'),
  base: './',
  resolve: { alias: { clearformer: here('../../dist/index.js') } },
  build: {
    outDir: here('../../build/page'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
  },
  // The dev server may read the package and its dependencies, which lie above this folder.
  server: { fs: { allow: [here('../..')] } },
  worker: { format: 'es' },
});
