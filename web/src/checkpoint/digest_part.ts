// Checksums are code of their own: only files with a known checksum, and those that are cached, need them.

import { loadPart } from '../support/platform.js';

export const digests = (): Promise<typeof import('./digest.js')> => loadPart(() => import('./digest.js'));
