// The code behind chapter 10's figure.

import type { FigureCode } from '../../book/figure.js';
import type { FigureKinds } from './figure.js';

export function codeOf(figure: FigureKinds): FigureCode {
  const [layer, head] = figure.chosenHead;
  const text = JSON.stringify(figure.value('t'));
  const masked = JSON.stringify(figure.data?.kinds?.filled.text ?? '');
  const pattern = `blocks.${layer}.attn.hook_pattern`;
  if (figure.view === 'fill') {
    return {
      js: `const fill = await pipeline('fill-mask', 'bert-tiny-fill');\nawait fill(${masked}, { top_k: 7 });`,
      cpp: 'auto outputs = model->forward(inputs);  // the ids of the text, [MASK] among them\noutputs.at("logits");',
      tl: `bert = HookedEncoder.from_pretrained(…)\nbert(${masked}).softmax(-1)`,
    };
  }
  return {
    js: `const [, causal] = await decoder.run_with_cache(decoderTokenizer(${text}), { names_filter: '${pattern}' });
const [, full] = await encoder.run_with_cache(encoderTokenizer(${text}), { names_filter: '${pattern}' });
const { input_ids } = translatorTokenizer(${text});
const written = await translator.generate({ input_ids }, { num_beams: 4 });
const [, cross] = await translator.run_with_cache(
  { input_ids, decoder_input_ids: written.slice(null, [0, -1]) },
  { names_filter: 'decoder.*.cross_attn.hook_pattern' },
);
causal['${pattern}'].slice(0, ${head});`,
    cpp: `Trace trace;\ntrace.capture("${pattern}");\nmodel->forward(inputs, &trace);\ntrace.at("${pattern}");`,
    tl: `logits, cache = model.run_with_cache(${text})\ncache['pattern', ${layer}][0, ${head}]`,
  };
}
