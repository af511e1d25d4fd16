// generate() with random options against transformers: whole searches, and the scores of one step after a checkpoint's
// generation_config.json, whose options the caller's replace or, as null, switch off. With CLEARFORMER_GENERATION_CASES
// the folder of other cases that tests/references/generation_random.py wrote.

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

import { AutoModelForCausalLM, AutoModelForSeq2SeqLM, inspect } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { type Case, casesOf, expectClose, fixturePath, idRows, tensorsOf } from './support/references.js';

const { CLEARFORMER_GENERATION_CASES: others } = process.env;
const group = others === undefined ? 'generation_random' : relative(fixturePath(''), others);
const cases = casesOf(group);

/** The checkpoint's files, with another generation_config.json if the case has one. */
function filesOf({ options }: Case): Record<string, Uint8Array<ArrayBuffer>> {
  const folder = fixturePath(String(options.checkpoint));
  const files = readdirSync(folder).map((name) => [name, new Uint8Array(readFileSync(join(folder, name)))] as const);
  const { generation_config: config } = options;
  const own =
    config === undefined ? {} : { 'generation_config.json': new TextEncoder().encode(JSON.stringify(config)) };
  return { ...Object.fromEntries(files), ...own };
}

async function generated(one: Case) {
  const files = filesOf(one);
  const loader = (await inspect(files)).kind === 'encoder-decoder' ? AutoModelForSeq2SeqLM : AutoModelForCausalLM;
  const model = await loader.from_pretrained(files);
  const reference = tensorsOf(group, one);
  const { checkpoint: _, generation_config: __, ...options } = one.options;
  try {
    return await model.generate(
      Object.fromEntries(Object.keys(one.inputs).map((name) => [name, idRows(reference(name))])),
      { ...options, return_dict_in_generate: true, output_scores: true, use_cache: false },
    );
  } finally {
    await model.dispose();
  }
}

const rows = ({ dims, data }: { dims: readonly number[]; data: BigInt64Array }) => idRows({ dims: [...dims], data });

describe('random options of generate() mean what they mean in transformers', () => {
  it.each(cases)('$name', async (one) => {
    const out = await generated(one);
    const reference = tensorsOf(group, one);
    if ('scores' in one.outputs) {
      expectClose('scores', out.scores?.[0] as never, reference('scores'));
      return;
    }
    expect(rows(out.sequences)).toEqual(idRows(reference('sequences')));
    if (!('beam_indices' in one.outputs)) return;
    expect(rows(out.beam_indices as never)).toEqual(idRows(reference('beam_indices')));
    expectClose('sequences_scores', out.sequences_scores as never, reference('sequences_scores'));
  });

  it('are as many as there should be', () => {
    for (const op of ['random_search', 'random_step'])
      expect(cases.filter((one) => one.op === op).length).toBeGreaterThan(40);
  });
});
