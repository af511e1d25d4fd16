// Bundles the command line, web/src/cli, into dist/cli.js; it imports dist/index.js, like a user's program.

import { chmodSync, readFileSync } from 'node:fs';

import type { Plugin } from 'rolldown';
import { shortening } from './bundler.js';
import { inProject } from './fresh.js';
import { generationOptions } from './generation_options.js';
import { noteBundled } from './licences.js';

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
  resolveId: (source) => (source.startsWith('built:') ? source : null),
  load: (id) => built[id.replace('built:', '')]?.() ?? null,
};

const thePackage: Plugin = {
  name: 'the package',
  resolveId: (source) => (/^(\.\.\/)+index\.js$/.test(source) ? { id: './index.js', external: true } : null),
};

/** The licence of the bundled argument parser, as a comment that minifiers keep. */
function licence(): string {
  const text = readFileSync(inProject('node_modules/commander/LICENSE'), 'utf8').trim();
  const { version } = JSON.parse(readFileSync(inProject('node_modules/commander/package.json'), 'utf8'));
  return `/*! commander ${version}\n${text}\n*/`;
}

export async function bundleCommandLine(): Promise<void> {
  const { rolldown } = await import('rolldown');
  const file = inProject('dist/cli.js');
  const build = await rolldown({
    input: inProject('web/src/cli/main.ts'),
    platform: 'node',
    transform: { target: 'node20.16' },
    plugins: [builtModules, thePackage, noteBundled],
  });
  await build.write({
    file,
    format: 'esm',
    minify: shortening,
    banner: licence(),
    codeSplitting: false,
  });
  await build.close();
  chmodSync(file, 0o755);
}
