// The projects of `npm run matrix`: the packages, files, build and run commands of each. Settings that an environment
// needs are not repeated here: they are read from web/examples/bundlers.md, by the name before them.

/** A program that generates a story; every project has it as story.js. */
const story = `
import { AutoModelForCausalLM, AutoTokenizer } from 'clearformer';
export async function story(source, options = {}) {
  const tokenizer = await AutoTokenizer.from_pretrained(source);
  const model = await AutoModelForCausalLM.from_pretrained(source, options);
  const ids = await model.generate(tokenizer('Once upon a time'), { max_new_tokens: 200, eos_token_id: null });
  await model.dispose();
  return tokenizer.batch_decode(ids, { skip_special_tokens: true })[0];
}
`;
const main = `
import { story } from './story.js';
story(new URL('model/', document.baseURI)).then((text) => { window.told = text; }, (error) => { window.told = String(error); });
`;
const html = (script: string): string =>
  `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module" src="${script}"></script>\n`;
const told = (from: string, rest: string): string => `${from}\n${rest.trim()}\n`;

export interface Project {
  /** Its name in the table. */
  name: string;
  /** Versions by package; the table shows the first. */
  packages: Readonly<Record<string, string>>;
  files: Readonly<Record<string, string>>;
  /** Files whose contents are settings in web/examples/bundlers.md, by the setting's name. */
  settings?: Readonly<Record<string, string>>;
  /** Commands, one after the other. */
  build?: readonly string[];
  run: Page | Server | Program;
}
/** A folder whose index.html stores the text in window.told. */
export interface Page {
  kind: 'page';
  folder: string;
}
/** A server, started with PORT in the environment; `page` stores the text in window.told, `answers` are texts. */
export interface Server {
  kind: 'server';
  command: string;
  page?: string;
  answers?: readonly string[];
}
/** A program that prints the text, possibly among other lines. */
export interface Program {
  kind: 'program';
  command: string;
}

const page = { 'story.js': story, 'main.js': main, 'index.html': html('./main.js') };
const program = told("import { story } from './story.js';", "console.log(await story('./public/model'));");
const test = `
test('writes', async () => {
  const { story } = await import('./story.js');
  const text = await story('./public/model');
  require('node:fs').writeFileSync('told.txt', text);
}, 60000);
`;
const vitestTest = test.replace("require('node:fs')", "(await import('node:fs'))");

const vite = (version: string): Project[] => [
  {
    name: `Vite ${version}, build`,
    packages: { vite: version },
    files: page,
    build: ['npx vite build --base ./ --outDir out'],
    run: { kind: 'page', folder: 'out' },
  },
  {
    name: `Vite ${version}, dev server`,
    packages: { vite: version },
    files: page,
    run: { kind: 'server', command: 'npx vite --host 127.0.0.1 --strictPort --port $PORT', page: '/' },
  },
];

const next: Project = {
  name: 'Next, app router: client component, server component, route handler',
  packages: { next: '16', react: '19', 'react-dom': '19' },
  files: {
    'lib/story.js': story,
    'app/layout.js':
      'export default ({ children }) => <html lang="en"><head><link rel="icon" href="data:," /></head><body>{children}</body></html>;\n',
    'app/page.js': `'use client';
import { useEffect } from 'react';
import { story } from '../lib/story.js';
export default function Page() {
  useEffect(() => {
    story(new URL('/model/', location.href)).then((text) => { window.told = text; }, (error) => { window.told = String(error); });
  }, []);
  return <p>story</p>;
}
`,
    'app/api/route.js': `import { story } from '../../lib/story.js';
export const dynamic = 'force-dynamic';
export const GET = async () => new Response(await story('./public/model'));
`,
    'app/server/page.js': `import { story } from '../../lib/story.js';
export const dynamic = 'force-dynamic';
export default async () => <pre>{await story('./public/model')}</pre>;
`,
  },
  build: ['npx next build'],
  run: { kind: 'server', command: 'npx next start -H 127.0.0.1 -p $PORT', page: '/', answers: ['/api', '/server'] },
};

export const projects: readonly Project[] = [
  ...['5', '6', '7', '8'].flatMap(vite),
  {
    name: 'webpack 5',
    packages: { webpack: '5', 'webpack-cli': '6' },
    files: { ...page, 'public/index.html': html('./main.js') },
    build: ['npx webpack ./main.js --mode production -o out', 'cp -r public/. out'],
    run: { kind: 'page', folder: 'out' },
  },
  {
    name: 'Parcel 2',
    packages: { parcel: '2' },
    files: page,
    build: ['npx parcel build index.html --public-url ./ --dist-dir out --no-cache', 'cp -r public/. out'],
    run: { kind: 'page', folder: 'out' },
  },
  {
    name: 'Rollup',
    packages: { rollup: '4', '@rollup/plugin-node-resolve': '16' },
    files: page,
    settings: { 'copy.sh': 'copy' },
    build: [
      'npx rollup main.js -d out -f es -p node-resolve={browser:true}',
      'sh copy.sh',
      'cp -r public/. index.html out',
    ],
    run: { kind: 'page', folder: 'out' },
  },
  {
    name: 'esbuild',
    packages: { esbuild: '0.28' },
    files: page,
    settings: { 'copy.sh': 'copy' },
    build: [
      'npx esbuild main.js --bundle --format=esm --outdir=out --log-level=error',
      'sh copy.sh',
      'cp -r public/. index.html out',
    ],
    run: { kind: 'page', folder: 'out' },
  },
  {
    name: 'esbuild, clearformer/inline, one script of no module',
    packages: { esbuild: '0.28' },
    files: {
      ...page,
      'index.html':
        '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script src="./main.js"></script>\n',
    },
    build: [
      'npx esbuild main.js --bundle --format=iife --alias:clearformer=clearformer/inline --outdir=out --log-level=error',
      'cp -r public/. index.html out',
    ],
    run: { kind: 'page', folder: 'out' },
  },
  {
    name: 'esbuild for Node, in one file away from the package',
    packages: { esbuild: '0.28' },
    files: { 'story.js': story, 'main.js': program },
    build: [
      'npx esbuild main.js --bundle --platform=node --format=esm --outfile=out/main.mjs --log-level=error',
      'rm -rf /tmp/clearformer-away && cp -r out /tmp/clearformer-away && cp -r public /tmp/clearformer-away',
    ],
    run: { kind: 'program', command: 'cd /tmp/clearformer-away && node main.mjs' },
  },
  next,
  {
    name: 'Node, import',
    packages: {},
    files: { 'story.js': story, 'main.js': program },
    run: { kind: 'program', command: 'node main.js' },
  },
  {
    name: 'Node, require',
    packages: {},
    files: {
      'main.cjs': `${story.replace(/import (.*) from 'clearformer'/, "const $1 = require('clearformer')").replace('export ', '')}
story('./public/model').then(console.log);
`,
    },
    run: { kind: 'program', command: 'node main.cjs' },
  },
  {
    name: 'Bun',
    packages: { bun: '1' },
    files: { 'story.js': story, 'main.js': program },
    run: { kind: 'program', command: 'npx bun main.js' },
  },
  {
    name: 'Deno',
    packages: { deno: '2' },
    files: { 'story.js': story, 'main.js': program },
    run: { kind: 'program', command: 'npx deno run --allow-all --node-modules-dir=manual main.js' },
  },
  {
    name: 'Jest, node',
    packages: { jest: '30' },
    files: { 'story.js': story, 'story.test.cjs': test },
    settings: { 'jest.config.cjs': 'jest' },
    run: { kind: 'program', command: 'NODE_OPTIONS=--experimental-vm-modules npx jest 2>&1; cat told.txt' },
  },
  ...['node', 'jsdom'].map(
    (environment): Project => ({
      name: `vitest, ${environment}`,
      packages: { vitest: '3', jsdom: '26' },
      files: { 'story.js': story, 'story.test.js': vitestTest },
      run: { kind: 'program', command: `npx vitest run --globals --environment ${environment} 2>&1; cat told.txt` },
    }),
  ),
];
