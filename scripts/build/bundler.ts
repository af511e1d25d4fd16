// What all bundles of the package have in common: their plugins, how they are shortened, and which modules they put into one file.

import type { InputOptions, Plugin, PluginContext } from 'rolldown';
import { partNames } from '../../web/src/runtime/needed_parts.js';
import { SetupError } from '../toolchain/progress.js';
import { glueFiles, glueText } from './glue.js';
import { noteBundled } from './licences.js';

const names = { keepNames: { class: true, function: false } }; // consoles show the names of classes
export const shortening = {
  compress: { target: 'es2022', ...names },
  mangle: { toplevel: true, ...names },
  codegen: { legalComments: 'inline' },
} as const;

const glueInPart: Plugin = {
  name: 'the glue in part',
  load: (id) => (glueFiles.test(id) ? glueText(id) : null),
};

// lit's build for environments without HTMLElement includes a whole server-side document, which reads every global of a
// page on load: in a cross-origin frame that is refused. All that is needed is a class to extend.
const noDocument = '\0no document';
const litWithoutDocument: Plugin = {
  name: 'lit without a document',
  resolveId: (source) => (source === '@lit-labs/ssr-dom-shim' ? noDocument : null),
  load: (id) =>
    id === noDocument
      ? `export const HTMLElement = globalThis.HTMLElement ?? class {};
         export const customElements = globalThis.customElements;`
      : null,
};

/** The parts of the WASM, which all bundles share (one_file.ts). */
const coreParts: Plugin = {
  name: 'the parts of the WASM',
  resolveId(source) {
    const part = partNames.find((name) => source === `built:${name}`);
    return part ? { id: `./${part}.js`, external: true } : null;
  },
};

/** Of Rolldown's helper for namespaces what `import()` of a file with several modules needs. */
const namespaceOf = `(all) => {
  const namespace = {};
  for (const name of Object.keys(all)) Object.defineProperty(namespace, name, { get: all[name], enumerable: true });
  return namespace;
}`;

const isHelperFile = /^(whole-)?rolldown-runtime\b/;

/**
 * Puts the helper into every file that needs it: a file of its own is one more request, after the one that names it. Where
 * it stands among modules it walks inherited keys, too, which pages may have added to Object.prototype.
 */
const ownNamespaces: Plugin = {
  name: 'own namespaces',
  renderChunk: (code) =>
    code
      .replace(/^import \{ \w+ as (\w+) \} from "\.\/(?:whole-)?rolldown-runtime.*";$/m, `const $1 = ${namespaceOf};`)
      .replace('for (var name in all)', 'for (var name of Object.keys(all))'),
  generateBundle(_options, bundle) {
    for (const [name, file] of Object.entries(bundle)) {
      if (isHelperFile.test(name)) delete bundle[name];
      else if (file.type === 'chunk' && /\bfor\s*\(\w+ [\w$]+ in\b|\brolldown-runtime\b/.test(file.code))
        throw new SetupError(`${name} has Rolldown's own helper for namespaces (scripts/build/bundler.ts).`);
    }
  },
};

/** Names of files stand in quotes, in which every bundler reads them; the minifier writes them as templates. */
const quotedFiles: Plugin = {
  name: 'quoted files',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle))
      if (file.type === 'chunk') file.code = file.code.replace(/\b(import\(|new URL\()`([^`$\\]*)`/g, '$1"$2"');
  },
};

export const plugins: readonly Plugin[] = [
  glueInPart,
  coreParts,
  litWithoutDocument,
  ownNamespaces,
  quotedFiles,
  noteBundled,
];

export const common = {
  platform: 'neutral',
  resolve: { mainFields: ['module', 'main'], conditionNames: ['node'] }, // lit's build without HTMLElement; the same in browsers
  transform: { target: 'es2022' },
} satisfies InputOptions;

type Graph = Pick<PluginContext, 'getModuleInfo'>;

/** The static imports of a module, transitively. */
export function staticImports(graph: Graph, id: string, found = new Set<string>()): Set<string> {
  if (found.has(id)) return found;
  found.add(id);
  for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) staticImports(graph, imported, found);
  return found;
}
