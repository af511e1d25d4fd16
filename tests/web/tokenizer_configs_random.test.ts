// Random tokenizer_config.json, special_tokens_map.json and added_tokens.json mean what they mean to transformers'
// AutoTokenizer. With CLEARFORMER_TOKENIZER_CONFIG_CASES the folder of other cases that
// tests/references/tokenizer_configs_random.py wrote.

import { readFileSync } from 'node:fs';
import { AutoTokenizer } from 'clearformer/tokenizer';
import { describe, expect, it } from 'vitest';
import { folderFiles } from './support/pipeline_cases.js';
import { casesOf, fixturePath, randomGroup } from './support/references.js';

interface TextResult {
  text: string;
  ids: number[];
  /** The names of a call's results. */
  inputs: string[];
  pair: number[];
  plain: number[];
  decoded: string;
  skipped: string;
  cut: number[];
  padded?: number[][];
}
interface ConfigCase {
  name: string;
  /** Or a tokenizer.json. */
  folder: string;
  /** Texts of files; null: removed. */
  changed: Record<string, string | null>;
  texts: TextResult[];
  special_ids: Record<string, number | null>;
  all_special_ids: number[];
  model_max_length: number | null;
  sides: string[];
  special_tokens_map?: Record<string, string>;
}
const cases = casesOf<ConfigCase>(randomGroup('tokenizer_configs_random', 'CLEARFORMER_TOKENIZER_CONFIG_CASES'));

/** The folder's files as changed. */
function filesOf({ folder, changed }: ConfigCase): Record<string, Uint8Array> {
  const files = folder.endsWith('.json')
    ? { 'tokenizer.json': readFileSync(fixturePath(folder)) }
    : folderFiles(folder);
  const texts = Object.entries(changed).map(
    ([name, text]) => [name, text === null ? null : Buffer.from(text)] as const,
  );
  const all = Object.entries({ ...files, ...Object.fromEntries(texts) }).filter(([, bytes]) => bytes !== null);
  return Object.fromEntries(all) as Record<string, Uint8Array>;
}

describe('files beside the tokenizer equal transformers', () => {
  it.each(cases)('$name', async (one) => {
    const tokenizer = await AutoTokenizer.from_pretrained(filesOf(one));
    const limit = tokenizer.model_max_length;
    expect({
      special_ids: Object.fromEntries(
        Object.keys(one.special_ids).map((role) => [role, tokenizer[`${role}_id` as 'pad_token_id']]),
      ),
      all_special_ids: tokenizer.all_special_ids,
      model_max_length: Number.isFinite(limit) ? limit : null,
      sides: [tokenizer.padding_side, tokenizer.truncation_side],
    }).toEqual({
      special_ids: one.special_ids,
      all_special_ids: expect.arrayContaining(one.all_special_ids), // and those that only tokenizer.json marks
      model_max_length: one.model_max_length,
      sides: one.sides,
    });
    if (one.special_tokens_map) expect(tokenizer.special_tokens_map).toEqual(one.special_tokens_map);
    const lists = { return_tensor: false } as const;
    for (const wanted of one.texts) {
      const call = tokenizer(wanted.text, lists);
      expect({
        text: wanted.text,
        ids: call.input_ids,
        inputs: Object.keys(call).sort(),
        pair: tokenizer.encode(wanted.text, { text_pair: 'of the' }),
        plain: tokenizer.encode(wanted.text, { add_special_tokens: false }),
        decoded: tokenizer.decode(wanted.ids),
        skipped: tokenizer.decode(wanted.ids, { skip_special_tokens: true }),
        cut: tokenizer(wanted.text, { ...lists, truncation: true, max_length: 6 }).input_ids,
        ...(wanted.padded && { padded: tokenizer([wanted.text, 'a'], { ...lists, padding: true }).input_ids }),
      }).toEqual(wanted);
    }
  });
});
