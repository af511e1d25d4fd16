// A model trained to have induction heads (scripts/models/train_induction.py): its attention maps from
// run_with_cache give the reference's scores, which identify the heads.

import { AutoModelForCausalLM, type GenerativeModel, type Tensor } from 'clearformer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { caseOf, expectClose, fixturePath, idRows, tensorsOf } from './support/references.js';
import { optionsFor, variants } from './support/variants.js';

const reference = tensorsOf('induction', caseOf('induction', 'heads'));
const input_ids = idRows(reference('input_ids'));

/** Whether key j of query i is one of a kind, in a row of tokens. */
const kinds: Record<string, (row: readonly number[], i: number, j: number) => boolean> = {
  previous_token: (_row, i, j) => j === i - 1,
  first_token: (_row, i, j) => j === 0 && i > 0,
  duplicate_token: (row, i, j) => j < i && row[j] === row[i],
  induction: (row, i, j) => j > 0 && j <= i && row[j - 1] === row[i],
};
type Kind = (typeof kinds)[string];

/** The keys of a kind, for each row and query that has any. */
function keysOf(isKey: Kind): { row: number; query: number; keys: number[] }[] {
  return input_ids.flatMap((tokens, row) =>
    tokens.flatMap((_, query) => {
      const keys = [...tokens.keys()].filter((key) => isKey(tokens, query, key));
      return keys.length > 0 ? [{ row, query, keys }] : [];
    }),
  );
}

/** The attention of each head of a map [batch, head, query, key] to all keys of the kind, averaged over queries. */
function scoresOf({ data, dims }: Tensor<'float32'>, isKey: Kind): number[] {
  const [, count = 0, length = 0] = dims;
  const asked = keysOf(isKey);
  const given = (head: number) =>
    asked.flatMap(({ row, query, keys }) =>
      keys.map((key) => data[((row * count + head) * length + query) * length + key] as number),
    );
  return Array.from({ length: count }, (_, head) => given(head).reduce((sum, one) => sum + one, 0) / asked.length);
}

describe.each(variants)('a model with induction heads, %s', (variant) => {
  let model: GenerativeModel;
  let maps: Tensor<'float32'>[];
  beforeAll(async () => {
    model = await AutoModelForCausalLM.from_pretrained(fixturePath('induction/model'), optionsFor(variant));
    const [logits, cache] = await model.run_with_cache({ input_ids }, { names_filter: 'blocks.*.attn.hook_pattern' });
    expectClose('logits', logits, reference('logits'));
    maps = Object.values(cache) as Tensor<'float32'>[];
  });
  afterAll(() => model.dispose());

  it('has the maps of the reference', () => {
    expect(maps).toHaveLength(2);
    maps.forEach((map, layer) => {
      expectClose(`attentions.${layer}`, map, reference(`attentions.${layer}`));
    });
  });

  it.each(Object.entries(kinds))('has its scores: %s', (name, isKey) => {
    const wanted = reference(name);
    const most = Math.max(...keysOf(isKey).map(({ keys }) => keys.length));
    const bound = most * (2e-5 + 1e-5) + 2 ** -24; // each weight of a map is within 3e-5; a score is a mean of sums of that many
    expect(wanted.dims).toEqual([2, 4]);
    maps
      .flatMap((map) => scoresOf(map, isKey))
      .forEach((score, at) => {
        expect(Math.abs(score - Number(wanted.data[at])), `layer ${at >> 2}, head ${at & 3}`).toBeLessThanOrEqual(
          bound,
        );
      });
  });

  it('has a head for the previous token below one for induction', () => {
    const best = (layer: number, kind: string) =>
      Math.max(...scoresOf(maps[layer] as Tensor<'float32'>, kinds[kind] as Kind));
    expect(best(0, 'previous_token')).toBeGreaterThan(0.5);
    expect(best(0, 'induction')).toBeLessThan(0.2);
    expect(best(1, 'induction')).toBeGreaterThan(0.8);
  });

  it('continues what it has seen once', async () => {
    const [start, ...rest] = input_ids[0] as number[];
    const block = rest.slice(0, 9); // the first row's period
    const prompt = [start as number, ...block, ...block.slice(0, 3)];
    const out = await model.generate(
      { input_ids: [prompt] },
      { max_new_tokens: 24, do_sample: false, eos_token_id: null },
    );
    const written = Array.from(out.data as ArrayLike<number | bigint>, Number).slice(prompt.length);
    expect(written).toEqual(Array.from({ length: 24 }, (_, at) => block[(at + 3) % 9]));
  });
});
