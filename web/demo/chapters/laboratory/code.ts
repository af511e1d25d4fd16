// The code behind the laboratory's figures.

import { editsCpp, editsJs, inputsJs } from '../../book/code_parts.js';
import type { FigureCode } from '../../book/figure.js';
import type { FigureLaboratory } from './figure.js';

export function codeOf(figure: FigureLaboratory): FigureCode {
  const { view, by, dtype, usualHook } = figure.request;
  const hook = figure.data && 'hook' in figure.data ? figure.data.hook : usualHook;
  const text = JSON.stringify(figure.book.text);
  const subject = figure.data?.subject;
  const begin = inputsJs(figure.book.text, subject?.inputs, subject?.of);
  const specs = figure.book.editSpecs;
  const edits = editsJs(specs);
  const change = editsCpp(specs);
  const trace = `Trace trace;\ntrace.capture("${hook}");\nmodel->forward(inputs, &trace);\ntrace.at("${hook}");`;
  const [right, wrong] = [subject?.right.id ?? 0, subject?.wrong.id ?? 1];
  const metric = `const metric = logitDifference(${right}, ${wrong});\n`;
  switch (view) {
    case 'edit':
      return {
        js: `${begin}${edits}const logits = await model.run_with_hooks(inputs${edits && ', { edits }'});\nconst odds = await softmax(logits.slice(0, -1));\nawait model.generate(inputs, { ${edits && 'edits, '}max_new_tokens: 20 });`,
        cpp: `Trace trace;\n${change}model->forward(inputs, &trace);`,
      };
    case 'lens':
      return {
        js: `${begin}const lens = await logitLens(model, inputs); // [layer, batch, pos, word]`,
        cpp: trace,
        tl: 'cache.accumulated_resid(apply_ln=True) @ model.W_U',
      };
    case 'attribution':
      return {
        js: `${begin}await logitAttribution(model, inputs, { tokens: ${right}, incorrect_tokens: ${wrong}, pos: -1 });`,
        cpp: trace,
        tl: 'cache.logit_attrs(cache.decompose_resid(), tokens=right, incorrect_tokens=wrong)',
      };
    case 'ablation':
      return { js: `${begin}${metric}const { changes } = await ablateHeads(model, inputs, { metric });`, cpp: trace };
    case 'patching':
      return {
        js: `${begin}${metric}const corrupted = tokenizer(${JSON.stringify(figure.request.other)});\nawait patchActivations(model, { clean: inputs, corrupted, metric, by: '${by}' });`,
        cpp: trace,
        tl: 'patching.get_act_patch_resid_pre(model, corrupted_tokens, clean_cache, metric)',
      };
    case 'detect':
      return {
        js: 'const { scores, heads } = await detectHeads(model);',
        cpp: trace,
        tl: 'head_detector.detect_head(model, text, "previous_token_head")',
      };
    case 'compare':
      return {
        js: `const other = await AutoModelForCausalLM.from_pretrained(folder, { dtype: '${dtype}' });\n${begin}const { logits } = await other(inputs);`,
        cpp: trace,
      };
    case 'export':
      return {
        js: `${begin}const [, cache] = await model.run_with_cache(inputs);\nconst bytes = toSafetensors(cache);`,
        cpp: trace,
        tl: `_, cache = model.run_with_cache(${text})`,
      };
    default:
      return {
        js: `${begin}${edits}const [logits, cache] = await model.run_with_cache(inputs, { names_filter: '${hook}'${edits && ', edits'} });\ncache['${hook}'];`,
        cpp: trace.replace('model->', `${change}model->`),
        tl: `_, cache = model.run_with_cache(${text})\ncache["${hook}"]`,
      };
  }
}
