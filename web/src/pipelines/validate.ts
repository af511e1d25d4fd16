// validate(): what is wrong with a folder. What it takes is loaded when it is called.

import { openSource, type Source } from '../checkpoint/source.js';
import { checkInspectOptions } from '../inspection/inspect.js';
import type { Inspection, InspectOptions } from '../inspection/inspection.js';
import { loadPart } from '../support/platform.js';

/**
 * The same as `inspect` with the problems that only reading everything shows: weights that are NaN or infinite, files that
 * end early, a tokenizer, a processor or steps of sentence-transformers that cannot be read, tokens beyond the model's
 * vocabulary. Rejects as `inspect` does.
 */
export async function validate(source: Source, options: InspectOptions = {}): Promise<Inspection> {
  checkInspectOptions('validate', options);
  const folder = openSource(source, options);
  const [{ SharedFolder }, { validateFolder }] = await loadPart(() =>
    Promise.all([import('../checkpoint/shared_folder.js'), import('./validate_folder.js')]),
  );
  return validateFolder(new SharedFolder(folder), options);
}
