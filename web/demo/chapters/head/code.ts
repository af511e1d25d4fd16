// The code behind chapter 4's figure: JavaScript, C++ and, if there is one, the line of TransformerLens.

import type { EditSpec } from '../../book/edits.js';
import type { FigureCode } from '../../book/figure.js';

interface CodeRequest {
  readonly view: string;
  readonly text: string;
  readonly layer: number;
  readonly head: number;
  readonly own: Readonly<Record<'Q' | 'K' | 'V', string>> | undefined;
  readonly edits: readonly EditSpec[];
  readonly d: number;
  readonly causal: boolean;
}

export function headCode(request: CodeRequest): FigureCode {
  if (request.view === 'root') return rootCode(request.d);
  if (request.own) return ownCode(request.own, request.causal);
  if (request.view === 'scores') return scoresCode(request);
  return request.view === 'batch' ? batchCode(request) : passCode(request);
}

const pass = (layer: number, text: string, options = ''): string =>
  `const [logits, cache] = await model.run_with_cache(tokenizer(${JSON.stringify(text)}), {\n  names_filter: 'blocks.${layer}.attn.*'${options},\n});`;
const capture = (layer: number): string => `Trace trace;\ntrace.capture("blocks.${layer}.attn.*");`;

function passCode({ text, layer, head, edits }: CodeRequest): FigureCode {
  const name = `blocks.${layer}.attn.hook_pattern`;
  const rows = edits.map(({ hook, head: h, pos, index, op, value }) => {
    const place = [h !== undefined && `head: ${h}`, pos !== undefined && `pos: ${pos}`].filter(Boolean).join(', ');
    const to =
      op === 'set'
        ? `op: 'replace', value: row.with(${index}, ${value})`
        : `op: '${op}'${value === undefined ? '' : `, value: ${value}`}`;
    return `    { hook: '${hook}', ${place}, ${to} }, ${op === 'set' ? `// row: what stands at ${hook} there` : ''}`;
  });
  const edited = rows.length > 0 ? `,\n  edits: [\n${rows.join('\n')}\n  ]` : '';
  const change = edits.map(
    ({ hook, head: h, pos }) =>
      `trace.edit({.hook = "${hook}", .op = Edit::Op::replace,\n            .heads = {${h ?? ''}}, .positions = {${pos ?? ''}}, .value = row});`,
  );
  return {
    js: `${pass(layer, text, edited)}\ncache['${name}'].slice(0, ${head}); // [query, key]\ncache['blocks.${layer}.attn.hook_z'].slice(0, null, ${head}); // [query, d_head]`,
    cpp: [
      capture(layer),
      ...change,
      'model->forward(inputs, &trace);',
      `trace.at("${name}");  // [batch, head, query, key]`,
    ].join('\n'),
    tl: `logits, cache = model.run_with_cache(${JSON.stringify(text)})\ncache["pattern", ${layer}][0, ${head}]`,
  };
}

function ownCode({ Q, K, V }: Readonly<Record<'Q' | 'K' | 'V', string>>, causal: boolean): FigureCode {
  const option = causal ? ', { is_causal: true, need_weights: true }' : ', { need_weights: true }';
  return {
    js: `const Q = [[${Q}]];\nconst K = [[${K}]];\nconst V = [[${V}]];\nconst [Z, A] = await scaled_dot_product_attention(Q, K, V${option});`,
    cpp: `Pooled pooled = attention_pooling(Q, K, V, {.mask = ${causal ? 'Mask::causal()' : 'Mask()'}, .keep = PoolingOptions::Keep::weights});\npooled.output, pooled.kept;  // Z and A`,
    tl: `A = ((Q @ K.T) / Q.shape[-1] ** 0.5${causal ? ').masked_fill(torch.ones(Q.shape[0], K.shape[0]).triu(1).bool(), -torch.inf' : ''}).softmax(-1)\nA @ V`,
  };
}

function rootCode(d: number): FigureCode {
  return {
    js: `// q, k: [64, ${d}], drawn from N(0, 1)\nconst [, dots] = await attention_pooling(q, k, k, { score: 'dot', need_scores: 'raw' });\nconst [, scaled] = await scaled_dot_product_attention(q, k, k, { need_scores: 'raw' });`,
    cpp: `// q, k: [64, ${d}]\nconst auto keep = PoolingOptions::Keep::raw_scores;\nattention_pooling(q, k, k, {.score = {.name = "dot"}, .keep = keep}).kept;\nattention_pooling(q, k, k, {.score = {.name = "scaled_dot"}, .keep = keep}).kept;`,
    tl: `(q @ k.T).var(), (q @ k.T / ${d} ** 0.5).var()`,
  };
}

function scoresCode({ text, layer, head }: CodeRequest): FigureCode {
  return {
    js: `${pass(layer, text)}\n// q, k, v: head ${head} of hook_rot_q, hook_rot_k, hook_v\nfor (const options of [\n  { score: 'dot', scale: 1 / Math.sqrt(d) },\n  { score: 'general', M },\n  { score: 'additive', W_q, W_k, w_v },\n  { score: 'distance', sigma: d ** 0.25 },\n]) await attention_pooling(q, k, v, { ...options, is_causal: true, need_weights: true });`,
    cpp: `attention_pooling(q, k, v, {.mask = Mask::causal(),\n                            .score = Scoring{.name = "general"}.set("M", M)});`,
  };
}

function batchCode({ text, layer }: CodeRequest): FigureCode {
  return {
    js: `${pass(layer, text)}\n// Q: [head, position, d], K_T: [head, d, position]\nconst S = await bmm(Q, K_T); // [head, position, position]`,
    cpp: `${capture(layer)}\nmodel->forward(inputs, &trace);\nTensor S = bmm(Q, K_T);`,
    tl: `q, k = cache["rot_q", ${layer}][0], cache["rot_k", ${layer}][0]\ntorch.bmm(q.transpose(0, 1), k.permute(1, 2, 0))`,
  };
}
