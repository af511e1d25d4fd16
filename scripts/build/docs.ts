// The documentation: the API reference from the package's declarations and comments, with README.md and the example
// pages, as one site with navigation and search in build/page/docs. It is made by typedoc, whose packages are separate
// (scripts/docs): it needs a TypeScript with a JavaScript API, which the project's TypeScript does not have.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { onPath } from '../toolchain/programs.js';
import { run, SetupError, step } from '../toolchain/progress.js';
import { buildCppDocs } from './cpp_docs.js';
import { digestOf, inProject, unlessFresh } from './fresh.js';
import { installPackagesOf } from './own_packages.js';
import { pageFolder } from './page.js';

const home = 'scripts/docs';
const folder = inProject('build/docs');
const fonts = inProject('web/demo/fonts');
/** typedoc.json's placeholder for the page's address, since links in the navigation bar must be absolute. */
const book = 'https://book.invalid/';
/** The link to the C++ reference, removed without doxygen. */
const cppLink = /<a href="[^"]*\/docs\/cpp\/annotated.html"[^>]*>[^<]*<\/a>/g;
/** Inline scripts moved to a file: a strict content security policy blocks them in pages. */
const beginScript = 'assets/begin.js';

/** The declarations that typedoc reads, and the files that become pages. */
const inputs = [
  'dist',
  'web/examples',
  'web/demo/fonts.css',
  'web/demo/fonts',
  'web/demo/public/icon.svg',
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'scripts/build/docs.ts'],
  ...['package-lock.json', 'typedoc.json', 'tsconfig.json', 'look.css'].map((name) => `${home}/${name}`),
];

function pages(): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name.endsWith('.html'))
    .map((entry) => join(entry.parentPath, entry.name));
}

/**
 * The style sheet into which typedoc's script inserts rules; a strict policy allows that only for a constructed one.
 */
function settleScript(): void {
  const file = join(folder, 'assets/main.js');
  const text = readFileSync(file, 'utf8');
  const element = 'document.head.appendChild(document.createElement("style"))';
  const sheet =
    '(()=>{const s=new CSSStyleSheet();document.adoptedStyleSheets.push(s);let t="";' +
    'return{dataset:{},get innerHTML(){return t},set innerHTML(v){t=v;s.replaceSync(v)}}})()';
  if (text.split(element).length !== 2) throw new SetupError('typedoc has changed: its script makes styles otherwise.');
  writeFileSync(
    file,
    text.replace(element, () => sheet),
  );
}

/** Adapts the pages to a strict policy and to any path: no inline scripts or styles, relative links. */
function settlePages(): void {
  const scripts = new Set<string>();
  for (const file of pages()) {
    const text = readFileSync(file, 'utf8');
    const base = /data-base="([^"]*)"/.exec(text)?.[1] ?? './';
    const settled = text
      .replace(/<script>([^<]+)<\/script>/g, (_, script: string) => {
        scripts.add(script);
        return `<script src="${base}${beginScript}"></script>`;
      })
      .replace(/ style="font-size:(\d+)px"/g, ' font-size="$1"')
      .replace(onPath('doxygen') ? /$^/ : cppLink, '')
      .replaceAll(book, `${base}../`);
    const left = /<script>|\sstyle="|\son\w+="/.exec(settled);
    if (left) throw new SetupError(`typedoc has changed: ${file} holds ${left[0]}`);
    writeFileSync(file, settled);
  }
  if (scripts.size !== 1)
    throw new SetupError(`typedoc has changed: ${scripts.size} scripts stand in its pages, not one.`);
  writeFileSync(join(folder, beginScript), [...scripts].join('\n'));
}

async function makeDocs(): Promise<void> {
  await installPackagesOf(home);
  mkdirSync(inProject('build'), { recursive: true });
  const look = [inProject('web/demo/fonts.css'), inProject(home, 'look.css')].map((file) => readFileSync(file, 'utf8'));
  writeFileSync(inProject('build/docs_look.css'), look.join('\n'));
  rmSync(folder, { recursive: true, force: true });
  const typedoc = inProject(home, 'node_modules/typedoc/bin/typedoc');
  await run(process.execPath, [typedoc, '--options', inProject(home, 'typedoc.json')], { cwd: inProject() });
  cpSync(fonts, join(folder, 'assets/fonts'), { recursive: true });
  settlePages();
  settleScript();
}

export async function buildDocs(): Promise<void> {
  const recipe = {
    stamp: inProject('build/docs.stamp'),
    digest: digestOf(
      inputs.map((name) => inProject(name)),
      onPath('doxygen'),
    ),
    outputs: [join(folder, 'index.html')],
  };
  await unlessFresh(recipe, () => step('Making the documentation (build/page/docs)', makeDocs));
  if (!existsSync(pageFolder)) throw new SetupError('build/page is missing: run "npm run build -- page" first.');
  cpSync(folder, join(pageFolder, 'docs'), { recursive: true });
  await buildCppDocs(join(pageFolder, 'docs/cpp'));
}
