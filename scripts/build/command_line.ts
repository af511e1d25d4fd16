// Bundles the command line, web/src/cli, into dist/cli.js; it imports dist/index.js, like a user's program.

import { chmodSync, readFileSync } from 'node:fs';

import type { BuildOptions, Plugin } from 'esbuild';
import { inProject } from './fresh.js';
import { generationOptions } from './generation_options.js';
import { noteBundled } from './licences.js';

type Build = typeof import('esbuild').build;

const packageJson = (): { version: string; description: string } =>
  JSON.parse(readFileSync(inProject('package.json'), 'utf8'));

/** The contents of modules named built:…; see web/src/cli/built.d.ts. */
const built: Readonly<Record<string, () => string>> = {
  generation_options: () => `export default ${JSON.stringify(generationOptions())};`,
  package: () => {
    const { version, description } = packageJson();
    return `export const version = ${JSON.stringify(version)}; export const description = ${JSON.stringify(description)};`;
  },
};

const builtModules: Plugin = {
  name: 'built modules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^built:/ }, ({ path }) => ({ path: path.replace('built:', ''), namespace: 'built' }));
    onLoad({ filter: /.*/, namespace: 'built' }, ({ path }) => ({ contents: built[path]?.() ?? '', loader: 'js' }));
  },
};

const thePackage: Plugin = {
  name: 'the package',
  setup({ onResolve }) {
    onResolve({ filter: /^(\.\.\/)+index\.js$/ }, () => ({ path: './index.js', external: true }));
  },
};

/** The licence of the bundled argument parser, as a comment that minifiers keep. */
function licence(): string {
  const text = readFileSync(inProject('node_modules/commander/LICENSE'), 'utf8').trim();
  const { version } = JSON.parse(readFileSync(inProject('node_modules/commander/package.json'), 'utf8'));
  return `/*! commander ${version}\n${text}\n*/`;
}

export async function bundleCommandLine(build: Build, options: BuildOptions): Promise<void> {
  const outfile = inProject('dist/cli.js');
  await build({
    ...options,
    platform: 'node',
    target: 'node20.16',
    mainFields: ['module', 'main'],
    sourcemap: false,
    plugins: [builtModules, thePackage, noteBundled],
    entryPoints: [inProject('web/src/cli/main.ts')],
    // commander is CommonJS and loads Node's modules with require.
    banner: {
      js: `${licence()}\nimport { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);`,
    },
    outfile,
  });
  chmodSync(outfile, 0o755);
}
