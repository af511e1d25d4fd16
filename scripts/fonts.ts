// npm run fonts: makes the page's fonts (web/demo/fonts/*.woff2) from the full typefaces in packages of
// the npm registry: only the characters, weights and features that the page uses. The results are committed, so only a
// change of the lists below needs this, and the network. Reports each file's size; the total must stay below 60 kB.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { inProject } from './build/fresh.js';
import { type Face, faces, type Typeface, typefaces } from './fonts/faces.js';
import { named } from './fonts/named.js';
import { commandOf } from './main.js';
import { takeFiles } from './models/npm_package.js';
import { run, SetupError, step } from './toolchain/progress.js';

/** The page's budget for all fonts, in bytes. */
const mostBytes = 60_000;
const subsetter = 'subset-font@2.9.0';
const workFolder = inProject('build/fonts');
const fontsFolder = inProject('web/demo/fonts');

interface SubsetOptions {
  targetFormat: 'sfnt';
  keepFeatures: readonly string[];
  variationAxes?: Typeface['axes'];
  noHinting: boolean;
}
interface Tools {
  subset(font: Buffer, text: string, options: SubsetOptions): Promise<Buffer>;
  convert(font: Buffer, format: 'woff2'): Promise<Buffer>;
}

/** HarfBuzz's subsetter as WebAssembly; installed in a work folder, since nothing else needs it. */
async function loadTools(): Promise<Tools> {
  writeFileSync(join(workFolder, 'package.json'), '{ "private": true }\n');
  const args = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', subsetter];
  await step(`Installing ${subsetter}`, () => run('npm', args, { cwd: workFolder }));
  const require = createRequire(join(workFolder, 'package.json'));
  const { convert } = require('fontverter') as Pick<Tools, 'convert'>;
  return { subset: require('subset-font') as Tools['subset'], convert };
}

/** A typeface's font with the characters and features of `face`. */
async function made({ subset, convert }: Tools, face: Face): Promise<Buffer> {
  const { file, axes } = typefaces[face.typeface];
  const font = await subset(readFileSync(join(workFolder, file)), face.characters, {
    targetFormat: 'sfnt',
    keepFeatures: face.features,
    ...(axes ? { variationAxes: axes } : {}),
    noHinting: true,
  });
  return convert(named(font, face.family, face.style), 'woff2');
}

export const command = commandOf(async () => {
  mkdirSync(workFolder, { recursive: true });
  mkdirSync(fontsFolder, { recursive: true });
  for (const { origin } of Object.values(typefaces)) await takeFiles(workFolder, origin);
  const tools = await loadTools();
  let total = 0;
  for (const face of faces) {
    const font = await made(tools, face);
    writeFileSync(join(fontsFolder, face.file), font);
    console.log(`${face.file}: ${font.byteLength} bytes`);
    total += font.byteLength;
  }
  console.log(`together: ${total} bytes`);
  if (total > mostBytes) throw new SetupError(`The fonts have ${total} bytes, at most ${mostBytes} are allowed.`);
});
