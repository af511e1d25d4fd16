// What each dtype costs a checkpoint in accuracy, and saves in memory, by the checkpoint's name.

import type { LoadOptions } from 'clearformer';
import type { Asked, Measured } from './subject.js';
import { type SubjectName, subjects } from './subjects.js';

export type { Measured } from './subject.js';

export const subjectNames = Object.keys(subjects) as SubjectName[];

/** A row for every dtype that is asked for, after that of fp32. */
export function measure(
  project: string,
  name: SubjectName,
  asked: Asked,
  options: LoadOptions = {},
): Promise<Measured[]> {
  return subjects[name](project, asked, options);
}
