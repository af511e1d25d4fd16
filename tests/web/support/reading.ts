// Reads a source's files through the package's internals, with the settings and warnings of one test.

import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { readChunks } from '../../../web/src/checkpoint/files.js';
import { openSource, type Source, type SourceOptions } from '../../../web/src/checkpoint/source.js';
import { type ClearformerWarning, configure } from '../../../web/src/support/config.js';
import { Hub } from './hub.js';

/** A digest for many bytes: comparing those directly takes seconds. */
export const digestOf = (bytes: Uint8Array | undefined): string =>
  bytes === undefined ? 'nothing' : `${bytes.byteLength} ${createHash('sha256').update(bytes).digest('hex')}`;

/** The digest of `readFile`'s result. */
export async function digestFrom(...given: Parameters<typeof readFile>): Promise<string> {
  return digestOf(await readFile(...given));
}

export const text = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** The contents of a file, or the error of reading it; `arrived` is called for each chunk. */
export async function readFile(
  source: Source,
  name: string,
  options: SourceOptions & { signal?: AbortSignal } = {},
  arrived: (bytes: number) => void = () => {},
): Promise<Uint8Array | undefined> {
  const { signal, ...given } = options;
  const file = await openSource(source, given).find(name, signal);
  if (file === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of readChunks(file, { signal })) {
    chunks.push(chunk.slice());
    length += chunk.byteLength;
    arrived(length);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** The common setup of the tests of a file. */
export interface Bench {
  hub: Hub;
  /** The cache on disk. */
  cache_dir: string;
  readonly warnings: ClearformerWarning[];
}

/** A stand-in for the Hub with these files, an empty cache, and settings for short delays; new for each test. */
export function bench(files: () => Record<string, Uint8Array>): Bench {
  const made: Partial<Bench> & { warnings: ClearformerWarning[] } = { warnings: [] };
  beforeEach(async () => {
    made.hub = await Hub.start(files());
    made.cache_dir = mkdtempSync(join(tmpdir(), 'clearformer-cache-'));
    made.warnings.length = 0;
    configure({
      remoteHost: made.hub.url,
      retryDelay: 5,
      timeout: 5000,
      onWarning: (warning) => made.warnings.push(warning),
    });
  });
  afterEach(async () => {
    configure({
      remoteHost: undefined,
      retryDelay: undefined,
      timeout: undefined,
      retries: undefined,
      onWarning: undefined,
    });
    await made.hub?.stop();
    rmSync(made.cache_dir ?? '', { recursive: true, force: true });
  });
  return made as Bench;
}
