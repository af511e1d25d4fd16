// The code behind chapter 9's figure.

import { editsCpp, editsJs } from '../../book/code_parts.js';
import type { FigureCode } from '../../book/figure.js';
import type { FigureTranslate, View } from './figure.js';

export function codeOf(figure: FigureTranslate): FigureCode {
  const shown = figure.data?.told;
  const told = shown?.kind === 'told' ? shown : undefined;
  const { layer, head } = told ? figure.chosenHead(told) : { layer: 0, head: 0 };
  const { prefix, room, step, source, of } = told ?? { prefix: [0], room: 63, step: 0, source: [], of: 0 };
  const hooks: Readonly<Record<View, string>> = {
    faces: `decoder.${layer}.cross_attn.hook_pattern`,
    read: `encoder.${layer}.hook_normalized_resid_post`,
    write: `decoder.${layer}.attn.hook_pattern`,
    cross: `decoder.${layer}.cross_attn.hook_*`,
    map: `decoder.${layer}.cross_attn.hook_pattern`,
    beams: `decoder.${layer}.cross_attn.hook_pattern`,
  };
  const hook = hooks[figure.view];
  const beams = figure.value('b') === '4' ? 4 : 1;
  const specs = figure.book.editSpecs;
  const edits = editsJs(specs);
  const cut = source.length < of ? `.slice(0, ${source.length - 1}).concat(all.slice(-1))` : '';
  const given = `const all = Array.from(tokenizer(${JSON.stringify(figure.value('t'))}).input_ids.data, Number);\nconst inputs = { input_ids: [all${cut}], decoder_input_ids: [[${prefix.join(', ')}]] };\n`;
  const written = `const written = await model.generate(inputs, { num_beams: ${beams}, do_sample: false, max_new_tokens: ${room}${edits && ', edits'} });\n`;
  const target = room > 0 ? 'written.slice(null, [0, -1])' : `[[${prefix.slice(0, -1).join(', ')}]]`;
  return {
    js: `const tokenizer = await AutoTokenizer.from_pretrained('marian-tiny-en-fr');
const model = await AutoModelForSeq2SeqLM.from_pretrained('marian-tiny-en-fr');
${given}${edits}${room > 0 ? written : ''}const [logits, cache] = await model.run_with_cache(
  { ...inputs, decoder_input_ids: ${target} },
  { names_filter: '${hook}'${edits && ', edits'} },
);
const odds = await softmax(logits.slice(0, ${step}));${figure.view === 'map' ? `\ncache['${hook}'].slice(0, ${head});` : ''}`,
    cpp: `GenerationConfig config;
config.num_beams = ${beams};
config.max_new_tokens = ${room};
// inputs.decoder_input_ids: ${prefix.join(', ')}
Generation translation(*model, inputs, config);
while (!translation.done()) translation.next();
Trace trace;
trace.capture("${hook}");
${editsCpp(specs)}model->forward(inputs, &trace).at("logits");`,
    tl: `# TransformerLens reads encoder-decoders of the T5 kind: HookedEncoderDecoder\nlogits, cache = model.run_with_cache(input_ids, decoder_input)\ncache['decoder.${layer}.cross_attn.hook_pattern'][0, ${head}]`,
  };
}
