// The code behind chapter 9's figure.

import type { FigureCode } from '../../book/figure.js';
import type { FigureTranslate, View } from './figure.js';

export function codeOf(figure: FigureTranslate): FigureCode {
  const [layer, head, step] = [figure.number('l'), figure.number('h'), figure.number('s')];
  const forced =
    figure.value('f') === 'none' || figure.value('f') === '' ? '' : figure.value('f').split('.').join(', ');
  const begin = forced === '' ? '' : `, decoder_input_ids: [[model.cfg.decoder_start_token_id, ${forced}]]`;
  const hooks: Readonly<Record<View, string>> = {
    faces: `decoder.${layer}.cross_attn.hook_pattern`,
    read: `encoder.${layer}.hook_normalized_resid_post`,
    write: `decoder.${layer}.attn.hook_pattern`,
    cross: `decoder.${layer}.cross_attn.hook_*`,
    map: `decoder.${layer}.cross_attn.hook_pattern`,
    beams: `decoder.${layer}.cross_attn.hook_pattern`,
  };
  const hook = hooks[figure.view];
  return {
    js: `const tokenizer = await AutoTokenizer.from_pretrained('marian-tiny-en-fr');
const model = await AutoModelForSeq2SeqLM.from_pretrained('marian-tiny-en-fr');
const { input_ids } = tokenizer(${JSON.stringify(figure.value('t'))});
const written = await model.generate({ input_ids${begin} }, { num_beams: ${figure.value('b')}, do_sample: false, max_new_tokens: 63 });
const [logits, cache] = await model.run_with_cache(
  { input_ids, decoder_input_ids: written.slice(null, [0, -1]) },
  { names_filter: '${hook}' },
);
const odds = await softmax(logits.slice(0, ${step}));${figure.view === 'map' ? `\ncache['${hook}'].slice(0, ${head});` : ''}`,
    cpp: `GenerationConfig config;
config.num_beams = ${figure.value('b')};
Generation translation(*model, inputs, config);
while (!translation.done()) translation.next();
Trace trace;
trace.capture("${hook}");
model->forward(inputs, &trace).at("logits");`,
    tl: `# TransformerLens reads encoder-decoders of the T5 kind: HookedEncoderDecoder\nlogits, cache = model.run_with_cache(input_ids, decoder_input)\ncache['decoder.${layer}.cross_attn.hook_pattern'][0, ${head}]`,
  };
}
