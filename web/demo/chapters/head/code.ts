// The code behind chapter 4's figure: JavaScript, C++ and, if there is one, the line of TransformerLens.

import { editsCpp, editsJs, inputsJs, passTl } from '../../book/code_parts.js';
import type { EditSpec } from '../../book/edits.js';
import type { FigureCode } from '../../book/figure.js';
import type { HeadHooks } from './hooks.js';

/** Rows of numbers as text, without the outer brackets. */
type Texts = Readonly<Record<'Q' | 'K' | 'V', string>>;

interface CodeRequest {
  readonly view: string;
  readonly text: string;
  readonly layer: number;
  readonly head: number;
  /** Of the head shown, unless the matrices are the reader's own. */
  readonly hooks: HeadHooks | undefined;
  readonly own: Texts | undefined;
  readonly edits: readonly EditSpec[];
  readonly d: number;
  readonly causal: boolean;
  /** Of the scoring functions: whether the keys are normed, and whether M is the identity. */
  readonly equalNorms: boolean;
  readonly identity: boolean;
}

export function headCode(request: CodeRequest): FigureCode {
  if (request.view === 'root') return rootCode(request.d);
  if (request.view === 'scores') return scoresCode(request);
  if (request.own) return ownCode(request.own, request.causal);
  return request.view === 'batch' ? batchCode(request) : passCode(request);
}

const pass = ({ layer, text, edits }: CodeRequest): string =>
  `${inputsJs(text)}${editsJs(edits)}const [logits, cache] = await model.run_with_cache(inputs, {\n  names_filter: 'blocks.${layer}.attn.*'${edits.length > 0 ? ',\n  edits' : ''},\n});`;
const passCpp = ({ layer, edits }: CodeRequest): string =>
  `Trace trace;\ntrace.capture("blocks.${layer}.attn.*");\n${editsCpp(edits)}model->forward(inputs, &trace);\n`;

function passCode(request: CodeRequest): FigureCode {
  const { text, layer, head, edits } = request;
  const name = `blocks.${layer}.attn.hook_pattern`;
  return {
    js: `${pass(request)}\ncache['${name}'].slice(0, ${head}); // [query, key]\ncache['blocks.${layer}.attn.hook_z'].slice(0, null, ${head}); // [query, d_head]`,
    cpp: `${passCpp(request)}trace.at("${name}");  // [batch, head, query, key]`,
    tl: `${passTl(text, edits)}cache["pattern", ${layer}][0, ${head}]`,
  };
}

const matrices = ({ Q, K, V }: Texts): string => `const Q = [[${Q}]];\nconst K = [[${K}]];\nconst V = [[${V}]];\n`;

function ownCode(own: Texts, causal: boolean): FigureCode {
  const option = causal ? ', { is_causal: true, need_weights: true }' : ', { need_weights: true }';
  return {
    js: `${matrices(own)}const [Z, A] = await scaled_dot_product_attention(Q, K, V${option});`,
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

function scoresCode(request: CodeRequest): FigureCode {
  const { own, hooks, equalNorms, identity } = request;
  const rows = (name: string, hook: string, head: number): string =>
    `const ${name} = cache['${hook}'].slice(0, null, ${head});\n`;
  const read =
    hooks && `${rows('q', hooks.q, hooks.head)}${rows('k', hooks.k, hooks.kvHead)}${rows('v', hooks.v, hooks.kvHead)}`;
  const given = own
    ? `${matrices(own)}const [q, k, v] = [Q, K, V].map((rows) => new Tensor('float32', Float32Array.from(rows.flat()), [rows.length, rows[0].length]));\n`
    : `${pass(request)}\n${read ?? ''}`;
  const keys = equalNorms ? 'const keys = await rms_norm(k, d, { eps: 0 });' : 'const keys = k;';
  const M = identity
    ? 'const M = Array.from({ length: d }, (_, i) => Array.from({ length: d }, (_, j) => Number(i === j)));'
    : '// M: [d, d], W_q and W_k: [8, d], w_v: [1, 8], drawn from N(0, 1)';
  const scale = identity ? '1 / Math.sqrt(d)' : '1 / d';
  const causal = own ? '' : 'is_causal: true, ';
  return {
    js: `${given}const d = q.dims[1];\n${keys}\n${M}\nfor (const options of [\n  { score: 'dot', scale: 1 / Math.sqrt(d) },\n  { score: 'general', M, scale: ${scale} },\n  { score: 'additive', W_q, W_k, w_v },\n  { score: 'distance', sigma: d ** 0.25 },\n]) await attention_pooling(q, keys, v, { ...options, ${causal}need_weights: true });`,
    cpp: `${own ? '' : passCpp(request)}// q, k, v: (positions, d), of the head; M (d, d), W_q and W_k (8, d), w_v (1, 8)
const auto d = static_cast<float>(q.dim(1));
const Tensor keys = ${equalNorms ? 'rms_norm(k, 1, nullptr, 0)' : 'k.clone()'};
Scoring scores[] = {{.name = "dot"}, {.name = "general"}, {.name = "additive"}, {.name = "distance"}};
scores[0].set("scale", 1 / std::sqrt(d));
scores[1].set("M", M.clone()).set("scale", ${identity ? '1 / std::sqrt(d)' : '1 / d'});
scores[2].set("W_q", W_q.clone()).set("W_k", W_k.clone()).set("w_v", w_v.clone());
scores[3].set("sigma", std::sqrt(std::sqrt(d)));
for (Scoring& score : scores) {
  attention_pooling(q, keys, v, {.mask = ${own ? 'Mask()' : 'Mask::causal()'}, .score = std::move(score), .keep = PoolingOptions::Keep::weights});
}`,
  };
}

function batchCode(request: CodeRequest): FigureCode {
  const { layer, text, edits } = request;
  return {
    js: `${pass(request)}\n// Q: [head, position, d], K_T: [head, d, position]\nconst S = await bmm(Q, K_T); // [head, position, position]`,
    cpp: `${passCpp(request)}// Q: (head, position, d), K_T: (head, d, position)\nconst Tensor S = bmm(Q, K_T);`,
    tl: `${passTl(text, edits)}q, k = cache["rot_q", ${layer}][0], cache["rot_k", ${layer}][0]\ntorch.bmm(q.transpose(0, 1), k.permute(1, 2, 0))`,
  };
}
