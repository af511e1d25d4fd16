// Bundlers, for pages and for Node.

import { html, type Project, page, program } from './project.js';

const vite = (version: string): Project[] => [
  {
    name: `Vite ${version}, build`,
    packages: { vite: version },
    files: page,
    build: ['vite build --base ./ --outDir out'],
    run: { kind: 'page', folder: 'out' },
  },
  {
    name: `Vite ${version}, dev server`,
    packages: { vite: version },
    files: page,
    run: { kind: 'server', command: 'vite --host 127.0.0.1 --strictPort --port $PORT', page: '/' },
  },
];

/** An app whose packages are installed in the folder above it. */
const workspace = (version: string, settings: Project['settings'] = {}): Project => ({
  name: `Vite ${version}, dev server, in a workspace`,
  packages: { vite: version },
  files: {
    ...Object.fromEntries(Object.entries(page).map(([name, text]) => [`app/${name}`, text])),
    'app/package.json': '{ "private": true, "type": "module" }\n',
    'pnpm-workspace.yaml': 'packages: [app]\n',
  },
  settings,
  build: ['cp -r public app'],
  run: { kind: 'server', command: 'vite app --host 127.0.0.1 --strictPort --port $PORT', page: '/' },
});

export const bundlers: readonly Project[] = [
  ...['5', '6', '7', '8'].flatMap(vite),
  workspace('7', { 'app/vite.config.js': 'vite-workspace' }),
  workspace('8'),
  {
    name: 'webpack 5',
    packages: { webpack: '5', 'webpack-cli': '6' },
    files: { ...page, 'public/index.html': html('./main.js') },
    build: ['webpack ./main.js --mode production -o out', 'cp -r public/. out'],
    run: { kind: 'page', folder: 'out' },
  },
  {
    name: 'Rspack',
    packages: { '@rspack/core': '*', '@rspack/cli': '*' },
    files: {
      ...page,
      'public/index.html': html('./main.js'),
      'rspack.config.mjs':
        "export default { mode: 'production', entry: './main.js', output: { path: import.meta.dirname + '/out' } };\n",
    },
    build: ['rspack build', 'cp -r public/. out'],
    run: { kind: 'page', folder: 'out' },
  },
  {
    name: 'Farm',
    packages: { '@farmfe/core': '1', '@farmfe/cli': '1' },
    files: {
      ...page,
      'farm.config.mjs':
        "export default { compilation: { input: { index: './index.html' }, output: { path: 'out' }, persistentCache: false } };\n",
    },
    build: ['farm build', 'cp -r public/. out'],
    run: { kind: 'page', folder: 'out' },
  },
  {
    name: 'Parcel 2',
    packages: { parcel: '2' },
    files: page,
    build: ['parcel build index.html --public-url ./ --dist-dir out --no-cache', 'cp -r public/. out'],
    run: { kind: 'page', folder: 'out' },
  },
  {
    name: 'Rollup',
    packages: { rollup: '4', '@rollup/plugin-node-resolve': '16' },
    files: page,
    settings: { 'copy.sh': 'copy' },
    build: [
      'rollup main.js -d out -f es -p node-resolve={browser:true}',
      'sh copy.sh',
      'cp -r public/. index.html out',
    ],
    run: { kind: 'page', folder: 'out' },
  },
  {
    name: 'Rolldown',
    packages: { rolldown: '1' },
    files: page,
    settings: { 'copy.sh': 'copy' },
    build: ['rolldown main.js -d out -f es --platform browser', 'sh copy.sh', 'cp -r public/. index.html out'],
    run: { kind: 'page', folder: 'out' },
  },
  {
    name: 'esbuild',
    packages: { esbuild: '0.28' },
    files: page,
    settings: { 'copy.sh': 'copy' },
    build: [
      'esbuild main.js --bundle --format=esm --outdir=out --log-level=error',
      'sh copy.sh',
      'cp -r public/. index.html out',
    ],
    run: { kind: 'page', folder: 'out' },
  },
  {
    name: 'Bun, bundler',
    packages: { bun: '1' },
    files: page,
    settings: { 'copy.sh': 'copy' },
    build: ['bun build index.html --outdir out', 'sh copy.sh', 'cp -r public/model out'],
    run: { kind: 'page', folder: 'out' },
  },
  {
    name: 'esbuild, clearformer/inline, one script of no module',
    packages: { esbuild: '0.28' },
    files: { ...page, 'index.html': html('./main.js', '') },
    build: [
      'esbuild main.js --bundle --format=iife --alias:clearformer=clearformer/inline --outdir=out --log-level=error',
      'cp -r public/. index.html out',
    ],
    run: { kind: 'page', folder: 'out' },
  },
  {
    name: 'esbuild for Node, in one file away from the package',
    packages: { esbuild: '0.28' },
    files: program,
    build: [
      'esbuild main.js --bundle --platform=node --format=esm --outfile=out/main.mjs --log-level=error',
      'rm -rf /tmp/clearformer-away && cp -r out /tmp/clearformer-away && cp -r public /tmp/clearformer-away',
    ],
    run: { kind: 'program', command: 'cd /tmp/clearformer-away && node main.mjs' },
  },
];
