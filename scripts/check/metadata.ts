// Project metadata in package.json: addresses must be present, and real ones before a release.

import { readFileSync } from 'node:fs';

import { inProject } from '../build/fresh.js';
import { SetupError } from '../toolchain/progress.js';

export interface PackageJson {
  name: string;
  version: string;
  description?: string;
  keywords?: readonly string[];
  license?: string;
  author?: string;
  homepage?: string;
  repository?: { type?: string; url?: string };
  bugs?: { url?: string };
}

export const packageJson = (): PackageJson => JSON.parse(readFileSync(inProject('package.json'), 'utf8'));

/** The addresses by field name. */
function addresses({ homepage = '', repository, bugs }: PackageJson): Record<string, string> {
  return { repository: repository?.url ?? '', homepage, bugs: bugs?.url ?? '' };
}

function passIfNone(faults: readonly string[], found: PackageJson): string {
  if (faults.length > 0) throw new SetupError(faults.join('\n'));
  return Object.values(addresses(found)).join(', ');
}

/** Rejects missing fields, and URLs other than https. */
export function checkMetadata(found: PackageJson = packageJson()): string {
  const faults: string[] = [];
  for (const field of ['description', 'license', 'author'] as const)
    if (!found[field]) faults.push(`package.json has no ${field}`);
  if ((found.keywords ?? []).length === 0) faults.push('package.json has no keywords');
  for (const [field, address] of Object.entries(addresses(found)))
    if (!/^(git\+)?https:\/\/[\w.-]+\//.test(address)) faults.push(`package.json: ${field} must be an https address`);
  return passIfNone(faults, found);
}

/** Rejects placeholder URLs in the domain `.invalid`, which is reserved and never resolves (RFC 2606). */
export function checkAddresses(found: PackageJson = packageJson()): string {
  const faults = Object.entries(addresses(found)).flatMap(([field, address]) =>
    /^(git\+)?https:\/\/([\w.-]+\.)?invalid(:\d+)?(\/|$)/i.test(address)
      ? [`package.json: ${field} is ${address}, which stands for the real one: fill it in`]
      : [],
  );
  return passIfNone(faults, found);
}
