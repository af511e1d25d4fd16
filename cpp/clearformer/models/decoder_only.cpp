#include "clearformer/models/decoder_only.h"

#include <cstring>

namespace clearformer {

namespace {

std::shared_ptr<const Embedding> words_of(const ModelConfig& config, const WeightScope& scope) {
  const TextEmbeddingConfig& text = *config.tower.text;
  const bool shared = config.tied && config.task != Task::base;
  return std::make_shared<Embedding>(
      scope / "embed", text.vocabulary, text.word_width(),
      shared ? Embedding::Table::words_and_output : Embedding::Table::words);
}

}  // namespace

DecoderOnlyModel::DecoderOnlyModel(ModelConfig config, const WeightScope& scope)
    : Model(std::move(config)),
      tokens_(words_of(config_, scope)),
      tower_(scope, config_.tower, "forward", tokens_) {
  if (config_.task == Task::base) return;
  output_.emplace(scope / "unembed", config_.output, config_.tied ? tokens_.get() : nullptr);
}

class DecoderOnlyModel::Pass : public ForwardPass {
 public:
  Pass(DecoderOnlyModel& model, const ModelInputs& inputs, const TowerInputs& tower, Trace* trace)
      : model_(model),
        kept_(inputs.logits_to_keep),
        stopped_(inputs.stop_at_layer.has_value()),
        guard_(inputs.cache),
        frame_(model.arena_),
        context_{model.arena_, TraceScope(trace)},
        run_(model.tower_, tower, context_) {}

  bool step() override {
    if (run_.step()) return true;
    MutableTensorView x = run_.x();
    if (stopped_) {
      outputs_.add("residual", Tensor::copy_of(x));
      return false;
    }
    x = model_.tower_.projected(x, context_);
    if (model_.output_) {
      x = kept_positions(x, kept_, context_.arena);
      Tensor logits({x.dim(0), x.dim(1), model_.config().d_vocab()});
      model_.output_->forward(x, logits);
      outputs_.add("logits", std::move(logits));
    } else {
      outputs_.add("last_hidden_state", Tensor::copy_of(x));
    }
    guard_.keep();
    return false;
  }

 private:
  DecoderOnlyModel& model_;
  std::vector<std::int64_t> kept_;
  bool stopped_;
  CacheGuard guard_;
  Arena::Frame frame_;
  Context context_;
  TowerRun run_;
};

std::unique_ptr<ForwardPass> DecoderOnlyModel::start(const ModelInputs& inputs, Trace* trace) {
  return std::make_unique<Pass>(*this, inputs, tower_inputs(inputs), trace);
}

TowerInputs DecoderOnlyModel::tower_inputs(const ModelInputs& inputs) const {
  expect_inputs(inputs, {"input_ids"}, {"attention_mask", "position_ids"});
  TowerInputs tower;
  tower.ids = inputs.input_ids;
  tower.embeds = inputs.inputs_embeds;
  tower.residual = inputs.residual;
  tower.start_at_layer = inputs.start_at_layer.value_or(0);
  tower.attention_mask = inputs.attention_mask;
  tower.positions = inputs.position_ids;
  tower.stop_at_layer = inputs.stop_at_layer;
  tower.cache = inputs.cache;
  return tower;
}

std::vector<PassSize> DecoderOnlyModel::sizes(const ModelInputs& inputs) const {
  return {tower_.size("", tower_inputs(inputs))};
}

std::unique_ptr<ForwardPass> DecoderOnlyModel::start_step(const ModelInputs& inputs, Trace* trace) {
  if (!output_) return Model::start_step(inputs, trace);
  return start(inputs, trace);
}

std::vector<OutputList> DecoderOnlyModel::hidden_states() const {
  return {{"hidden_states", tower_.hidden_state_hooks("")}};
}

std::vector<OutputList> DecoderOnlyModel::attentions() const {
  return {{"attentions", tower_.attention_hooks("")}};
}

void DecoderOnlyModel::probe(Trace& trace) {
  Arena::Frame frame(arena_);
  TowerRun run(tower_, TowerRun::Probe(), {arena_, TraceScope(&trace)});
  while (run.step()) continue;
  tower_.projected(run.x(), {arena_, TraceScope(&trace)});
}

KeyValueCache DecoderOnlyModel::make_cache() const {
  return {config_.n_layers(), config_.longest(), config_.cache_format};
}

MutableTensorView kept_positions(const MutableTensorView& x,
                                 std::span<const std::int64_t> positions, Arena& arena) {
  if (positions.empty()) return x;
  const std::size_t batch = x.dim(0), width = x.dim(2), kept = positions.size();
  const auto length = static_cast<std::int64_t>(x.dim(1));
  const MutableTensorView taken = arena.take({batch, kept, width});
  for (std::size_t i = 0; i < batch * kept; ++i) {
    const std::int64_t given = positions[i % kept];
    const std::int64_t position = given < 0 ? given + length : given;
    if (position < 0 || position >= length) {
      fail(ErrorCode::invalid_argument, "logits_to_keep: position ", given, " of ", length);
    }
    const std::size_t row = i / kept * x.dim(1) + static_cast<std::size_t>(position);
    std::memcpy(taken.f32() + i * width, x.f32() + row * width, width * sizeof(float));
  }
  return taken;
}

}  // namespace clearformer
