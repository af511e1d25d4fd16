// The bundled encoder through the package against transformers: intermediate values, and predictions of masked tokens.

import { fileURLToPath } from 'node:url';
import { AutoModelForMaskedLM, AutoTokenizer, type ModelInputs, pipeline, type Tensor } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { type Case, casesOf, expectClose, idRows, type Reference, tensorsOf } from './support/references.js';
import { optionsFor, variants } from './support/variants.js';

const folder = fileURLToPath(new URL('../../web/demo/public/models/bert-tiny-fill', import.meta.url));
const [inside, blanks] = casesOf('bert_tiny_fill') as [Case, Case];
const texts = blanks.text as string[];

interface Word {
  score: number;
  token: number;
  token_str: string;
  sequence: string;
}

function inputsOf(one: Case): ModelInputs {
  const reference = tensorsOf('bert_tiny_fill', one);
  return Object.fromEntries(Object.keys(one.inputs).map((name) => [name, idRows(reference(name))])) as ModelInputs;
}

/** The rows of logits (B, T, V) at the positions where `ids` equal `mask`: (B, V). */
function rowsAt(mask: number, ids: readonly number[], logits: Tensor<'float32'>): Reference {
  const words = logits.dims[2] ?? 0;
  const places = ids.flatMap((id, place) => (id === mask ? [place] : []));
  const data = new Float32Array(places.length * words);
  for (const [row, place] of places.entries()) {
    data.set(logits.data.subarray(place * words, (place + 1) * words), row * words);
  }
  return { dims: [places.length, words], data };
}

describe.each(variants)('%s: bert-tiny-fill', (variant) => {
  it('has the logits, hidden states and attention maps of the reference', async () => {
    await using model = await AutoModelForMaskedLM.from_pretrained(folder, optionsFor(variant));
    const reference = tensorsOf('bert_tiny_fill', inside);
    const out = await model(inputsOf(inside), { output_hidden_states: true, output_attentions: true });
    expect(Object.keys(inside.outputs)).toHaveLength(10);
    for (const name of Object.keys(inside.outputs)) {
      const [kind, index] = name.split('.') as ['hidden_states' | 'attentions' | 'logits', string?];
      const found = kind === 'logits' ? out.logits : out[kind]?.[Number(index)];
      expectClose(name, found as Tensor, reference(name));
    }
  });

  it('scores all words for the blanks of padded sentences alike', async () => {
    await using model = await AutoModelForMaskedLM.from_pretrained(folder, optionsFor(variant));
    const tokenizer = await AutoTokenizer.from_pretrained(folder);
    const { input_ids, attention_mask } = tokenizer(texts, { padding: 'longest' });
    const wanted = inputsOf(blanks);
    expect([idRows(input_ids), idRows(attention_mask)]).toEqual([wanted.input_ids, wanted.attention_mask]);
    const { logits } = await model({ input_ids, attention_mask });
    const found = rowsAt(
      tokenizer.mask_token_id as number,
      Array.from(input_ids.data, Number),
      logits as Tensor<'float32'>,
    );
    expectClose('blank_logits', found, tensorsOf('bert_tiny_fill', blanks)('blank_logits'));
  });

  it("fills blanks as transformers' pipeline does", async () => {
    await using fill = await pipeline('fill-mask', folder, optionsFor(variant));
    const wanted = (blanks.answers as Word[][]).map((words) =>
      words.map((word) => ({ ...word, score: expect.closeTo(word.score, 5) })),
    );
    expect(await fill(texts)).toEqual(wanted);
  });
});

it('reads what stands behind a blank, too', async () => {
  await using fill = await pipeline('fill-mask', folder);
  const share = (words: readonly Word[], of: readonly string[]) =>
    words.reduce((sum, { token_str, score }) => sum + (of.includes(token_str) ? score : 0), 0);
  const [many = [], one = []] = await fill(['[MASK] are happy.', '[MASK] is happy.'], { top_k: 20 });
  expect(share(many, ['they', 'we', 'you'])).toBeGreaterThan(0.5);
  expect(share(one, ['they', 'we', 'you'])).toBeLessThan(0.05);
  expect(share(one, ['he', 'she', 'it', 'tom', 'mary'])).toBeGreaterThan(0.5);
});
