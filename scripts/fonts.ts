// npm run fonts: makes the page's fonts (web/demo/fonts/*.woff2) out of the whole typefaces as they stand in packages of
// the npm registry: only the characters, weights and features that the page uses. What it makes is committed, so only a
// change of the lists below needs it, and the network. Reports each file's size; all together stay below 60 kB.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { inProject } from './build/fresh.js';
import { type Face, faces, type Typeface, typefaces } from './fonts/faces.js';
import { named } from './fonts/named.js';
import { commandOf } from './main.js';
import { takeFiles } from './models/npm_package.js';
import { run, SetupError, step } from './toolchain/progress.js';

/** All the fonts, in bytes (the page's budget for them). */
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

/** HarfBuzz's subsetter as WebAssembly; installed in the work folder, since nothing else of the project needs it. */
async function loadTools(): Promise<Tools> {
  writeFileSync(join(workFolder, 'package.json'), '{ "private": true }\n');
  const args = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', subsetter];
  await step(`Installing ${subsetter}`, () => run('npm', args, { cwd: workFolder }));
  const require = createRequire(join(workFolder, 'package.json'));
  const { convert } = require('fontverter') as Pick<Tools, 'convert'>;
  return { subset: require('subset-font') as Tools['subset'], convert };
}

/** The font of one typeface with the characters and features of `face`. */
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
