// generate() of tiny checkpoints of many architectures against transformers, through the bindings.

import { AutoModelForCausalLM, AutoModelForSeq2SeqLM, type GenerateOutput, inspect } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { type Case, casesOf, expectClose, fixturePath, idRows, tensorsOf } from './support/references.js';
import { optionsFor, variants } from './support/variants.js';

const cases = casesOf('generation').filter(
  // Upstream uses other rows of the source than the beams' own; see generation_reference_test.cpp.
  ({ op, name }) => op === 'generate' && !name.endsWith('encoder_repetition_penalty'),
);

async function generated(one: Case, variant: (typeof variants)[number]): Promise<GenerateOutput> {
  const { checkpoint, ...options } = one.options;
  const reference = tensorsOf('generation', one);
  const folder = fixturePath(String(checkpoint));
  const loader = (await inspect(folder)).kind === 'encoder-decoder' ? AutoModelForSeq2SeqLM : AutoModelForCausalLM;
  const model = await loader.from_pretrained(folder, optionsFor(variant));
  try {
    return await model.generate(
      {
        input_ids: idRows(reference('input_ids')),
        ...('attention_mask' in one.inputs && { attention_mask: idRows(reference('attention_mask')) }),
      },
      // The reference ran without the checkpoint's own defaults.
      {
        forced_eos_token_id: null,
        ...options,
        return_dict_in_generate: true,
        output_scores: true,
        use_cache: false,
      },
    );
  } finally {
    await model.dispose();
  }
}

describe.each(variants)('%s generates what transformers generates', (variant) => {
  it.each(cases)('$name', async (one) => {
    const out = await generated(one, variant);
    const reference = tensorsOf('generation', one);
    expect(idRows(out.sequences)).toEqual(idRows(reference('sequences')));
    if ('beam_indices' in one.outputs) {
      expect(idRows(out.beam_indices)).toEqual(idRows(reference('beam_indices')));
      expectClose('sequences_scores', out.sequences_scores, reference('sequences_scores'));
    }
    if ('scores' in one.outputs) {
      const scores = reference('scores');
      const [steps = 0, ...dims] = scores.dims;
      const size = scores.data.length / steps;
      expect(out.scores).toHaveLength(steps);
      out.scores?.forEach((found, step) => {
        const data = (scores.data as Float32Array).slice(step * size, (step + 1) * size);
        expectClose(`scores of step ${step}`, found, { dims, data });
      });
    }
  });
});
