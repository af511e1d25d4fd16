// The code behind the laboratory's figures.

import type { FigureCode } from '../../book/figure.js';
import type { FigureLaboratory } from './figure.js';

export function codeOf(figure: FigureLaboratory): FigureCode {
  const { view, by, dtype, usualHook } = figure.request;
  const hook = figure.data && 'hook' in figure.data ? figure.data.hook : usualHook;
  const text = JSON.stringify(figure.book.text);
  const begin = `const inputs = tokenizer(${text});\n`;
  const trace = `Trace trace;\ntrace.capture("${hook}");\nmodel->forward(inputs, &trace);\ntrace.at("${hook}");`;
  const metric = 'const metric = logitDifference(right, wrong);\n';
  switch (view) {
    case 'edit':
      return {
        js: `${begin}const edits = [{ hook: 'blocks.0.attn.hook_z', head: 0, op: 'zero' }];\nconst logits = await model.run_with_hooks(inputs, { edits });\nawait model.generate(inputs, { edits, max_new_tokens: 20 });`,
        cpp: 'Trace trace;\ntrace.edit(Edit{.hook = "blocks.0.attn.hook_z", .op = Edit::Op::zero, .heads = {0}});\nmodel->forward(inputs, &trace);',
        tl: `model.run_with_hooks(${text}, fwd_hooks=[("blocks.0.attn.hook_z", lambda z, hook: z * 0)])`,
      };
    case 'lens':
      return {
        js: `${begin}const lens = await logitLens(model, inputs); // [layer, batch, pos, word]`,
        cpp: trace,
        tl: 'cache.accumulated_resid(apply_ln=True) @ model.W_U',
      };
    case 'attribution':
      return {
        js: `${begin}await logitAttribution(model, inputs, { tokens: right, incorrect_tokens: wrong });`,
        cpp: trace,
        tl: 'cache.logit_attrs(cache.decompose_resid(), tokens=right, incorrect_tokens=wrong)',
      };
    case 'ablation':
      return { js: `${begin}${metric}const { changes } = await ablateHeads(model, inputs, { metric });`, cpp: trace };
    case 'patching':
      return {
        js: `${begin}${metric}await patchActivations(model, { clean: inputs, corrupted, metric, by: '${by}' });`,
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
        js: `const other = await AutoModelForCausalLM.from_pretrained(folder, { dtype: '${dtype}' });\nconst { logits } = await other(inputs);`,
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
        js: `${begin}const [logits, cache] = await model.run_with_cache(inputs, { names_filter: '${hook}' });\ncache['${hook}'];`,
        cpp: trace,
        tl: `_, cache = model.run_with_cache(${text})\ncache["${hook}"]`,
      };
  }
}
