// The code behind chapter 1's figure.

import { inputsOf } from '../../book/code_parts.js';
import type { FigureCode } from '../../book/figure.js';
import type { VectorsData, View } from './figure.js';

export function codeOf(view: View, data: VectorsData | undefined): FigureCode {
  const text = JSON.stringify(data?.splits[0]?.text ?? '');
  if (view === 'cut') {
    return {
      js: `const { input_ids } = tokenizer(${text});\ntokenizer.convert_ids_to_tokens(Array.from(input_ids.data, Number));`,
      cpp: `// The core reads ids; texts are cut up in JavaScript.\nconst std::vector<std::int32_t> ids{${data?.splits[0]?.ids.slice(0, 24).join(', ') ?? ''}};`,
      tl: `model.to_str_tokens(${text})`,
    };
  }
  if (view === 'sum') return hooks(data, data?.sum ? [data.sum.token, data.sum.position, data.sum.input] : []);
  if (view === 'near') return near(data?.near?.id ?? 0);
  return hooks(data, data?.table ? [data.table.taken] : []);
}

function hooks(data: VectorsData | undefined, made: readonly ({ source: string } | undefined)[]): FigureCode {
  const inputs = inputsOf(data?.table?.alone ? [data.table.id] : [], data?.splits[0]?.text ?? '');
  const names = made.flatMap((one) => (one ? [one.source.slice(0, one.source.indexOf('['))] : []));
  const list = names.map((name) => `'${name}'`).join(', ');
  return {
    js: `${inputs.js}const [, cache] = await model.run_with_cache(inputs, {\n  names_filter: [${list}],\n});`,
    cpp: `${inputs.cpp}Trace trace;\n${names.map((name) => `trace.capture("${name}");`).join('\n')}\nmodel->forward(inputs, &trace);`,
    tl: `_, cache = model.run_with_cache(${inputs.tl}, names_filter=[${list}])`,
  };
}

const near = (id: number): FigureCode => ({
  js: `// table: [tokens, d], the embedding weights, or hook_embed of every id\nconst rows = await rms_norm(table, table.dims[1]);\nconst row = new Tensor('float32', rows.slice(${id}).data, [table.dims[1], 1]);\nconst products = await matmul(rows, row); // divided by d: cosines`,
  cpp: 'const Tensor rows = rms_norm(table, 1, nullptr, 0.0F); // products of rows divided by d: cosines',
  tl: `torch.cosine_similarity(model.W_E, model.W_E[${id}], dim=-1).topk(9)`,
});
