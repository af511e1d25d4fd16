// The code behind chapter 3's figure.

import type { FigureCode } from '../../book/figure.js';
import type { View, WhereData } from './figure.js';
import { type Asked, places } from './places.js';

export function codeOf(view: View, asked: Asked, data: WhereData | undefined): FigureCode {
  if (view === 'tables') return tables(data?.view === 'tables' ? data.learned.model : 'gpt-nano-sort');
  if (view === 'bias') return bias(data?.view === 'bias' ? data.tokens.length : 8);
  if (view === 'rotary') return rotary(data);
  return sinusoids(asked);
}

function sinusoids({ i, delta, d, layout }: Asked): FigureCode {
  const option = layout === 'halves' ? `, { layout: 'halves' }` : '';
  const member = layout === 'halves' ? ', .layout = SinusoidLayout::halves' : '';
  const stacked =
    layout === 'halves' ? 'torch.cat([x.sin(), x.cos()], -1)' : 'torch.stack([x.sin(), x.cos()], -1).flatten(1)';
  return {
    js: `const table = await sinusoidal_encoding(${places}, ${d}${option});\nconst step = await shift_matrix(${delta}, ${d}${option});\nconst row = new Tensor('float32', table.slice(${i}).data, [${d}, 1]);\nconst moved = await matmul(step, row); // what table.slice(${i + delta}) holds`,
    cpp: `const SinusoidConfig config{.d_model = ${d}${member}};\nconst Tensor table = sinusoidal_table(0, ${places}, config);\nconst Tensor step = shift_matrix(${delta}, config);`,
    tl: `x = torch.arange(${places})[:, None] / 10000 ** (torch.arange(0, ${d}, 2) / ${d})\ntable = ${stacked}`,
  };
}

function tables(model: string): FigureCode {
  const marian = model === 'marian-tiny-en-fr';
  const hook = `${marian ? 'encoder.' : ''}hook_pos_embed`;
  return {
    js: `const [, cache] = await model.run_with_cache(inputs, { names_filter: '${hook}' });\nconst table = cache['${hook}'].slice(0);\nconst [n, d] = table.dims;\nconst rows = await rms_norm(table, d);\nconst columns = Float32Array.from({ length: n * d }, (_, i) => rows.data[(i % n) * d + Math.floor(i / n)]);\nconst products = await matmul(rows, new Tensor('float32', columns, [d, n])); // divided by d: cosines`,
    cpp: `Trace trace;\ntrace.capture("${hook}");\nmodel->forward(inputs, &trace);`,
    tl: `_, cache = model.run_with_cache(tokens, names_filter="hook_pos_embed")\nF.cosine_similarity(*torch.broadcast_tensors(cache["hook_pos_embed"][0, :, None], cache["hook_pos_embed"][0, None]), dim=-1)`,
  };
}

function rotary(data: WhereData | undefined): FigureCode {
  if (data?.view !== 'rotary') return { js: '' };
  const { layer, head, group, key, queryPlace, keyPlace, sentence, options } = data.turned;
  const text = JSON.stringify(sentence.text);
  const at = `blocks.${layer}.attn`;
  return {
    js: `const [, cache] = await model.run_with_cache(tokenizer(${text}), {\n  names_filter: ['${at}.hook_q', '${at}.hook_k'],\n});\nconst turn = (row, place) => rotary(new Tensor('float32', row.data, [1, 1, 1, row.size]), [place], ${JSON.stringify(options)});\nconst q = await turn(cache['${at}.hook_q'].slice(0, ${sentence.focus}, ${head}), ${queryPlace});\nconst k = await turn(cache['${at}.hook_k'].slice(0, ${key}, ${group}), ${keyPlace});\nawait matmul(q.slice(0, 0), new Tensor('float32', k.data, [k.size, 1]));`,
    cpp: `Trace trace;\ntrace.capture("${at}.hook_rot_q");\ntrace.capture("${at}.hook_rot_k");\nmodel->forward(inputs, &trace);`,
    tl: `_, cache = model.run_with_cache(${text})\ncache["${at}.hook_rot_q"][0, ${sentence.focus}, ${head}]`,
  };
}

const bias = (count: number): FigureCode => ({
  js: `const bias = await alibi_bias(8, { queries: ${count}, keys: ${count} });\nawait scaled_dot_product_attention(q, k, v, { mask: Mask.additive(bias) });`,
  cpp: `const Tensor bias = alibi_bias(8, {.queries = ${count}, .keys = ${count}});`,
});
