// Types of checkpoints.mjs for the tests that ask where a checkpoint lies.

/** Where a checkpoint lies. Throws where it has not been fetched. */
export function checkpointFolder(name: 'all-MiniLM-L6-v2' | 'whisper-tiny'): string;
