// onnxruntime-web for the page's chapter 12: two files of its package as tests/bench installs it, its licence, the
// graph that the chapter runs, and the manifest by which the page finds them. They are 14 MB, so only `npm run build --
// onnxruntime` adds them to the built page; the page in git has an empty manifest.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { attentionOfAnySize } from '../../tests/bench/onnx/operations.js';
import { SetupError, step } from '../toolchain/progress.js';
import { inProject } from './fresh.js';
import { installPackagesOf } from './own_packages.js';
import { pageFolder } from './page.js';

const peers = 'tests/bench';
const installed = inProject(peers, 'node_modules/onnxruntime-web');
const module = 'ort.wasm.bundle.min.mjs';
const wasm = 'ort-wasm-simd-threaded.wasm';
const graph = 'attention.onnx';

export const onnxruntimeInstalled = (): boolean => existsSync(join(installed, 'dist', wasm));

/** Contents by path in the page's folder. Those other than the manifest are in a folder named like the version. */
export function onnxruntimeFiles(): Map<string, Buffer> {
  const { version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { version: string };
  const contents: readonly (readonly [string, Buffer])[] = [
    [module, readFileSync(join(installed, 'dist', module))],
    [wasm, readFileSync(join(installed, 'dist', wasm))],
    [graph, Buffer.from(attentionOfAnySize().serialised())],
  ];
  const notices = `onnxruntime-web ${version}, of the npm registry. Notices of the libraries in it:
https://github.com/microsoft/onnxruntime/blob/v${version}/ThirdPartyNotices.txt\n\n`;
  const licence = notices + readFileSync(inProject('scripts/licences/onnxruntime.txt'), 'utf8');
  const manifest = {
    version,
    bytes: contents.reduce((sum, [, content]) => sum + content.byteLength, 0),
    ...{ module: `${version}/${module}`, wasm: `${version}/${wasm}`, graph: `${version}/${graph}` },
  };
  return new Map([
    ...contents.map(([name, content]) => [`onnxruntime/${version}/${name}`, content] as const),
    [`onnxruntime/${version}/LICENSE`, Buffer.from(licence)],
    ['onnxruntime/manifest.json', Buffer.from(JSON.stringify(manifest))],
  ]);
}

/** Adds them to build/page. */
export async function addOnnxruntime(): Promise<void> {
  if (!existsSync(pageFolder)) throw new SetupError('build/page is missing: run "npm run build -- page" first.');
  await installPackagesOf(peers);
  await step('Adding onnxruntime-web to the page (build/page/onnxruntime)', () => {
    rmSync(join(pageFolder, 'onnxruntime'), { recursive: true, force: true });
    for (const [path, content] of onnxruntimeFiles()) {
      mkdirSync(dirname(join(pageFolder, path)), { recursive: true });
      writeFileSync(join(pageFolder, path), content);
    }
  });
}
