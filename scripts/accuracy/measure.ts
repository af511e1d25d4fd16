// What each dtype costs a checkpoint in accuracy, and saves in memory, by the checkpoint's name.

import type { LoadOptions } from 'clearformer';
import type { Measured, NarrowType } from './subject.js';
import { type SubjectName, subjects } from './subjects.js';

export type { Measured } from './subject.js';

export const subjectNames = Object.keys(subjects) as SubjectName[];

/** A row for every dtype that is asked for, after that of fp32, which they are compared with. */
export function measure(
  project: string,
  name: SubjectName,
  dtypes: readonly NarrowType[],
  options: LoadOptions = {},
): Promise<Measured[]> {
  return subjects[name](project, dtypes, options);
}
