// Links of the packed pages (README.md and those it links to): each leads to a packed file or to a URL. Registries show
// pictures from the repository that package.json names, and lead there from README.md: pictures, and what README.md says to those
// who work on the library, need only be in the repository.

import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

import { inProject } from '../build/fresh.js';
import { SetupError } from '../toolchain/progress.js';
import { packedFiles } from './packed.js';

const forContributors = 'CONTRIBUTING.md';

interface Link {
  target: string;
  picture: boolean;
}

/** Links and pictures of Markdown and of HTML in it, except in code. */
export function linksOf(text: string): Link[] {
  const prose = text.replace(/^(```|~~~)[\s\S]*?^\1/gm, '').replace(/`[^`\n]*`/g, '`');
  const markdown = [...prose.matchAll(/(!?)\[[^\]]*\]\(\s*<?([^)\s>]+)/g)];
  const html = [...prose.matchAll(/<(img|a)\b[^>]*?\b(?:src|href)="([^"]*)"/g)];
  return [...markdown, ...html].map(([, kind, target = '']) => ({ target, picture: kind === '!' || kind === 'img' }));
}

function faultOf(page: string, { target, picture }: Link, packed: ReadonlySet<string>): string[] {
  if (/^(https|mailto):/.test(target)) return [];
  const path = posix.normalize(posix.join(posix.dirname(page), decodeURIComponent(target.replace(/[#?].*/, ''))));
  if (target.startsWith('#') || (packed.has(path) && !picture)) return [];
  if (!existsSync(inProject(path))) return [`${page} leads to ${target}, which is not there`];
  if (picture || (page === 'README.md' && path === forContributors)) return [];
  return [`${page} leads to ${target}, which is not in the package: name its file as code, or pack it`];
}

export async function checkLinks(): Promise<string> {
  const packed = new Set((await packedFiles()).map(({ path }) => path));
  const pages = [...packed].filter((path) => path.endsWith('.md')).sort();
  const found = pages.map((page) => ({ page, links: linksOf(readFileSync(inProject(page), 'utf8')) }));
  const faults = found.flatMap(({ page, links }) => links.flatMap((link) => faultOf(page, link, packed)));
  if (!packed.has('README.md')) faults.push('README.md is not in the package');
  if (faults.length > 0) throw new SetupError(faults.join('\n'));
  const count = found.reduce((sum, { links }) => sum + links.length, 0);
  return `${count} links of ${pages.length} pages`;
}
