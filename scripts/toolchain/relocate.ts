// Makes the programs of an unpacked package folder run from there: each gets its own loader and libraries,
// so they use nothing of the system.

import { closeSync, existsSync, lstatSync, openSync, readdirSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { inParallel, run, SetupError, step } from './progress.js';

/** The loader and the shared libraries of an unpacked `root`, relative to it; any architecture. */
function runtimeOf(root: string): { libraries: string; loader: string } {
  const folders = readdirSync(join(root, 'usr/lib')).map((name) => join('usr/lib', name));
  const libraries = folders.find((folder) => existsSync(join(root, folder, 'libc.so.6')));
  const loader = ['usr/lib64', 'usr/lib', 'lib64', 'lib']
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)))
    .find((file) => /\/ld-linux[^/]*\.so\.\d+$/.test(file));
  if (!libraries || !loader) throw new SetupError(`The C library is missing in ${root}.`);
  return { libraries, loader };
}

// An ELF file other than a link, whose target is patched under its own name.
function isProgramFile(file: string): boolean {
  if (!lstatSync(file).isFile()) return false;
  const magic = Buffer.alloc(4);
  const handle = openSync(file, 'r');
  readSync(handle, magic, 0, 4, 0);
  closeSync(handle);
  return magic.equals(Buffer.from([0x7f, 0x45, 0x4c, 0x46])); // "\x7fELF"
}

/**
 * Patches the programs of `root` that match `programs` (paths relative to root) so that they run from `finalRoot`, and
 * drops the library search path of the shared libraries that match `libraries`: it would override the programs' own.
 */
export async function relocate(
  root: string,
  finalRoot: string,
  { folders, programs, libraries }: { folders: readonly string[]; programs: RegExp; libraries: RegExp },
): Promise<void> {
  const runtime = runtimeOf(root);
  const inFolders = folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)));
  const libraryFiles = readdirSync(join(root, runtime.libraries)).map((name) => join(runtime.libraries, name));
  const elf = (files: readonly string[], pattern: RegExp): string[] =>
    files.filter((file) => pattern.test(file) && isProgramFile(join(root, file)));

  // patchelf comes from the same packages; its loader is given explicitly because it is not patched itself.
  const loaderArgs = ['--library-path', join(root, runtime.libraries), join(root, 'usr/bin/patchelf')];
  const patchelf = (file: string, ...args: readonly string[]): Promise<unknown> =>
    run(join(root, runtime.loader), [...loaderArgs, ...args, join(root, file)]);
  const patchProgram = async (file: string): Promise<void> => {
    await patchelf(file, '--set-interpreter', join(finalRoot, runtime.loader));
    await patchelf(file, '--remove-rpath');
    await patchelf(file, '--force-rpath', '--set-rpath', join(finalRoot, runtime.libraries));
  };
  const targets = elf(inFolders, programs);
  await step(`Making ${targets.length} programs independent of the system`, async () => {
    await inParallel(targets, 2, patchProgram);
    await inParallel(elf(libraryFiles, libraries), 2, (file) => patchelf(file, '--remove-rpath'));
  });
}

/**
 * Writes `launcher`, a script that runs `program` of the same root with the root's own loader. For programs that do not
 * read /proc/self/exe, and for those that patchelf breaks (Python is not position independent).
 */
export function makeLauncher(
  root: string,
  finalRoot: string,
  program: string,
  launcher: string,
  environment = '',
): void {
  const { loader, libraries } = runtimeOf(root);
  const at = (path: string): string => `'${join(finalRoot, path)}'`;
  const command = `${at(loader)} --argv0 "$0" --library-path ${at(libraries)} ${at(program)} "$@"`;
  writeFileSync(join(root, launcher), `#!/bin/sh\n${environment}exec ${command}\n`, { mode: 0o755 });
}
