// The code behind chapter 9's figure.

import { editedTl, editsCpp, editsJs } from '../../book/code_parts.js';
import type { FigureCode } from '../../book/figure.js';
import type { FigureTranslate, View } from './figure.js';

export function codeOf(figure: FigureTranslate): FigureCode {
  const told = figure.data?.told;
  const load = `const tokenizer = await AutoTokenizer.from_pretrained('marian-tiny-en-fr');
const model = await AutoModelForSeq2SeqLM.from_pretrained('marian-tiny-en-fr');\n`;
  if (told?.kind !== 'told') return { js: load };
  const { layer, head } = figure.chosenHead(told);
  const { prefix, room, step, source, of } = told;
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
    js: `${load}${given}${edits}${room > 0 ? written : ''}const [logits, cache] = await model.run_with_cache(
  { ...inputs, decoder_input_ids: ${target} },
  { names_filter: '${hook}'${edits && ', edits'} },
);
const odds = await softmax(logits.slice(0, ${step}));${figure.view === 'map' ? `\ncache['${hook}'].slice(0, ${head});` : ''}`,
    cpp: `const std::int32_t text[] = {${source.map(({ id }) => id).join(', ')}};
const std::int32_t begun[] = {${prefix.join(', ')}};
ModelInputs inputs;
inputs.input_ids = TensorView(text, DType::i32, {1, ${source.length}});
inputs.decoder_input_ids = TensorView(begun, DType::i32, {1, ${room > 0 ? prefix.length : prefix.length - 1}});
Trace trace;
${editsCpp(specs)}${room > 0 ? generated(beams, room, specs.length > 0) : ''}trace.capture("${hook}");
const Tensor odds = softmax(model->forward(inputs, &trace).at("logits"));  // (1, step, token)`,
    tl: `# TransformerLens reads encoder-decoders of the T5 kind: HookedEncoderDecoder\n${editedTl('logits, cache = model.run_with_cache(input_ids, decoder_input)', specs)}\ncache['decoder.${layer}.cross_attn.hook_pattern'][0, ${head}]`,
  };
}

/** Writes the translation, which the decoder then reads without its last token. */
const generated = (
  beams: number,
  room: number,
  edited: boolean,
): string => `GenerationConfig config = generation_config_of(model->config());
config.num_beams = ${beams};
config.max_new_tokens = ${room};
Generation translation(*model, inputs, config);
${edited ? 'trace.watch_steps(translation.steps());\n' : ''}while (!translation.done()) translation.next(${edited ? '&trace' : ''});
${edited ? 'trace.watch_steps({});\n' : ''}const Tensor written = translation.sequences();
inputs.decoder_input_ids = TensorView(written.data(), DType::i32, {1, written.dim(1) - 1});
`;
