// The code behind chapter 11's figure.

import type { FigureCode } from '../../book/figure.js';
import type { FigureSeeing, View } from './figure.js';

export function codeOf(figure: FigureSeeing): FigureCode {
  const { view } = figure;
  return { js: `${load}\n${calls(figure)[view]}`, cpp: cpp(view), tl: lines[view] };
}

const load = `const processor = await AutoImageProcessor.from_pretrained('vit-mnist');
const model = await AutoModelForImageClassification.from_pretrained('vit-mnist');
const { pixel_values } = await processor({ data: greys, width: 28, height: 28, channels: 1 });`;

const patterns = `const [logits, cache] = await model.run_with_cache({ pixel_values }, { names_filter: 'blocks.*.attn.hook_pattern' });`;
const embedded = `const [logits, cache] = await model.run_with_cache({ pixel_values }, { names_filter: 'hook_*embed' });`;
const scores = `const { logits } = await model({ pixel_values });\nconst probabilities = await softmax(logits);`;

function calls(figure: FigureSeeing): Readonly<Record<View, string>> {
  const [layer, head, place] = [figure.number('l'), figure.number('h'), figure.place];
  const [row, column] = [Math.floor(place / 7) * 4, (place % 7) * 4];
  const token = figure.value('who') === 'patch' ? place + 1 : 0;
  return {
    picture: scores,
    patches: `pixel_values.slice(0, 0, [${row}, ${row + 4}], [${column}, ${column + 4}]);`,
    kernels: `${embedded}\ncache.hook_embed.slice(0, ${place + 1}, ${figure.number('k')});\n// with the checkpoint's own projection: await patch_embedding(pixel_values, weight, { bias })`,
    positions: `${embedded}\n// hook_embed + hook_pos_embed = hook_full_embed\ncache.hook_full_embed.slice(0, ${place + 1});`,
    similar: `${embedded}\nconst p = await rms_norm(cache.hook_pos_embed.slice(0, [1, null]), 96, { weight: Array(96).fill(96 ** -0.5), eps: 1e-12 });\nconst cosines = await matmul(p, transposed(p)); // rows and columns exchanged`,
    heads: `${patterns}\ncache['blocks.${layer}.attn.hook_pattern'].slice(0, ${head}, ${token});\nawait model.run_with_hooks({ pixel_values }, { edits: [{ hook: 'blocks.${layer}.attn.hook_z', head: ${head}, op: 'zero' }] });`,
    rollout: `${patterns}\nattentionRollout(cache).slice(-1, 0, 0);`,
    hide: `// places ${figure.value('hide')} of the picture left at 0\n${scores}`,
    order: orderCode(figure.value('pos')),
  };
}

function orderCode(mode: string): string {
  const rearranged = '// greys: the patches of the picture in another order\n';
  const tokens = 'Array.from({ length: 49 }, (_, i) => i + 1)';
  const edits: Record<string, string> = {
    along: `const table = cache.hook_pos_embed; // rows go where their patches go\nconst edits = [{ hook: 'hook_pos_embed', pos: ${tokens}, op: 'replace', value: order.map((patch) => table.slice(0, patch + 1).data) }];\n`,
    none: `const edits = [{ hook: 'hook_pos_embed', pos: ${tokens}, op: 'zero' }];\n`,
  };
  const edit = edits[mode];
  return edit
    ? `${rearranged}${edit}const logits = await model.run_with_hooks({ pixel_values }, { edits });`
    : `${rearranged}${scores}`;
}

function cpp(view: View): string {
  const hooks: Partial<Record<View, string>> = {
    kernels: 'hook_embed',
    positions: 'hook_full_embed',
    similar: 'hook_pos_embed',
    heads: 'blocks.*.attn.hook_pattern',
    rollout: 'blocks.*.attn.hook_pattern',
  };
  const hook = hooks[view];
  const inputs = 'ModelInputs inputs;\ninputs.pixel_values = TensorView(pixels, DType::f32, {1, 1, 28, 28});\n';
  if (hook === undefined) return `${inputs}model->forward(inputs).at("logits");`;
  return `${inputs}Trace trace;\ntrace.capture("${hook}");\nmodel->forward(inputs, &trace);\ntrace.at("${hook.replace('*', '3')}");`;
}

// TransformerLens has no vision models; these are the lines of its counterpart for vision, ViT-Prisma.
const lines: Readonly<Record<View, string>> = {
  picture: 'model(pixel_values).softmax(-1)',
  patches: 'pixel_values[0, 0].unfold(0, 4, 4).unfold(1, 4, 4)',
  kernels: "logits, cache = model.run_with_cache(pixel_values)\ncache['hook_embed']",
  positions: "logits, cache = model.run_with_cache(pixel_values)\ncache['hook_full_embed']",
  similar: 'F.cosine_similarity(model.pos_embed.W_pos[1:, None], model.pos_embed.W_pos[None, 1:], dim=-1)',
  heads: "logits, cache = model.run_with_cache(pixel_values)\ncache['pattern', layer][0, head]",
  rollout:
    "logits, cache = model.run_with_cache(pixel_values)\n[cache['pattern', layer].mean(1) for layer in range(4)]",
  hide: 'model(pixel_values).softmax(-1)',
  order: "model.run_with_hooks(pixel_values, fwd_hooks=[('hook_pos_embed', lambda p, hook: p[:, order])])",
};
