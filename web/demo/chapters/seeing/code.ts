// The code behind chapter 11's figure.

import { editedTl, editsCpp, editsJs } from '../../book/code_parts.js';
import type { FigureCode } from '../../book/figure.js';
import { within } from '../../book/within.js';
import type { FigureSeeing, View } from './figure.js';
import { cornerOf } from './geometry.js';
import { isOwn, type Seen } from './reading.js';
import { chosenHead } from './stages.js';

export function codeOf(figure: FigureSeeing): FigureCode {
  const { view, data } = figure;
  if (!data) return { js: load(figure) };
  return { js: `${load(figure)}\n${calls(figure, data)[view]}`, cpp: cpp(figure, data), tl: lines(figure, data)[view] };
}

function load(figure: FigureSeeing): string {
  const own = isOwn(figure.book.address);
  const source = own ? 'folder' : "'vit-mnist'";
  const image = own ? 'image' : '{ data: greys, width: 28, height: 28, channels: 1 }';
  return `const processor = await AutoImageProcessor.from_pretrained(${source});
const model = await AutoModelForImageClassification.from_pretrained(${source});
const { pixel_values } = await processor(${image});
const inputs = { pixel_values };`;
}

function calls(figure: FigureSeeing, seen: Seen): Readonly<Record<View, string>> {
  const { layer, head } = chosenHead(figure, seen);
  const { shape, place } = figure;
  const { special, embed } = seen;
  const own = ownEdits(figure, seen);
  const edits = `${own?.declared ?? ''}${editsJs(figure.book.editSpecs, own && [own.js])}`;
  const observed = (hooks: string): string =>
    `${edits}const [logits, cache] = await model.run_with_cache(inputs, { names_filter: '${hooks}'${edits && ', edits'} });`;
  const [patterns, embedded] = [observed('blocks.*.attn.hook_pattern'), observed('hook_*embed')];
  const scores = `${edits}const logits = await model.run_with_hooks(inputs${edits && ', { edits }'});\nconst probabilities = await softmax(logits);`;
  const [row, column] = cornerOf(shape, place);
  const token = figure.value('who') === 'patch' ? place + special : 0;
  const width = embed.dims[1] ?? 0;
  const channel = shape.channels === 1 ? '0' : 'null';
  return {
    picture: scores,
    patches: `pixel_values.slice(0, ${channel}, [${row}, ${row + shape.patch}], [${column}, ${column + shape.patch}]);`,
    kernels: `${embedded}\ncache.hook_embed.slice(0, ${place + special}, ${within(figure.number('k'), width)});\n// with the checkpoint's own projection: await patch_embedding(pixel_values, weight, { bias })`,
    positions: `${embedded}\n// hook_embed + hook_pos_embed = hook_full_embed\ncache.hook_full_embed.slice(0, ${place + special});`,
    similar: `const [, cache] = await model.run_with_cache(inputs, { names_filter: 'hook_pos_embed' });\nconst p = await rms_norm(cache.hook_pos_embed.slice(0, [${special}, null]), ${width}, { weight: Array(${width}).fill(${width} ** -0.5), eps: 1e-12 });\nconst cosines = await matmul(p, transposed(p)); // rows and columns exchanged`,
    heads: `${patterns}\ncache['blocks.${layer}.attn.hook_pattern'].slice(0, ${head}, ${token});`,
    rollout: `${patterns}\nattentionRollout(cache).slice(-1, 0, 0);`,
    hide: `// places ${seen.hidden.join('.') || 'none'} of the picture left ${isOwn(figure.book.address) ? 'black' : 'at 0'}\n${scores}`,
    order: `// the patches of the picture in another order\n${scores}`,
  };
}

/** The figure's own edit, of the position embeddings of patches that are moved. */
interface OwnEdit {
  readonly declared: string;
  readonly js: string;
  readonly cpp: string;
  readonly tl: string;
}

function ownEdits(figure: FigureSeeing, { inputs, order, special }: Seen): OwnEdit | undefined {
  if (!inputs.edits?.length) return undefined;
  const tokens = `Array.from({ length: ${order.length} }, (_, i) => i + ${special})`;
  const edit = (code: string): string =>
    `trace.edit("hook_pos_embed", [&](auto, const MutableTensorView& x) {\n  const std::size_t d = x.shape().back(0);\n${code}});\n`;
  if (figure.value('pos') === 'none') {
    return {
      declared: '',
      js: `{ hook: 'hook_pos_embed', pos: ${tokens}, op: 'zero' }`,
      cpp: edit(`  std::fill(x.f32() + ${special} * d, x.f32() + x.elements(), 0.0F);\n`),
      tl: `("hook_pos_embed", lambda p, hook: torch.cat([p[:, :${special}], 0 * p[:, ${special}:]], 1))`,
    };
  }
  const rows = [...Array.from({ length: special }, (_, i) => i), ...order.map((patch) => patch + special)].join(', ');
  return {
    declared: `const usual = await model.run_with_cache(inputs, { names_filter: 'hook_pos_embed' });
const table = usual[1].hook_pos_embed;
const order = [${order.join(', ')}]; // the patch at each place: rows go where their patches go\n`,
    js: `{ hook: 'hook_pos_embed', pos: ${tokens}, op: 'replace', value: order.map((patch) => Array.from(table.slice(0, patch + ${special}).data)) }`,
    cpp: `const std::size_t rows[] = {${rows}};  // they go where their patches go
${edit('  const Tensor table = Tensor::copy_of(x);\n  for (const std::size_t& row : rows) std::copy_n(table.f32() + row * d, d, x.f32() + (&row - rows) * d);\n')}`,
    tl: `("hook_pos_embed", lambda p, hook: p[:, [${rows}]])`,
  };
}

function cpp(figure: FigureSeeing, seen: Seen): string {
  const { shape, place, view } = figure;
  const { channels, side, patch, places } = shape;
  const { special, embed } = seen;
  const { layer } = chosenHead(figure, seen);
  const given = `ModelInputs inputs;\ninputs.pixel_values = TensorView(pixels, DType::f32, {1, ${channels}, ${side}, ${side}});\n`;
  const begin = `${given}Trace trace;\n${ownEdits(figure, seen)?.cpp ?? ''}${editsCpp(figure.book.editSpecs)}`;
  const read = (hook: string): string => `${begin}trace.capture("${hook}");\nmodel->forward(inputs, &trace);\n`;
  const scores = `${begin}const Tensor probabilities = softmax(model->forward(inputs, &trace).at("logits"));`;
  const [row, column] = cornerOf(shape, place);
  const pattern = `blocks.${layer}.attn.hook_pattern`;
  const views: Readonly<Record<View, string>> = {
    picture: scores,
    patches: `const float* patch = pixels + ${row * side + column};  // ${patch} numbers of each of ${patch} rows, which are ${side} apart`,
    kernels: `${read('hook_embed')}trace.at("hook_embed");`,
    positions: `${read('hook_full_embed')}trace.at("hook_full_embed");`,
    similar: `${given}Trace trace;
trace.capture("hook_pos_embed");
model->forward(inputs, &trace);
const TensorView table(trace.at("hook_pos_embed").f32() + ${special * (embed.dims[1] ?? 0)}, DType::f32, {${places}, ${embed.dims[1]}});
const Tensor rows = rms_norm(table, 1, nullptr, 1e-12F);  // products of rows divided by d: cosines`,
    heads: `${read(pattern)}trace.at("${pattern}");  // (1, head, query, key)`,
    rollout: `${read('blocks.*.attn.hook_pattern')}${rolled}`,
    hide: `// pixels: those of the hidden places are black\n${scores}`,
    order: `// pixels: of the patches in another order\n${scores}`,
  };
  return views[view];
}

/** The product of all layers' mean maps, each with the identity added and its rows' sums 1 again. */
const rolled = `Tensor rollout;
for (const Trace::Captured& layer : trace.captured()) {  // (1, head, query, key)
  const std::size_t heads = layer.value.dim(1), length = layer.value.dim(2);
  Tensor mixed = Tensor::zeros({length, length});
  for (std::size_t i = 0; i < layer.value.elements(); ++i) mixed.f32()[i % mixed.elements()] += layer.value.f32()[i] / (2 * heads);
  for (std::size_t i = 0; i < length; ++i) mixed.f32()[i * length + i] += 0.5F;
  rollout = rollout.empty() ? std::move(mixed) : matmul(mixed, rollout);
}`;

// TransformerLens has no vision models; these are the lines of its counterpart for vision, ViT-Prisma.
function lines(figure: FigureSeeing, seen: Seen): Readonly<Record<View, string>> {
  const { shape, place } = figure;
  const { special, patterns } = seen;
  const { layer, head } = chosenHead(figure, seen);
  const own = ownEdits(figure, seen);
  const edited = (call: string): string => editedTl(call, figure.book.editSpecs, own && [own.tl]);
  const [pass, scores] = [
    edited('logits, cache = model.run_with_cache(pixel_values)'),
    edited('probabilities = model(pixel_values).softmax(-1)'),
  ];
  return {
    picture: scores,
    patches: `pixel_values[0].unfold(1, ${shape.patch}, ${shape.patch}).unfold(2, ${shape.patch}, ${shape.patch})`,
    kernels: `${pass}\ncache['hook_embed'][0, ${place + special}]`,
    positions: `${pass}\ncache['hook_full_embed'][0, ${place + special}]`,
    similar: `F.cosine_similarity(model.pos_embed.W_pos[${special}:, None], model.pos_embed.W_pos[None, ${special}:], dim=-1)`,
    heads: `${pass}\ncache['pattern', ${layer}][0, ${head}]`,
    rollout: `${pass}\n[cache['pattern', layer].mean(1) for layer in range(${patterns.length})]`,
    hide: scores,
    order: scores,
  };
}
