// What a release is checked with: links of pages, the list of packed files, licences by the names of their parts.

import { describe, expect, it } from 'vitest';

import { licencesText } from '../../scripts/build/licences.js';
import { linksOf } from '../../scripts/check/links.js';
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
    expect(() => checkPacked({ filename: '', size: 2e6, files: files(...whole) })).toThrow('2000000 bytes');
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
