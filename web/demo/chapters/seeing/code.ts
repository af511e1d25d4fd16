// The code behind chapter 11's figure.

import type { FigureCode } from '../../book/figure.js';
import type { FigureSeeing, View } from './figure.js';
import { cornerOf } from './geometry.js';
import { isOwn } from './reading.js';

export function codeOf(figure: FigureSeeing): FigureCode {
  const { view } = figure;
  return { js: `${load(figure)}\n${calls(figure)[view]}`, cpp: cpp(figure), tl: lines(figure)[view] };
}

function load(figure: FigureSeeing): string {
  const own = isOwn(figure.book.address);
  const source = own ? 'folder' : "'vit-mnist'";
  const image = own ? 'image' : '{ data: greys, width: 28, height: 28, channels: 1 }';
  return `const processor = await AutoImageProcessor.from_pretrained(${source});
const model = await AutoModelForImageClassification.from_pretrained(${source});
const { pixel_values } = await processor(${image});`;
}

const patterns = `const [logits, cache] = await model.run_with_cache({ pixel_values }, { names_filter: 'blocks.*.attn.hook_pattern' });`;
const embedded = `const [logits, cache] = await model.run_with_cache({ pixel_values }, { names_filter: 'hook_*embed' });`;
const scores = `const { logits } = await model({ pixel_values });\nconst probabilities = await softmax(logits);`;

function calls(figure: FigureSeeing): Readonly<Record<View, string>> {
  const [layer, head, place] = [figure.number('l'), figure.number('h'), figure.place];
  const { shape } = figure;
  const { special, embed } = figure.data ?? { special: 1, embed: { dims: [50, 96] } };
  const [row, column] = cornerOf(shape, place);
  const token = figure.value('who') === 'patch' ? place + special : 0;
  const width = embed.dims[1] ?? 0;
  const channel = shape.channels === 1 ? '0' : 'null';
  return {
    picture: scores,
    patches: `pixel_values.slice(0, ${channel}, [${row}, ${row + shape.patch}], [${column}, ${column + shape.patch}]);`,
    kernels: `${embedded}\ncache.hook_embed.slice(0, ${place + special}, ${figure.number('k')});\n// with the checkpoint's own projection: await patch_embedding(pixel_values, weight, { bias })`,
    positions: `${embedded}\n// hook_embed + hook_pos_embed = hook_full_embed\ncache.hook_full_embed.slice(0, ${place + special});`,
    similar: `${embedded}\nconst p = await rms_norm(cache.hook_pos_embed.slice(0, [${special}, null]), ${width}, { weight: Array(${width}).fill(${width} ** -0.5), eps: 1e-12 });\nconst cosines = await matmul(p, transposed(p)); // rows and columns exchanged`,
    heads: `${patterns}\ncache['blocks.${layer}.attn.hook_pattern'].slice(0, ${head}, ${token});\nawait model.run_with_hooks({ pixel_values }, { edits: [{ hook: 'blocks.${layer}.attn.hook_z', head: ${head}, op: 'zero' }] });`,
    rollout: `${patterns}\nattentionRollout(cache).slice(-1, 0, 0);`,
    hide: `// places ${figure.data?.hidden.join('.') || 'none'} of the picture left ${isOwn(figure.book.address) ? 'black' : 'at 0'}\n${scores}`,
    order: orderCode(figure.value('pos'), shape.places, special),
  };
}

function orderCode(mode: string, places: number, special: number): string {
  const rearranged = '// the patches of the picture in another order\n';
  const tokens = `Array.from({ length: ${places} }, (_, i) => i + ${special})`;
  const edits: Record<string, string> = {
    along: `const [, cache] = await model.run_with_cache({ pixel_values }, { names_filter: 'hook_pos_embed' });
const table = cache.hook_pos_embed; // rows go where their patches go\nconst edits = [{ hook: 'hook_pos_embed', pos: ${tokens}, op: 'replace', value: order.map((patch) => Array.from(table.slice(0, patch + ${special}).data)) }];\n`,
    none: `const edits = [{ hook: 'hook_pos_embed', pos: ${tokens}, op: 'zero' }];\n`,
  };
  const edit = edits[mode];
  return edit
    ? `${rearranged}${edit}const logits = await model.run_with_hooks({ pixel_values }, { edits });`
    : `${rearranged}${scores}`;
}

function cpp({ view, shape, data }: FigureSeeing): string {
  const hooks: Partial<Record<View, string>> = {
    kernels: 'hook_embed',
    positions: 'hook_full_embed',
    similar: 'hook_pos_embed',
    heads: 'blocks.*.attn.hook_pattern',
    rollout: 'blocks.*.attn.hook_pattern',
  };
  const hook = hooks[view];
  const { channels, side } = shape;
  const inputs = `ModelInputs inputs;\ninputs.pixel_values = TensorView(pixels, DType::f32, {1, ${channels}, ${side}, ${side}});\n`;
  if (hook === undefined) return `${inputs}model->forward(inputs).at("logits");`;
  return `${inputs}Trace trace;\ntrace.capture("${hook}");\nmodel->forward(inputs, &trace);\ntrace.at("${hook.replace('*', String((data?.patterns.length ?? 4) - 1))}");`;
}

// TransformerLens has no vision models; these are the lines of its counterpart for vision, ViT-Prisma.
const lines = ({ shape, data }: FigureSeeing): Readonly<Record<View, string>> => ({
  picture: 'model(pixel_values).softmax(-1)',
  patches: `pixel_values[0].unfold(1, ${shape.patch}, ${shape.patch}).unfold(2, ${shape.patch}, ${shape.patch})`,
  kernels: "logits, cache = model.run_with_cache(pixel_values)\ncache['hook_embed']",
  positions: "logits, cache = model.run_with_cache(pixel_values)\ncache['hook_full_embed']",
  similar: `F.cosine_similarity(model.pos_embed.W_pos[${data?.special ?? 1}:, None], model.pos_embed.W_pos[None, ${data?.special ?? 1}:], dim=-1)`,
  heads: "logits, cache = model.run_with_cache(pixel_values)\ncache['pattern', layer][0, head]",
  rollout: `logits, cache = model.run_with_cache(pixel_values)\n[cache['pattern', layer].mean(1) for layer in range(${data?.patterns.length ?? 4})]`,
  hide: 'model(pixel_values).softmax(-1)',
  order: "model.run_with_hooks(pixel_values, fwd_hooks=[('hook_pos_embed', lambda p, hook: p[:, order])])",
});
