// What each dtype costs a checkpoint in accuracy, and saves in memory.
import { compare } from './compare.mjs';
import { subjects } from './subjects.mjs';

export const subjectNames = Object.keys(subjects);

/** [{ dtype, bytes, … (see compare) }] for every dtype that is asked for; fp32 is what they are compared with. */
export async function measure(project, name, dtypes, options = {}) {
  const { load, prepare, observe } = subjects[name];
  const exact = await load(project, options);
  const prepared = await prepare(project, exact);
  const reference = await observe(exact, prepared);
  const results = [{ dtype: 'fp32', bytes: exact.info().memory.weights, ...compare(reference, reference) }];
  await exact.dispose();
  for (const dtype of dtypes) {
    const model = await load(project, { ...options, dtype });
    const found = await observe(model, prepared);
    results.push({ dtype, bytes: model.info().memory.weights, ...compare(reference, found) });
    await model.dispose();
  }
  return results;
}
