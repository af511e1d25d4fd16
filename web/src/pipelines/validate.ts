// validate(): lists the problems of a folder. Its code is loaded on the first call.

import { SharedFolder } from '../checkpoint/shared_folder.js';
import { openSource, type Source } from '../checkpoint/source.js';
import { checkInspectOptions } from '../inspection/inspect.js';
import type { Inspection, InspectOptions } from '../inspection/inspection.js';
import { loadPart } from '../support/platform.js';

/**
 * Like `inspect`, with the problems that are found only by reading everything: weights that are NaN or infinite,
 * truncated files, a tokenizer, a processor or steps of sentence-transformers that cannot be read, tokens beyond the
 * model's vocabulary, images of another size than the model's. Rejects like `inspect`.
 */
export async function validate(source: Source, options: InspectOptions = {}): Promise<Inspection> {
  checkInspectOptions('validate', options);
  const folder = openSource(source, options);
  const { validateFolder } = await loadPart(() => import('./validate_folder.js'));
  return validateFolder(new SharedFolder(folder), options);
}
