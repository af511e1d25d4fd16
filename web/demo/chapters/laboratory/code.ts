// The code behind the laboratory's figures.

import { ablationCpp, attributionCpp, detectionCpp, lensCpp, patchingCpp } from '../../book/analyses_cpp.js';
import { editedTl, editsCpp, editsJs, inputsJs, passTl } from '../../book/code_parts.js';
import type { FigureCode } from '../../book/figure.js';
import type { FigureLaboratory } from './figure.js';

export function codeOf(figure: FigureLaboratory): FigureCode {
  const { view, by, dtype, usualHook } = figure.request;
  const hook = figure.data && 'hook' in figure.data ? figure.data.hook : usualHook;
  const { text } = figure.book;
  const subject = figure.data?.subject;
  if (!subject) return { js: '' };
  const { model } = subject;
  const begin = inputsJs(text, subject.inputs, subject.of);
  const specs = figure.book.editSpecs;
  const edits = editsJs(specs);
  const traced = (pattern: string): string =>
    `Trace trace;\ntrace.capture("${pattern}");\n${editsCpp(specs)}model->forward(inputs, &trace);\n`;
  const answers = { right: subject.right.id, wrong: subject.wrong.id };
  const { right, wrong } = answers;
  const decodes = model.cfg.kind === 'encoder-decoder';
  const stack = decodes ? 'decoder' : 'blocks';
  const metric = `const metric = logitDifference(${right}, ${wrong});\n`;
  switch (view) {
    case 'edit':
      return {
        js: `${begin}${edits}const logits = await model.run_with_hooks(inputs${edits && ', { edits }'});\nconst odds = await softmax(logits.slice(0, -1));\nawait model.generate(${decodes ? '{ input_ids: inputs.input_ids }' : 'inputs'}, { ${edits && 'edits, '}do_sample: false, max_new_tokens: 20 });`,
        cpp: `Trace trace;
${editsCpp(specs)}const Tensor odds = softmax(model->forward(inputs, &trace).at("logits"));
GenerationConfig config = generation_config_of(model->config());
config.max_new_tokens = 20;
${decodes ? 'inputs.decoder_input_ids.reset();\n' : ''}Generation generation(*model, inputs, config);
trace.watch_steps(generation.steps());  // positions of other steps are absent
while (!generation.done()) generation.next(&trace);
generation.sequences();`,
        tl: editedTl(`odds = model(${JSON.stringify(text)})[0, -1].softmax(-1)`, specs),
      };
    case 'lens':
      return {
        js: `${begin}const lens = await logitLens(model, inputs); // [layer, batch, pos, word]`,
        cpp: lensCpp(model),
        tl: `${passTl(text)}cache.accumulated_resid(apply_ln=True) @ model.W_U`,
      };
    case 'attribution':
      return {
        js: `${begin}await logitAttribution(model, inputs, { tokens: ${right}, incorrect_tokens: ${wrong}, pos: -1 });`,
        cpp: attributionCpp(model, answers),
        tl: `${passTl(text)}cache.logit_attrs(cache.decompose_resid(), tokens=${right}, incorrect_tokens=${wrong})`,
      };
    case 'ablation':
      return {
        js: `${begin}${metric}const { changes } = await ablateHeads(model, inputs, { metric });`,
        cpp: ablationCpp(answers, { stack, layers: model.cfg.n_layers, heads: model.cfg.n_heads }),
      };
    case 'patching':
      return {
        js: `${begin}${metric}const corrupted = tokenizer(${JSON.stringify(figure.request.other)});\nawait patchActivations(model, { clean: inputs, corrupted, metric, by: '${by}' });`,
        cpp: patchingCpp(answers, model, by, (subject.written.length > 0 ? subject.written : subject.tokens).length),
        tl: {
          position: 'patching.get_act_patch_resid_pre(model, corrupted_tokens, clean_cache, metric)',
          head: 'patching.get_act_patch_attn_head_out_all_pos(model, corrupted_tokens, clean_cache, metric)',
          layer: undefined,
        }[by],
      };
    case 'detect':
      return {
        js: 'const { scores, heads } = await detectHeads(model);',
        cpp: detectionCpp(stack),
        tl: 'head_detector.detect_head(model, text, "previous_token_head")',
      };
    case 'compare':
      return {
        js: `const other = await AutoModelForCausalLM.from_pretrained(folder, { dtype: '${dtype}' });\n${begin}const { logits } = await other(inputs);`,
        cpp: `const auto other = from_pretrained("folder", std::nullopt, MatrixFormat::${dtype === 'fp16' ? 'f16' : dtype});\nother->forward(inputs).at("logits");`,
      };
    case 'export':
      return {
        js: `${begin}${edits}const [, cache] = await model.run_with_cache(inputs${edits && ', { edits }'});\nconst bytes = toSafetensors(cache);`,
        cpp: `${traced('*')}for (const Trace::Captured& each : trace.captured()) {
  std::printf("%s %s\\n", each.name.c_str(), each.value.shape().text().c_str());
}`,
        tl: `${passTl(text, specs)}torch.save(cache.cache_dict, "cache.pt")`,
      };
    default:
      return {
        js: `${begin}${edits}const [logits, cache] = await model.run_with_cache(inputs, { names_filter: '${hook}'${edits && ', edits'} });\ncache['${hook}'];`,
        cpp: `${traced(hook)}trace.at("${hook}");`,
        tl: `${passTl(text, specs)}cache["${hook}"]`,
      };
  }
}
