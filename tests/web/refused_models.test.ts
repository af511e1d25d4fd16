// Models of kinds that are not supported: refused by name before any weight is read, with the nearest supported kind.

import { readFileSync } from 'node:fs';
import { AutoModel, inspect } from 'clearformer';
import { expect, it } from 'vitest';
import { bytesOf } from './corpus/folders.js';
import { failureOf } from './support/failures.js';

const folderOf = (model_type: string) => ({ 'config.json': bytesOf(JSON.stringify({ model_type })) });
const messageFor = async (model_type: string): Promise<string> =>
  (await inspect(folderOf(model_type))).problems.find(({ code }) => code === 'unsupported')?.message ?? '';

/** The rows of the table for users: model types, what they need, the nearest supported one. */
const page = readFileSync('web/examples/from_transformers_js.md', 'utf8');
const rows = [...page.matchAll(/^\| (`.*`) \| (.*) \| `(.*)` \|$/gm)].flatMap(([, types = '', needs = '', near = '']) =>
  [...types.matchAll(/`([^`]+)`/g)].map(([, type = '']) => [type, needs, near] as const),
);

it('the table has many rows', () => expect(rows.length).toBeGreaterThan(60));

it.each(rows)('%s needs %s, the nearest is %s', async (type, needs, near) => {
  const message = await messageFor(type);
  const [start, known = ''] = message.split('; supported: ');
  expect(start).toBe(
    `config.json: "model_type" is "${type}": it needs ${needs}; the nearest supported model_type is "${near}"`,
  );
  expect(known.split(', ')).toContain(near);
  expect(known.split(', ')).not.toContain(type);
});

it('a type that nobody knows has no relatives', async () => {
  expect(await messageFor('brand_new')).toMatch(/"brand_new"; supported: bert, /);
});

it('loading says the same, with its code', async () => {
  const failure = await failureOf(() => AutoModel.from_pretrained(folderOf('lfm2')));
  expect([failure.code, failure.message]).toEqual(['unsupported', await messageFor('lfm2')]);
});

it('a folder of GLiNER is named', async () => {
  const folder = {
    'gliner_config.json': bytesOf('{"model_name": "microsoft/deberta-v3-small"}'),
    'pytorch_model.bin': bytesOf(''),
  };
  const failure = await failureOf(() => AutoModel.from_pretrained(folder));
  expect(failure).toMatchObject({ code: 'unsupported', details: { file: 'gliner_config.json' } });
  expect(failure.message).toMatch(/GLiNER.*token-classification.*zero-shot-classification/);
  const { problems, valid } = await inspect(folder);
  expect([valid, problems.find(({ file }) => file === 'gliner_config.json')?.message]).toEqual([
    false,
    failure.message,
  ]);
  expect(await failureOf(() => AutoModel.from_pretrained({}))).toMatchObject({ code: 'file_not_found' });
});
