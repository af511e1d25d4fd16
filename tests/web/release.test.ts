// The checks of a release: links of pages, the list of packed files, licences by the names of their parts, addresses.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { inProject } from '../../scripts/build/fresh.js';
import { licencesText } from '../../scripts/build/licences.js';
import { exportsOf, isDocumented, undocumentedMembers } from '../../scripts/check/documented.js';
import { linksOf } from '../../scripts/check/links.js';
import { checkAddresses, checkMetadata, type PackageJson, packageJson } from '../../scripts/check/metadata.js';
import { checkPacked } from '../../scripts/check/packed.js';

describe('links', () => {
  it('are those of the prose, in Markdown and HTML', () => {
    const page = 'See [a](one.md#part), ![b](two.png)\n<img src="three.svg">\n`[c](no.md)`\n```js\nf[d](no.md)\n```\n';
    expect(linksOf(page)).toEqual([
      { target: 'one.md#part', picture: false },
      { target: 'two.png', picture: true },
      { target: 'three.svg', picture: true },
    ]);
  });
});

describe('doc comments', () => {
  const text = `import { A } from './a.js';
/** What it is. */
export declare class B {
}
export interface C extends A {
}
export { A, type D as E } from './d.js';
export type { A as F };
/** All of it. */
export * as nn from './nn.js';
`;
  it('are looked for in the file that declares the export', () => {
    expect(exportsOf('/dist/index.d.ts', text)).toEqual([
      { name: 'A', file: '/dist/d.d.ts' },
      { name: 'D', file: '/dist/d.d.ts' },
      { name: 'A', file: '/dist/a.d.ts' },
      { name: '*', file: '/dist/nn.d.ts' },
      { name: 'nn', file: '/dist/index.d.ts' },
      { name: 'B', file: '/dist/index.d.ts' },
      { name: 'C', file: '/dist/index.d.ts' },
      { name: 'nn', file: '/dist/index.d.ts' },
    ]);
  });
  it.each([
    ['B', true],
    ['nn', true],
    ['C', false],
    ['A', undefined],
  ])('%s: %s', (name, documented) => {
    expect(isDocumented(text, name)).toBe(documented);
  });
  it('are expected of methods and functions in interfaces', () => {
    const text = `export interface A<T> {
    size: number;
    none(): void;
    /** Documented. */
    some<T>(one: T): T;
    readonly of?: (one: number) => string;
}
interface B {
    hidden(): void;
}
`;
    expect(undocumentedMembers(text, 'A')).toEqual(['none', 'of']);
    expect(undocumentedMembers(text, 'B')).toEqual([]);
  });
});

describe('the list of packed files', () => {
  const files = (...paths: readonly string[]) => paths.map((path) => ({ path, size: 1 }));
  const whole = ['README.md', 'LICENSE', 'THIRD_PARTY_LICENSES', 'CHANGELOG.md', 'dist/index.js', 'dist/index.d.ts'];

  it('passes where all is there and nothing else', () => {
    expect(checkPacked({ filename: '', size: 1, files: files(...whole) })).toContain('6 files');
  });
  it.each(['dist/.env', 'web/src/index.ts', 'dist/notes.txt', 'clearformer.tgz'])('refuses %s', (path) => {
    expect(() => checkPacked({ filename: '', size: 1, files: files(...whole, path) })).toThrow(path);
  });
  it('refuses what is missing, and a tarball that is too large', () => {
    expect(() => checkPacked({ filename: '', size: 1, files: files(...whole.slice(1)) })).toThrow('README.md');
    expect(() => checkPacked({ filename: '', size: 3e6, files: files(...whole) })).toThrow('3000000 bytes');
  });
});

describe('THIRD_PARTY_LICENSES', () => {
  it('names every part and has each text once', () => {
    const part = (name: string, text: string) => ({ name, text, licence: 'MIT', where: 'here' });
    const text = licencesText([part('one 1.0.0', 'A'), part('two 2.0.0', 'A'), part('three', 'B\r\n')]);
    for (const name of ['one 1.0.0', 'two 2.0.0', 'three']) expect(text).toContain(`- ${name}\n    MIT; here`);
    expect(text.match(/^A$/gm)).toHaveLength(1);
    expect(text).toMatch(/=\none 1\.0\.0\ntwo 2\.0\.0\n=/);
  });
});

describe('addresses', () => {
  const at = (host: string): PackageJson => ({
    ...packageJson(),
    homepage: `https://${host}/`,
    bugs: { url: `https://${host}/issues` },
    repository: { type: 'git', url: `git+https://${host}/clearformer.git` },
  });

  it('that lead nowhere are named, each with its field, and hold up what publishes', () => {
    for (const host of ['clearformer.invalid', 'invalid', 'pages.clearformer.INVALID']) {
      expect(checkMetadata(at(host))).toContain(host); // well-formed all the same
      expect(() => checkAddresses(at(host))).toThrow(`repository is git+https://${host}/clearformer.git`);
      expect(() => checkAddresses(at(host))).toThrow(`homepage is https://${host}/, which stands for the real one`);
      expect(() => checkAddresses(at(host))).toThrow(`bugs is https://${host}/issues`);
    }
    const { scripts } = JSON.parse(readFileSync(inProject('package.json'), 'utf8'));
    expect(scripts.prepublishOnly).toMatch(/release --dry-run .*\baddresses\b/);
    expect(readFileSync(inProject('.github/workflows/release.yml'), 'utf8')).toMatch(
      /--dry-run addresses\b.*\n.*npm publish/,
    );
  });

  it('that lead somewhere pass', () => {
    expect(checkAddresses(at('invalid.example.org'))).toContain('git+https://invalid.example.org/clearformer.git');
  });

  it('that are missing or not https are refused', () => {
    expect(() => checkMetadata({ ...at('a.org'), bugs: {} })).toThrow('bugs must be an https address');
    expect(() => checkMetadata({ ...at('a.org'), homepage: 'http://a.org/' })).toThrow('homepage must be');
  });
});
