// The error of a failed call.

import { ClearformerError } from 'clearformer';
import { expect } from 'vitest';

/** The ClearformerError that `work` throws or rejects with; anything else fails the test. */
export async function failureOf(work: () => unknown): Promise<ClearformerError> {
  const thrown = await (async () => work())().then(
    () => 'no error',
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(ClearformerError);
  return thrown as ClearformerError;
}
