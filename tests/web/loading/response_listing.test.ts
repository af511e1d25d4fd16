// What is in the browser's cache is listed and removed by the Hub id, or by the URL of its folder.

import { afterEach, expect, it } from 'vitest';
import type { RemoteFile } from '../../../web/src/checkpoint/remote_file.js';
import { clearResponses, listResponses } from '../../../web/src/checkpoint/response_listing.js';
import { ResponseStore } from '../../../web/src/checkpoint/response_store.js';
import { configure } from '../../../web/src/support/config.js';
import { MemoryCache } from '../support/memory_cache.js';

afterEach(() => configure({ remoteHost: undefined }));

async function keep(cache: MemoryCache, href: string): Promise<void> {
  const file = { href, version: 'v1', size: 3 } as RemoteFile;
  await (await new ResponseStore(cache, () => href).open(file, undefined)).finish(0, new Uint8Array(3));
}

const hub = { source: 'a/b', revision: 'main', file: 'config.json' };
const rows: [string, string, { source: string; revision: string; file: string }][] = [
  ['the Hub', 'https://huggingface.co/a/b/resolve/main/config.json', hub],
  ['the configured host', 'https://set.example/hf/gpt2/resolve/main/config.json', { ...hub, source: 'gpt2' }],
  ['the host of a call', 'http://127.0.0.1:8080/a/b/resolve/main/config.json', hub],
  ['one with a path', 'https://x.example/hf/a/b/resolve/main/config.json', hub],
  ['an id without an owner', 'https://x.example/gpt2/resolve/main/config.json', { ...hub, source: 'gpt2' }],
  ['a file in a folder', 'https://x.example/a/b/resolve/main/1%20x/y.json', { ...hub, file: '1 x/y.json' }],
  ['another revision', 'https://x.example/a/b/resolve/refs%2Fpr%2F1/config.json', { ...hub, revision: 'refs/pr/1' }],
  ['a bare %', 'https://x.example/a/b/resolve/ma%in/config.json', { ...hub, revision: 'ma%in' }],
  [
    'a folder elsewhere',
    'https://x.example/models/a%b/100%.json?key=/a/b/resolve/main/',
    { source: 'https://x.example/models/a%b/', revision: '', file: '100%.json' },
  ],
];

it.each(rows)('%s: %s', async (_, href, parts) => {
  configure({ remoteHost: href.startsWith('https://set.example') ? 'https://set.example/hf' : undefined });
  for (const source of [parts.source, new URL('.', href).href]) {
    const cache = new MemoryCache();
    await keep(cache, href);
    await keep(cache, 'https://x.example/other/model/resolve/main/config.json');
    const { file, revision } = parts;
    expect(await listResponses(cache)).toMatchObject([
      { source: parts.source, bytes: 3, files: [{ file, revision, bytes: 3, complete: true }] },
      { source: 'other/model' },
    ]);
    expect(await clearResponses(cache, source)).toBe(3);
    expect(await listResponses(cache)).toMatchObject([{ source: 'other/model' }]);
  }
});
