// The contents of the npm package: the expected files and no others.

import { readFileSync } from 'node:fs';

import { inProject } from '../build/fresh.js';
import { run, SetupError } from '../toolchain/progress.js';

export interface PackedFile {
  path: string;
  size: number;
}

interface Packed {
  filename: string;
  /** Size of the tarball in bytes. */
  size: number;
  files: readonly PackedFile[];
}

// The two programs are 347 kB of it, one of them again as text for clearformer/inline 179 kB, their parts 128 kB. The
// scripts are 452 kB, since clearformer/inline and Node have them in files of their own; types 80 kB, pages 120 kB. Since
// it was 1.43 MB (2026-11-26) checks of arguments and options and what folders of other kinds are told have taken 30 kB of
// the scripts, in two files each, and pages on them 4 kB; images with alpha, sizes that validate tells, workers of opaque
// origins, limits of positions, types of template options, aborts in workers and names of weights and classes 8 kB; padding,
// labels and inputs of pipelines 2 kB, white space of templates 1 kB, modules that are files of their own since only few
// pages load them 0.7 kB; more of Python in templates, settings of newer sentence-transformers and what analyses say that
// they refuse 0.8 kB. The order of functions in the programs (function_order.ts) saves 21 kB, the changelog by subjects, not
// by days, 32 kB, rules of tensor names as texts 12 kB, and parts of the programs, of which there is one of each, 45 kB. New
// LoRA adapters and their merging are 6.5 kB, of which their page is 2. What published code of transformers.js writes (doubles
// as sound, nulls as options, a prompt without await) is 0.7 kB, half of it on its page; ESM is 5.6 kB. Encoders
// of samples, their feature extractor, tokenizer, pipelines and pages are 18 kB; Qwen3.5 is 7 kB.
// Twenty-two more model types, the classifiers of language models and the feature extractor of AST are 23 kB.
const tarballLimit = 1_446_000;
/** The files of the package besides package.json. */
const expected =
  /^(package\.json|README\.md|LICENSE|THIRD_PARTY_LICENSES|(CHANGELOG|SECURITY)\.md|web\/examples\/\w+\.md|dist\/.*\.(js|d\.ts|wasm))$/;
const required = ['README.md', 'LICENSE', 'THIRD_PARTY_LICENSES', 'CHANGELOG.md', 'dist/index.js', 'dist/index.d.ts'];

/** Packs the project into `folder`, without building; without a folder as a dry run. */
export async function pack(folder?: string): Promise<Packed> {
  const where = folder ? ['--pack-destination', folder] : ['--dry-run'];
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--loglevel=error', ...where], {
    cwd: inProject(),
  });
  const [packed] = JSON.parse(stdout) as Packed[];
  if (!packed) throw new SetupError('npm pack has packed nothing.');
  return packed;
}

export const packedFiles = async (): Promise<readonly PackedFile[]> => (await pack()).files;

/** What would be packed, checked. */
export const checkPackage = async (): Promise<string> => checkPacked(await pack());

/** Refuses unexpected or missing files, paths of this machine, files that bundlers miss, and a package that is too large. */
export function checkPacked({ files, size }: Packed): string {
  const paths = files.map(({ path }) => path);
  const faults = paths.filter((path) => !expected.test(path)).map((path) => `${path} does not belong into the package`);
  for (const path of required) if (!paths.includes(path)) faults.push(`${path} is not in the package`);
  for (const path of paths.filter((each) => /\.(js|d\.ts|json)$/.test(each))) {
    const text = readFileSync(inProject(path), 'utf8');
    if (text.includes(inProject().replace(/\/$/, ''))) faults.push(`${path} holds the path of this folder`);
    if (/\b(import\(|new URL\()`\./.test(text))
      faults.push(`${path} names a file in a template, which Farm does not read`);
  }
  if (size > tarballLimit) faults.push(`the tarball has ${size} bytes; the limit is ${tarballLimit}`);
  if (faults.length > 0) throw new SetupError(faults.join('\n'));
  return `${files.length} files, ${(size / 1e6).toFixed(2)} MB packed`;
}
