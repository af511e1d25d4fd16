// The code behind chapter 6's figure, except training's.

import { ablationCpp, detectionCpp } from '../../book/analyses_cpp.js';
import { editsCpp, editsJs, inputsJs, passTl } from '../../book/code_parts.js';
import type { FigureCode } from '../../book/figure.js';
import type { Data } from './figure.js';

export function codeOf({ reading, view, need }: Data, text: string): FigureCode {
  const { specs, given, of, stack, layer, layers, heads } = reading;
  const inputs = inputsJs(text, given, of);
  const encoder = stack === 'encoder';
  const detect = `await detectHeads(model${encoder ? ", { hook: 'encoder.*.attn.hook_pattern' }" : ''});`;
  if (view === 'find') {
    return {
      js: `const { scores, heads } = ${detect} // previous, first, duplicate, induction`,
      cpp: detectionCpp(stack),
      tl: `head_detector.detect_head(model, ${JSON.stringify(text)}, "previous_token_head")`,
    };
  }
  if (view === 'need' && need) {
    const answers = { right: need.best.id, wrong: need.second.id };
    const hook = encoder ? ", hook: 'encoder.*.attn.hook_z'" : '';
    return {
      js: `${inputs}const metric = logitDifference(${answers.right}, ${answers.wrong});\nconst { changes } = await ablateHeads(model, inputs, { metric${hook} });`,
      cpp: ablationCpp(answers, { stack, layers, heads }),
    };
  }
  if (view === 'all') {
    const hook = `${stack}.*.attn.hook_pattern`;
    return {
      js: `${inputs}${editsJs(specs)}const [, cache] = await model.run_with_cache(inputs, {
  names_filter: '${hook}',
${specs.length > 0 ? '  edits,\n' : ''}});                                           // ${layers} tensors [1, ${heads}, query, key]`,
      cpp: `Trace trace;
trace.capture("${hook}");
${editsCpp(specs)}auto outputs = model->forward(inputs, &trace);`,
      tl: `${passTl(text, specs)}cache.stack_activation("pattern")`,
    };
  }
  const block = `${stack}.${layer}`;
  return {
    js: `${inputs}${editsJs(specs)}const [logits, cache] = await model.run_with_cache(inputs, {
  names_filter: ['${block}.attn.hook_pattern', '${block}.attn.hook_z', '${block}.hook_attn_out'],
${specs.length > 0 ? '  edits,\n' : ''}});
const odds = await softmax(logits.slice(0, -1));${view === 'read' ? `\nconst { heads } = ${detect} // previous, first, duplicate, induction` : ''}`,
    cpp: `Trace trace;
trace.capture("${block}.attn.*");
trace.capture("${block}.hook_attn_out");
${editsCpp(specs)}auto outputs = model->forward(inputs, &trace);`,
    tl: `${passTl(text, specs)}cache["${block}.attn.hook_pattern"], logits[0, -1].softmax(-1)`,
  };
}
