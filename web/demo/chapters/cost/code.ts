// The code behind chapter 12's figure.

import { inputsJs } from '../../book/code_parts.js';
import type { FigureCode } from '../../book/figure.js';
import type { View } from './figure.js';

const timed = (work: string): string =>
  `const begun = performance.now();\nawait ${work};\nconsole.log(performance.now() - begun, 'ms');`;

export function costCode(
  view: View,
  { n, d }: Readonly<Record<'n' | 'd', number>>,
  text: string,
  tokens: number,
): FigureCode {
  const given = inputsJs(text);
  switch (view) {
    case 'cache':
      return {
        js: `${given}const options = { max_new_tokens: ${tokens}, min_new_tokens: ${tokens}, do_sample: false };\nfor (const use_cache of [true, false]) {\n  const begun = performance.now();\n  await model.generate(inputs, { ...options, use_cache });\n  console.log(performance.now() - begun, 'ms');\n}\nconst { cache } = await inspect(folder);\nconst bytes = cache.fp32.per_position;`,
        cpp: `GenerationConfig config;\nconfig.max_new_tokens = ${tokens};\nGeneration generation(*model, inputs, config);\nwhile (!generation.done()) generation.next();`,
      };
    case 'dtypes':
      return {
        js: `for (const dtype of ['fp32', 'fp16', 'q8', 'q4']) {\n  const translator = await AutoModelForSeq2SeqLM.from_pretrained('marian-tiny-en-fr', { dtype });\n  const tokenizer = await AutoTokenizer.from_pretrained('marian-tiny-en-fr');\n  const inputs = { ...tokenizer(${JSON.stringify(text)}), decoder_input_ids: [[translator.config.decoder_start_token_id]] };\n  ${timed('translator(inputs)').replaceAll('\n', '\n  ')}\n  await translator.dispose();\n}`,
        cpp: 'model->forward(inputs).at("logits");  // of the model loaded in each dtype',
      };
    case 'device':
      return { js: 'model.info(); // threads, SIMD, bytes of weights', cpp: 'num_threads();' };
    default:
      return {
        js: `const { multiply_adds, maximum_path_length } = await complexity('self_attention', { sequence_length: ${n}, d_model: ${d} });\n${timed('scaled_dot_product_attention(q, k, v)')}`,
        cpp: `const Complexity cost = complexity(LayerKind::self_attention, {.sequence_length = ${n}, .d_model = ${d}});\ncost.multiply_adds;`,
      };
  }
}
