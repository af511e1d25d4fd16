// Third-party code in the package and its licences: THIRD_PARTY_LICENSES, from what the bundler put into dist/ and what
// compiler and linker put into the WebAssembly. `npm run check` compares them.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

import type { Plugin } from 'rolldown';
import { run, SetupError, step } from '../toolchain/progress.js';
import { modules, tools, wasmFolder } from './cmake.js';
import { inProject } from './fresh.js';

/** A third-party work. */
export interface Part {
  name: string;
  licence: string;
  where: string;
  text: string;
}

interface NativePart extends Omit<Part, 'text'> {
  /** In scripts/licences. */
  file: string;
  /** Archives with members that were linked, without their variant. */
  archives?: RegExp;
  /** Headers that were compiled. */
  headers?: RegExp;
}

export const licencesFile = inProject('THIRD_PARTY_LICENSES');
/** The output of `noteBundled`. */
export const bundledFile = inProject('build/package.bundled');
const wasm = 'in the .wasm files';

const nativeParts: readonly NativePart[] = [
  {
    name: 'xsimd',
    licence: 'BSD-3-Clause',
    where: `${wasm} and in the native library`,
    file: 'xsimd.txt',
    headers: /\/xsimd\//,
  },
  {
    name: 'RapidJSON',
    licence: 'MIT',
    where: `${wasm} and in the native library`,
    file: 'rapidjson.txt',
    headers: /\/rapidjson\//,
  },
  {
    name: 'Emscripten (the JavaScript beside the WebAssembly, Embind, its allocator and parts of its C library)',
    licence: 'MIT or NCSA',
    where: `in the JavaScript and ${wasm}`,
    file: 'emscripten.txt',
    archives: /^lib(emmalloc|noexit|stubs|embind)$/,
    headers: /\/sysroot\/include\/(emscripten|wasi|compat)\/|\/emmalloc\.c$/,
  },
  {
    name: 'musl',
    licence: 'MIT',
    where: wasm,
    file: 'musl.txt',
    archives: /^libc(_optz)?$/,
    headers: /\/sysroot\/include\/((bits|sys|arpa|net|netinet)\/)?\w+\.h$/,
  },
  {
    name: 'LLVM: libc++, libc++abi, libunwind, compiler-rt (each with the text below, in which it names itself)',
    licence: 'Apache-2.0 WITH LLVM-exception',
    where: wasm,
    file: 'llvm.txt',
    archives: /^lib(c\+\+|c\+\+abi|unwind|clang_rt\.builtins|compiler_rt)$/,
    headers: /\/sysroot\/include\/c\+\+\/|\/lib\/clang\/\d+\/include\//,
  },
];

const fonts: Part = {
  name: 'Source Serif 4, Inter, JetBrains Mono (subsets)',
  licence: 'OFL-1.1',
  where: 'in the page and the documentation, not in the package',
  text: readFileSync(inProject('web/demo/fonts/LICENSE.md'), 'utf8'),
};

const bundled = new Set<string>();

/** Records which packages' files are bundled by this process, in build/package.bundled. */
export const noteBundled: Plugin = {
  name: 'note what is bundled',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type === 'chunk') for (const id of file.moduleIds) bundled.add(originOf(id));
    }
    writeFileSync(bundledFile, `${[...bundled].sort().join('\n')}\n`);
  },
};

/** The origin of a bundled file: the name of an npm package, 'emscripten', or '' for our own. */
function originOf(path: string): string {
  const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
  if (name) return name;
  if (/(^|\/)build\/wasm[^/]*\/[^/]+\.mjs$/.test(path)) return 'emscripten';
  if (/(^|\/)web\/src\//.test(path) || /^(\0|built:)/.test(path)) return '';
  throw new SetupError(`${path} is bundled, and scripts/build/licences.ts does not know whose it is.`);
}

function packagePart(name: string): Part {
  const folder = inProject('node_modules', name);
  const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const file = readdirSync(folder).find((each) => /^licen[cs]e(\.\w+)?$/i.test(each));
  if (!file) throw new SetupError(`The package ${name} is bundled, and has no file with its licence.`);
  const text = readFileSync(`${folder}/${file}`, 'utf8');
  return { name: `${name} ${version}`, licence: license, where: 'in the JavaScript', text };
}

function requireFile(file: string, cure: string): string {
  if (!existsSync(file)) throw new SetupError(`${file} is missing: run "${cure}" first.`);
  return readFileSync(file, 'utf8');
}

// The output of --why-extract: a line per archive member, "reference <tab> archive(member) <tab> symbol".
function linkedArchives(): Set<string> {
  const lines = Object.values(modules).flatMap((file) =>
    requireFile(`${file}.linked`, 'npm run build -- wasm').split('\n').slice(1),
  );
  const archives = lines.flatMap((line) => /^[^\t]*\t(.+\.a)\(/.exec(line)?.[1] ?? []);
  return new Set(archives.map((path) => basename(path, '.a').replace(/-.*/, '')));
}

/** Headers that the WebAssembly's objects were compiled from, according to Ninja's dependency log. */
async function includedHeaders(): Promise<Set<string>> {
  const { ninja } = await tools.build();
  const headers = new Set<string>();
  const { stdout } = await run(ninja, ['-C', wasmFolder, '-t', 'deps']);
  for (const block of stdout.split('\n\n').filter((each) => !/^(tests\/|googletest)/.test(each)))
    for (const line of block.split('\n').slice(1)) if (line.startsWith('    ')) headers.add(line.trim());
  return headers;
}

const ours = /(^|\/)(cpp\/(clearformer|bindings)|CMakeFiles|units)\//;

async function nativePartsFound(origins: readonly string[]): Promise<Part[]> {
  const archives = [...linkedArchives()].filter((name) => name !== 'libclearformer');
  const headers = [...(await includedHeaders())].filter((path) => !ours.test(path));
  const unknown = [
    ...archives.filter((name) => !nativeParts.some((part) => part.archives?.test(name))),
    ...headers.filter((path) => !nativeParts.some((part) => part.headers?.test(path))),
  ];
  if (unknown.length > 0) {
    throw new SetupError(
      `In the WebAssembly, and not known to scripts/build/licences.ts: ${unknown.slice(0, 10).join(', ')}.\n` +
        'Add whose it is to nativeParts, with its licence in scripts/licences.',
    );
  }
  const found = nativeParts.filter(
    ({ file, archives: of, headers: from }) =>
      archives.some((name) => of?.test(name)) ||
      headers.some((path) => from?.test(path)) ||
      origins.some((origin) => file === `${origin}.txt`),
  );
  return found.map(({ name, licence, where, file }) => {
    return { name, licence, where, text: readFileSync(inProject('scripts/licences', file), 'utf8') };
  });
}

/** All third-party parts: in dist/, in the WebAssembly and in the page. */
export async function partsOfOthers(): Promise<Part[]> {
  const origins = requireFile(bundledFile, 'npm run build -- package').split('\n').filter(Boolean);
  const packages = origins.filter((name) => name !== 'emscripten').map(packagePart);
  return [...packages, ...(await nativePartsFound(origins)), fonts];
}

const rule = '='.repeat(100);

/** The file's text: the list of parts, then each licence once. */
export function licencesText(parts: readonly Part[]): string {
  const texts = new Map<string, Part[]>();
  for (const part of parts) {
    const text = part.text.replaceAll('\r', '').trim();
    texts.set(text, [...(texts.get(text) ?? []), part]);
  }
  const list = parts.map(({ name, licence, where }) => `- ${name}\n    ${licence}; ${where}`);
  const full = [...texts].map(
    ([text, of]) => `${rule}\n${of.map(({ name }) => name).join('\n')}\n${rule}\n\n${text}\n`,
  );
  return `clearformer is under the MIT License, which is in LICENSE. What is built from it holds parts of other works:

${list.join('\n')}

Their licences follow. This file is made by "npm run build -- licences".

${full.join('\n')}`;
}

export async function writeLicences(): Promise<void> {
  await step('Writing THIRD_PARTY_LICENSES', async () =>
    writeFileSync(licencesFile, licencesText(await partsOfOthers())),
  );
}

/** Refuses a page that contains a package not named in THIRD_PARTY_LICENSES. `listed` is written by Vite. */
export function checkPageLicences(listed: string): void {
  const text = requireFile(licencesFile, 'npm run build -- licences');
  const names = [...listed.matchAll(/^## (\S+) - (\S+)/gm)].map(([, name, version]) => `${name} ${version}`);
  const missing = names.filter((name) => !text.includes(`- ${name}\n`));
  if (names.length === 0) throw new SetupError('Vite has listed no licence of what the page holds.');
  if (missing.length > 0)
    throw new SetupError(`The page holds ${missing.join(', ')}, which THIRD_PARTY_LICENSES does not name.`);
}
