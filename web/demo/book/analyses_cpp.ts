// The package's analyses as C++ programs over the core, which has passes, captures and edits.

import type { PreTrainedModel } from 'clearformer';

/** The scope of the layers that an analysis reads: of an encoder-decoder, the decoder's. */
const stackOf = ({ cfg }: PreTrainedModel): 'blocks' | 'decoder' =>
  cfg.kind === 'encoder-decoder' ? 'decoder' : 'blocks';

const captures = (hooks: readonly string[]): string =>
  `Trace trace;\n${hooks.map((hook) => `trace.capture("${hook}");\n`).join('')}model->forward(inputs, &trace);\n`;

/** The logit lens: the output layer after every layer. */
export function lensCpp(model: PreTrainedModel): string {
  const stack = stackOf(model);
  const last = `${stack}.${model.cfg.n_layers - 1}`;
  const normalized = model.hooks().some(({ name }) => name === `${last}.hook_normalized_resid_post`);
  return `${captures([`${stack}.*.hook_resid_pre`, `${last}.hook_${normalized ? 'normalized_' : ''}resid_post`])}for (const Trace::Captured& stream : trace.captured()) {
  const Tensor odds = softmax(model->unembed(stream.value, Model::Normalize::yes));  // (1, position, token)
}`;
}

/** Logit attribution: what each part of the last position's stream adds to the difference of two logits. */
export function attributionCpp(model: PreTrainedModel, { right, wrong }: Answers): string {
  const stack = stackOf(model);
  const top = stack === 'decoder' ? 'decoder.' : '';
  const names = new Set<string>(model.hooks().map(({ name }) => name));
  const embedded = names.has(`${top}embed.ln.hook_scale`) ? ['full_embed'] : ['embed', 'pos_embed', 'token_type_embed'];
  const embeddings = embedded.map((leaf) => `${top}hook_${leaf}`).filter((hook) => names.has(hook));
  const heads = [
    ['attn', 'sequence'],
    ['cross_attn', 'memory'],
  ].filter(([part]) => names.has(`${stack}.0.${part}.hook_z`));
  const scale = `${top}ln_final.hook_scale`;
  const hooks = [
    ...embeddings,
    ...heads.map(([part]) => `${stack}.*.${part}.hook_z`),
    `${stack}.*.hook_mlp_out`,
    scale,
  ];
  const ofHeads = heads.map(
    ([part, keys]) =>
      `  const Tensor ${part} = model->head_directions(layer, KeyRole::${keys}, u.vectors).vectors;  // (2, head, d_head)
  for (std::size_t head = 0; head < ${part}.dim(1); ++head) share(block + ".${part}.hook_z", ${part}, head);\n`,
  );
  return `const std::int32_t tokens[] = {${right}, ${wrong}};
const Directions u = model->logit_directions(TensorView(tokens, DType::i32, {2}));  // (2, d_model)
${captures(hooks)}const Tensor& scales = trace.at("${scale}");
// prints a part's values at the last position · the difference of the two directions / the final norm's scale
const auto share = [&](const std::string& hook, const Tensor& directions, std::size_t head) {
  const Tensor& values = trace.at(hook);
  const std::size_t row = directions.elements() / 2, d = directions.shape().back(0);
  const float* x = values.f32() + values.elements() - row + head * d;
  const float* to = directions.f32() + head * d;
  double sum = 0;
  for (std::size_t i = 0; i < d; ++i) sum += x[i] * (to[i] - to[row + i]);
  std::printf("%s %zu: %f\\n", hook.c_str(), head, sum / scales.f32()[scales.elements() - 1]);
};
${embeddings.map((hook) => `share("${hook}", u.vectors, 0);\n`).join('')}for (std::size_t layer = 0; layer < ${model.cfg.n_layers}; ++layer) {
  const std::string block = "${stack}." + std::to_string(layer);
${ofHeads.join('')}  share(block + ".hook_mlp_out", u.vectors, 0);
}`;
}

interface Answers {
  readonly right: number;
  readonly wrong: number;
}

/** The metric of ablation and patching: a difference of two logits of the last position. */
const difference = ({
  right,
  wrong,
}: Answers): string => `const auto difference = [&](const ModelInputs& given, Trace& trace) {
  ModelOutputs outputs = model->forward(given, &trace);
  const Tensor& logits = outputs.at("logits");
  const float* last = logits.f32() + logits.elements() - logits.shape().back(0);
  return last[${right}] - last[${wrong}];
};\n`;

/** The change of the metric without each head of a stack. */
export function ablationCpp(
  answers: Answers,
  { stack, layers, heads }: Record<'stack' | 'layers' | 'heads', unknown>,
): string {
  return `${difference(answers)}Trace unchanged;
const float baseline = difference(inputs, unchanged);
for (std::int64_t layer = 0; layer < ${layers}; ++layer) {
  for (std::int64_t head = 0; head < ${heads}; ++head) {
    Trace trace;
    trace.edit(Edit{.hook = "${stack}." + std::to_string(layer) + ".attn.hook_z", .heads = {head}});
    std::printf("%f\\n", difference(inputs, trace) - baseline);
  }
}`;
}

/** The metric of the corrupted inputs with a part of an activation as it is for the clean ones, for every part. */
export function patchingCpp(
  answers: Answers,
  model: PreTrainedModel,
  by: 'position' | 'head' | 'layer',
  positions: number,
): string {
  const { n_layers, n_heads } = model.cfg;
  const part = { position: ', .positions = {at}', head: ', .heads = {at}', layer: '' }[by];
  const run = `Trace clean, patched;
clean.capture(Capture{.hook = hook${part}});
model->forward(inputs, &clean);
patched.edit(Edit{.hook = hook, .op = Edit::Op::replace${part}, .value = clean.at(hook).clone()});
std::printf("%f\\n", difference(corrupted, patched));
`;
  const indented = (text: string): string => text.replace(/^(?=.)/gm, '  ');
  const loop = `for (std::int64_t at = 0; at < ${by === 'head' ? n_heads : positions}; ++at) {\n${indented(run)}}\n`;
  return `${difference(answers)}for (std::size_t layer = 0; layer < ${n_layers}; ++layer) {
  const std::string hook = "${stackOf(model)}." + std::to_string(layer) + ".${by === 'head' ? 'attn.hook_z' : 'hook_resid_pre'}";
${indented(by === 'layer' ? run : loop)}}`;
}

/** How much every head attends to the keys of four patterns, among tokens that come twice. */
export function detectionCpp(stack: string): string {
  return `// inputs: a row of different random tokens behind the start token, then the same again
${captures([`${stack}.*.attn.hook_pattern`])}const std::int32_t* ids = inputs.${stack === 'decoder' ? 'decoder_' : ''}input_ids->as<std::int32_t>();
for (const Trace::Captured& layer : trace.captured()) {  // (1, head, query, key)
  const std::size_t length = layer.value.dim(2);
  for (std::size_t head = 0; head < layer.value.dim(1); ++head) {
    const float* weights = layer.value.f32() + head * length * length;
    double sums[4] = {}, queries[4] = {};
    for (std::size_t query = 0; query < length; ++query) {
      bool seen[4] = {};
      for (std::size_t key = 0; key <= query; ++key) {
        const bool kinds[] = {key + 1 == query,                           // previous token
                              key == 0 && query > 0,                      // first token
                              key < query && ids[key] == ids[query],      // duplicate token
                              key > 0 && ids[key - 1] == ids[query]};     // induction
        for (std::size_t kind = 0; kind < 4; ++kind) {
          if (kinds[kind]) sums[kind] += weights[query * length + key];
          seen[kind] = seen[kind] || kinds[kind];
        }
      }
      for (std::size_t kind = 0; kind < 4; ++kind) queries[kind] += seen[kind];
    }
    std::printf("%s %zu:", layer.name.c_str(), head);
    for (std::size_t kind = 0; kind < 4; ++kind) std::printf(" %f", sums[kind] / queries[kind]);
    std::printf("\\n");
  }
}`;
}
