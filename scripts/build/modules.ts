// The ES modules of the package, web/src bundled into dist/. What every page with a tokenizer needs is in one file and what every
// page with a language model needs in a second one: many small files would be a request each, and 6 kB more when compressed.
// What is loaded on demand has files of its own.

import { common, plugins, shortening, staticImports } from './bundler.js';
import { inProject } from './fresh.js';

export const entries = ['index', 'tokenizer', 'chat_template', 'elements'];

// Modules that stay separate from index.js, so that bundlers can drop them from pages that do not use them: inside
// index.js `export * as nn` would be an object that keeps all of its members, and pipeline() would keep those of all
// tasks.
const separate = { nn: 'primitives/nn', d2l: 'primitives/d2l', pipeline: 'pipelines/pipeline' };

const source = (path: string): string => inProject(`web/src/${path}.ts`);

const separateFiles = {
  name: 'separate files',
  resolveId(imported: string, importer: string | undefined) {
    const name = Object.entries(separate).find(([, path]) => imported === `./${path}.js`)?.[0];
    return name && importer === source('index') ? { id: `./${name}.js`, external: true } : null;
  },
};

/** Files that several entries share, first match first: their names, and the entries that all need them. */
const shared = [
  { name: 'text', neededBy: [['tokenizer'], ['models/auto_models', 'text/auto_tokenizer']] },
  { name: 'language_model', neededBy: [['models/auto_models', 'text/auto_tokenizer']] },
  { name: 'web_folder', neededBy: [['checkpoint/web_folder']] },
];

export async function bundleModules(): Promise<void> {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    ...common,
    input: Object.fromEntries(
      [...entries.map((name) => [name, name]), ...Object.entries(separate)].map(([name = '', path = '']) => [
        name,
        source(path),
      ]),
    ),
    plugins: [separateFiles, ...plugins],
  });
  await build.write({
    dir: inProject('dist'),
    format: 'esm',
    minify: shortening,
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: {
      groups: shared.map(({ name, neededBy }, i) => {
        let sets: Set<string>[] | undefined;
        return {
          debugName: name,
          priority: shared.length - i,
          name: (id, graph) => {
            sets ??= neededBy.map((paths) =>
              paths.reduce((found, path) => staticImports(graph, source(path), found), new Set<string>()),
            );
            return sets.every((set) => set.has(id)) ? name : null;
          },
        };
      }),
    },
  });
  await build.close();
}
