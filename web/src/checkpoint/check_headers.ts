// Checks the headers of large weights before any weight is read: missing tensors, wrong shapes, more than memory can
// hold.

import type { ArgumentsOf } from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import { ClearformerError, type ErrorCode } from '../support/error.js';
import type { WeightsFile } from './folder.js';
import { headerStart } from './weights_header.js';

interface Told {
  code: ErrorCode;
  severity: 'error' | 'warning';
  message: string;
  file?: string;
}

/** Throws the first error that the core's `inspect` reports. */
export async function checkHeaders(
  engine: Engine,
  files: readonly WeightsFile[],
  described: Omit<ArgumentsOf<'inspect'>, 'files'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const started = files.map(async ({ file, bytes }) => {
    return { name: file.name, bytes, start: await headerStart(file, signal) };
  });
  const { facts } = await engine.call('inspect', { ...described, files: await Promise.all(started) }, signal);
  const { problems } = JSON.parse(facts) as { problems: Told[] };
  const found = problems.find(({ severity }) => severity === 'error');
  if (found === undefined) return;
  const { code, message, file } = found;
  throw new ClearformerError(code, message, file === undefined ? {} : { file });
}
