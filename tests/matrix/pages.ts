// Pages without a bundler and with security policies, a page's own worker, service workers, extensions.

import { html, type Project, page, story } from './project.js';

const beside = './node_modules/clearformer/dist/';
/** A page that imports the package's files by URL. */
const plain = { ...page, 'story.js': story.replace("'clearformer'", `'${beside}index.js'`) };
const links = ['rm -rf model && cp -r public/model .'];

/** A page's worker, which posts the text. */
const sender = `import { story } from './story.js';
story(new URL('model/', location.href)).then(postMessage, (error) => postMessage(String(error)));
`;

const ownWorker = (version: string): Project => ({
  name: `a page's own worker (Vite ${version})`,
  packages: { vite: version },
  files: {
    'story.js': story,
    'own.js': sender.replace('model/', '/model/'),
    'main.js': `const worker = new Worker(new URL('./own.js', import.meta.url), { type: 'module' });
worker.onmessage = ({ data }) => { window.told = data; };
`,
    'index.html': html('./main.js'),
  },
  settings: version === '8' ? {} : { 'vite.config.js': 'vite-worker' },
  build: ['vite build --base ./ --outDir out'],
  run: { kind: 'page', folder: 'out' },
});

export const pages: readonly Project[] = [
  {
    name: 'plain page, import map',
    packages: {},
    files: {
      ...page,
      'index.html': html('./main.js').replace(
        '<script',
        `<script type="importmap">{ "imports": { "clearformer": "${beside}index.js" } }</script><script`,
      ),
    },
    build: links,
    run: { kind: 'page', folder: '.' },
  },
  {
    name: 'plain page, cross-origin isolated',
    packages: {},
    files: plain,
    build: links,
    run: {
      kind: 'page',
      folder: '.',
      headers: { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' },
    },
  },
  {
    name: "plain page, script-src 'self' 'wasm-unsafe-eval'",
    packages: {},
    files: plain,
    build: links,
    run: {
      kind: 'page',
      folder: '.',
      headers: {
        'content-security-policy': "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src data:",
      },
    },
  },
  ...['5', '6', '7', '8'].map(ownWorker),
  {
    name: 'service worker (esbuild, clearformer/inline)',
    packages: { esbuild: '0.28' },
    files: {
      'story.js': story,
      'service.js': `import { story } from './story.js';
self.onmessage = (event) => event.waitUntil(story(event.data).then((text) => event.source.postMessage(text), (error) => event.source.postMessage(String(error))));
`,
      'main.js': `navigator.serviceWorker.onmessage = ({ data }) => { window.told = data; };
const registration = await navigator.serviceWorker.register('service.js');
(registration.installing ?? registration.active).postMessage(new URL('model/', document.baseURI).href);
`,
      'index.html': html('./main.js'),
    },
    build: [
      'esbuild service.js --bundle --format=iife --alias:clearformer=clearformer/inline --outdir=out --log-level=error',
      'cp -r public/. main.js index.html out',
    ],
    run: { kind: 'page', folder: 'out' },
  },
  {
    name: 'background of an extension, Manifest V3 (esbuild, clearformer/inline)',
    packages: { esbuild: '0.28' },
    files: {
      'story.js': story,
      'background.js': `import { story } from './story.js';
story(chrome.runtime.getURL('model/')).then((text) => { self.told = text; }, (error) => { self.told = String(error); });
`,
    },
    settings: { 'manifest.json': 'manifest' },
    build: [
      'esbuild background.js --bundle --format=iife --alias:clearformer=clearformer/inline --outdir=out --log-level=error',
      'cp -r public/. manifest.json out',
    ],
    run: { kind: 'extension', folder: 'out' },
  },
];
