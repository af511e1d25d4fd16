// The accuracy and memory of each setting, by the checkpoint's name.

import type { LoadOptions } from 'clearformer';
import type { Asked, Measured } from './subject.js';
import { type SubjectName, subjects } from './subjects.js';

export type { Measured } from './subject.js';

export const subjectNames = Object.keys(subjects) as SubjectName[];

/** A row for fp32 and one for every requested setting. */
export function measure(
  project: string,
  name: SubjectName,
  asked: Asked,
  options: LoadOptions = {},
): Promise<Measured[]> {
  return subjects[name](project, asked, options);
}
