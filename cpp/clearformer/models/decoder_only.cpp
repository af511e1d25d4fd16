#include "clearformer/models/decoder_only.h"

#include <cstring>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/models/metric.h"
#include "clearformer/models/predictions.h"

namespace clearformer {

std::shared_ptr<const Embedding> words_of(const ModelConfig& config, const TowerConfig& tower,
                                          const WeightScope& scope) {
  const TextEmbeddingConfig& text = *tower.text;
  const bool shared = config.tied && config.task != Task::base && !config.head;
  return std::make_shared<Embedding>(
      scope / "embed", text.vocabulary, text.word_width(),
      shared ? Embedding::Table::words_and_output : Embedding::Table::words);
}

DecoderOnlyModel::DecoderOnlyModel(ModelConfig&& config, const WeightScope& scope)
    : Model(std::move(config)),
      tokens_(words_of(config_, config_.tower, scope)),
      tower_(scope, config_.tower, "forward", tokens_) {
  if (config_.task == Task::base) return;
  if (config_.before_output) before_output_.emplace(scope / "head", *config_.before_output);
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
        context_{model.arena_, TraceScope(trace, "", Tower::past_of(tower))},
        run_(model.tower_, tower, context_) {
    if (model.output_) predictions_.emplace(model.config(), *model.output_, kept_);
  }

  bool step() override {
    if (run_.step()) return true;
    MutableTensorView x = run_.x();
    if (stopped_) {
      outputs_.add("residual", Tensor::copy_of(x));
      return false;
    }
    x = model_.tower_.projected(x, context_);
    if (model_.before_output_) {
      run_.keep_on();
      transformed_ = model_.before_output_->forward(x, context_ / "head");
      x = transformed_;
    }
    if (predictions_) {
      outputs_.add("logits", predictions_->forward(x, context_));
    } else {
      outputs_.add("last_hidden_state", Tensor::copy_of(x));
    }
    guard_.keep();
    return false;
  }

  bool step_back() override {
    if (seeded_) return run_.step_back();
    seeded_ = true;
    seed();
    return run_.differentiates();
  }

 private:
  // The metric's gradient of what leaves the tower.
  void seed() {
    Arena::Frame frame(context_.arena);
    expect_metric(model_.config(), context_.trace.gradient(), outputs_);
    auto& [name, output] = outputs_.tensors.front();
    const MutableTensorView d = run_.d();
    if (name == "residual") return add_metric(name, output, d);
    const MutableTensorView d_out = model_.tower_.projected_gradient(d, context_.arena);
    if (name == "last_hidden_state") {
      add_metric(name, output, d_out);
    } else if (model_.before_output_) {
      const MutableTensorView d_head = context_.arena.take(d.shape());
      std::memset(d_head.data(), 0, d_head.bytes());
      predictions_->backward(output, d_head, context_);
      model_.before_output_->backward(run_.x(), {}, d_head, d_out, context_ / "head");
    } else {
      predictions_->backward(output, d_out, context_);
    }
    model_.tower_.projected_back(run_.x(), d_out, d, context_);
  }

  void add_metric(std::string_view name, const Tensor& output, const MutableTensorView& d) {
    const Tensor more = metric_back(model_.config(), {name, output}, *context_.trace.gradient());
    if (!more.empty()) kernels::add(d.f32(), more.f32(), d.f32(), d.elements());
  }

  DecoderOnlyModel& model_;
  std::vector<std::int64_t> kept_;
  bool stopped_;
  CacheGuard guard_;
  Arena::Frame frame_;
  Context context_;
  TowerRun run_;
  Tensor transformed_;
  std::optional<Predictions> predictions_;
  bool seeded_ = false;
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
  const Context context{arena_, TraceScope(&trace)};
  const MutableTensorView x = tower_.projected(run.x(), context);
  if (before_output_) before_output_->forward(x, context / "head");
}

KeyValueCache DecoderOnlyModel::make_cache() const {
  return {config_.n_layers(), config_.longest(), config_.cache_format};
}

}  // namespace clearformer
