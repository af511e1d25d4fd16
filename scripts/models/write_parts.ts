// Writes a file from its parts.

import { closeSync, openSync, writeSync } from 'node:fs';

export function writeParts(file: string, parts: readonly (string | Uint8Array)[]): void {
  const output = openSync(file, 'w');
  try {
    for (const part of parts) {
      const bytes = typeof part === 'string' ? Buffer.from(part) : part;
      for (let written = 0; written < bytes.byteLength; ) written += writeSync(output, bytes, written);
    }
  } finally {
    closeSync(output);
  }
}
