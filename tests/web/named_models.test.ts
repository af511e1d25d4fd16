// Models by transformers' class names: each architecture's classes are exported, load its checkpoints and no others.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { AutoModelClass, PreTrainedModel } from 'clearformer';
import * as clearformer from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { fixturePath, storiesPath } from './support/references.js';

const exported = new Map(Object.entries(clearformer)) as ReadonlyMap<string, AutoModelClass<PreTrainedModel>>;

interface Found {
  folder: string;
  name: string;
  type: string;
}

/** The first folder of every class that a fixture's config.json names. */
function classes(): Found[] {
  const found = new Map<string, Found>();
  for (const family of readdirSync(fixturePath('models'))) {
    for (const folder of readdirSync(fixturePath(`models/${family}`))) {
      const path = `models/${family}/${folder}`;
      if (!existsSync(fixturePath(`${path}/config.json`))) continue;
      const { architectures, model_type } = JSON.parse(readFileSync(fixturePath(`${path}/config.json`), 'utf8'));
      const [name] = (architectures ?? []) as (string | undefined)[];
      if (name !== undefined && !found.has(name)) found.set(name, { folder: path, name, type: model_type });
    }
  }
  return [...found.values()];
}

describe('named classes', () => {
  const all = classes();

  it('are exported for every class of the fixtures', () => {
    expect(all.length).toBeGreaterThan(70);
    expect(all.map(({ name }) => name).filter((name) => !exported.has(name))).toEqual([]);
  });

  it.each(all.filter(({ name }) => exported.has(name)))('$name loads $folder and no Llama', async (one) => {
    const { name, folder, type } = one;
    const load = exported.get(name) as AutoModelClass<PreTrainedModel>;
    await using model = await load.from_pretrained(fixturePath(folder));
    expect(model.config.model_type).toBe(type);
    if (type === 'llama') return;
    const failure = await failureOf(() => load.from_pretrained(storiesPath));
    expect(failure).toMatchObject({ code: 'unsupported', details: { option: 'source' } });
    expect((failure as Error).message).toContain(`${name}.from_pretrained: the checkpoint is 'llama', not '${type}'`);
  });
});
