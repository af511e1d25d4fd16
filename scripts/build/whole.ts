// node.js and whole.js: what every program needs in one file, which Node loads in a third of the time of many files;
// what a model may need (templates, character tables) in a second one, which whole.js includes from the start;
// and the rest (tasks, formats, code for servers) in files that are loaded on demand.

import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

import type { PluginContext, RolldownOptions } from 'rolldown';
import { inProject } from './fresh.js';
import { glueFiles, glueText } from './glue.js';

const names = { keepNames: { class: true, function: false } };
export const shortening = {
  compress: { target: 'es2022', ...names },
  mangle: { toplevel: true, ...names },
  codegen: { legalComments: 'inline' },
} as const;

const entries = { node: inProject('web/src/node.ts'), whole: inProject('web/src/whole.ts') };

const files = (worker: string): RolldownOptions['plugins'] => ({
  name: 'files of the package',
  load: (id) => (id === 'built:worker' ? worker : glueFiles.test(id) ? glueText(id) : null),
  resolveId(source) {
    if (/\/assets\.js$/.test(source)) return inProject('web/src/runtime/assets_whole.ts');
    if (source === 'built:worker') return source;
    return source === 'built:embedded' ? { id: './embedded.js', external: true } : null;
  },
});

/**
 * Service workers may not use import(), not even for modules already loaded. Each import() of a part that whole.ts
 * provides therefore looks for it there first; the others are unchanged.
 */
const givenParts: RolldownOptions['plugins'] = {
  name: 'parts that are there from the beginning',
  transform(code, id) {
    if (!id.endsWith('.ts') || id === entries.whole) return null;
    // Type imports are unchanged: import('./core.js').Core.
    const changed = code.replace(/\bimport\('([^']+)'\)(?!\.[A-Z])/g, (call, path: string) => {
      const name = path.startsWith('.') ? relative(sources, resolve(dirname(id), path)) : path;
      return given.has(name) ? `part(${JSON.stringify(name)}, () => ${call})` : call;
    });
    return changed === code
      ? null
      : `import { part } from ${JSON.stringify(`${sources}/support/parts.js`)};\n${changed}`;
  },
};

type Graph = Pick<PluginContext, 'getModuleInfo'>;

const sources = inProject('web/src');
/** The parts that whole.ts provides, by their names there. */
const given = new Set(
  [...readFileSync(entries.whole, 'utf8').matchAll(/^ {2}'([^']+)': \w+,$/gm)].map(([, name = '']) => name),
);

/** The static imports of an entry, transitively. */
function needed(graph: Graph, id: string, found = new Set<string>()): Set<string> {
  if (found.has(id)) return found;
  found.add(id);
  for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) needed(graph, imported, found);
  return found;
}

/** Writes them to dist/; `worker` is the module that exports the worker script. */
export async function bundleWhole(define: Record<string, string>, worker: string): Promise<void> {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    input: entries,
    plugins: [files(worker), givenParts],
    platform: 'neutral',
    resolve: { mainFields: ['module', 'main'] },
    transform: { target: 'es2022', define },
    treeshake: { moduleSideEffects: true }, // the entries import what must be included
    logLevel: 'silent', // it would warn about each import() of an included module
  });
  let parts: { core: Set<string>; more: Set<string> } | undefined;
  await build.write({
    dir: inProject('dist'),
    format: 'esm',
    minify: shortening,
    chunkFileNames: 'whole-[name].js',
    codeSplitting: {
      groups: [
        {
          name: (id, graph) => {
            parts ??= { core: needed(graph, entries.node), more: needed(graph, entries.whole) };
            return parts.core.has(id) ? 'core' : parts.more.has(id) ? 'more' : null;
          },
        },
      ],
    },
  });
  await build.close();
}
