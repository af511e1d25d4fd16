#include "clearformer/models/encoder_only.h"

#include "clearformer/kernels/elementwise.h"
#include "clearformer/models/answers.h"
#include "clearformer/models/metric.h"

namespace clearformer {

namespace {

// The embedding table of a tied masked-LM head; null if it is the tower's.
std::shared_ptr<const Embedding> tied_table(const ModelConfig& config, const WeightScope& scope) {
  if (!config.tied || config.task != Task::masked_lm) return nullptr;
  const TextEmbeddingConfig& text = *config.tower.text;
  return std::make_shared<Embedding>(scope / "embed", text.vocabulary, text.word_width(),
                                     Embedding::Table::words_and_output);
}

// The positions of a head that reads one of each sequence: with Pick::given the last token that is no padding, as in
// transformers; of embeddings the last one, of a residual stream the last that the mask allows.
class HeadPositions {
 public:
  HeadPositions(const ModelConfig& config, const ModelInputs& inputs, const TensorView& x) {
    if (inputs.attention_mask) positions_.mask = &*inputs.attention_mask;
    if (!config.head || config.head->pick != HeadConfig::Pick::given) return;
    const std::size_t rows = x.dim(0), length = x.dim(1);
    if (inputs.input_ids && !config.pad_token_id && rows > 1) {
      fail(ErrorCode::invalid_argument,
           "input_ids: the model has no pad_token_id, which says where "
           "each of ",
           rows, " sequences ends: pass one at a time");
    }
    for (std::size_t row = 0; row < rows; ++row) {
      places_.push_back(last_of(config, inputs, row, length));
    }
    positions_.positions = places_.data();
  }
  const Head::Positions& all() const { return positions_; }

 private:
  static std::size_t last_of(const ModelConfig& config, const ModelInputs& inputs, std::size_t row,
                             std::size_t length) {
    const auto counts = [&](std::size_t i) {
      const std::size_t at = row * length + i;
      if (inputs.input_ids) {
        return inputs.input_ids->as<std::int32_t>()[at] != config.pad_token_id;
      }
      return !inputs.residual || !inputs.attention_mask ||
             inputs.attention_mask->as<std::uint8_t>()[at] != 0;
    };
    std::size_t last = length;
    while (last > 1 && !counts(last - 1)) --last;
    return last - 1;
  }

  Head::Positions positions_;
  std::vector<std::size_t> places_;
};

[[gnu::noinline]] Tensor mean_of(const Tensor& a, const Tensor& b) {
  Tensor mean = a.clone();
  kernels::add(a.f32(), b.f32(), mean.f32(), mean.elements());
  kernels::scale(mean.f32(), 0.5f, mean.elements());
  return mean;
}

}  // namespace

EncoderOnlyModel::EncoderOnlyModel(ModelConfig&& config, const WeightScope& scope)
    : Model(std::move(config)),
      tokens_(tied_table(config_, scope)),
      tower_(scope, config_.tower, "forward", tokens_) {
  const WeightScope head = scope / head_scope(config_);
  // Base models are saved with or without a pooler's matrix.
  const bool pooler_missing = config_.task == Task::base && config_.head && config_.head->dense &&
                              !(head / "dense").has("weight");
  if (config_.head && !pooler_missing) head_.emplace(head, *config_.head, tokens_.get());
  if (config_.second_head) second_head_.emplace(scope / "distillation", *config_.second_head);
}

class EncoderOnlyModel::Pass : public ForwardPass {
 public:
  Pass(EncoderOnlyModel& model, const ModelInputs& inputs, const TowerInputs& tower, Tensor&& mask,
       Trace* trace)
      : model_(model),
        mask_(std::move(mask)),
        inputs_(inputs),
        frame_(model.arena_),
        context_{model.arena_, TraceScope(trace)},
        run_(model.tower_, tower, context_) {
    inputs_.attention_mask = tower.attention_mask;
  }

  bool step() override {
    if (run_.step()) return true;
    if (inputs_.stop_at_layer) {
      outputs_.add("residual", Tensor::copy_of(run_.x()));
      return false;
    }
    run_.keep_on();
    x_ = model_.tower_.projected(run_.x(), context_);
    model_.answer(x_, inputs_, context_, outputs_);
    return false;
  }

  bool step_back() override {
    if (seeded_) return run_.step_back();
    seeded_ = true;
    expect_metric(model_.config(), context_.trace.gradient(), outputs_);
    if (inputs_.stop_at_layer) {
      model_.answer_back(run_.x(), inputs_, context_, outputs_, run_.d());
      return run_.differentiates();
    }
    Arena::Frame frame(context_.arena);
    const MutableTensorView d = model_.tower_.projected_gradient(run_.d(), context_.arena);
    model_.answer_back(x_, inputs_, context_, outputs_, d);
    model_.tower_.projected_back(run_.x(), d, run_.d(), context_);
    return run_.differentiates();
  }

 private:
  EncoderOnlyModel& model_;
  Tensor mask_;  // of frames, where that of the inputs is of samples
  ModelInputs inputs_;
  Arena::Frame frame_;
  Context context_;
  TowerRun run_;
  MutableTensorView x_;  // what leaves the tower
  bool seeded_ = false;
};

std::unique_ptr<ForwardPass> EncoderOnlyModel::start(const ModelInputs& inputs, Trace* trace) {
  TowerInputs tower = tower_inputs(inputs);
  Tensor mask = tower_.frame_mask(tower);
  return std::make_unique<Pass>(*this, inputs, tower, std::move(mask), trace);
}

TowerInputs EncoderOnlyModel::tower_inputs(const ModelInputs& inputs) const {
  TowerInputs tower;
  tower.stop_at_layer = inputs.stop_at_layer;
  tower.residual = inputs.residual;
  tower.start_at_layer = inputs.start_at_layer.value_or(0);
  if (config_.tower.waveform) {
    expect_inputs(inputs, {"input_values"}, {"attention_mask"});
    tower.samples = inputs.input_values;
    tower.attention_mask = inputs.attention_mask;
  } else if (config_.tower.reads_spectrograms()) {
    expect_inputs(inputs, {"input_values"}, {});
    tower.images = inputs.input_values;
  } else if (config_.tower.image) {
    add_images(inputs, tower);
  } else {
    expect_inputs(inputs, {"input_ids"}, {"attention_mask", "token_type_ids", "position_ids"});
    tower.ids = inputs.input_ids;
    tower.embeds = inputs.inputs_embeds;
    tower.attention_mask = inputs.attention_mask;
    tower.token_types = inputs.token_type_ids;
    tower.positions = inputs.position_ids;
  }
  return tower;
}

// Beside a residual stream images with rotary positions tell where their patches are.
void EncoderOnlyModel::add_images(const ModelInputs& inputs, TowerInputs& tower) const {
  ModelInputs expected = inputs;
  if (config_.tower.image->rotary_pairs != 0 && inputs.residual && inputs.pixel_values) {
    expected.residual.reset();
    expected.start_at_layer.reset();
    expect_inputs(expected, {"pixel_values"}, {});
    expected = inputs;
    expected.pixel_values.reset();
    expected.interpolate_pos_encoding = false;
  }
  expect_inputs(expected, {"pixel_values"}, {});
  tower.images = inputs.pixel_values;
  tower.interpolate = inputs.interpolate_pos_encoding;
}

std::vector<PassSize> EncoderOnlyModel::sizes(const ModelInputs& inputs) const {
  return {tower_.size("", tower_inputs(inputs))};
}

Tensor EncoderOnlyModel::unembed(const TensorView& residual, Normalize normalize) {
  if (!head_ || config_.task == Task::base) return Model::unembed(residual, normalize);
  Arena::Frame frame(arena_);
  const MutableTensorView x = tower_.finished(residual, normalize == Normalize::yes, arena_);
  return head_->forward(x, {}, {arena_, TraceScope()});
}

void EncoderOnlyModel::answer(const TensorView& x, const ModelInputs& inputs,
                              const Context& context, ModelOutputs& outputs) const {
  const HeadPositions found(config_, inputs, x);
  const Head::Positions& positions = found.all();
  const Context head_context = context / head_scope(config_);
  if (config_.task == Task::base) {
    outputs.add("last_hidden_state", Tensor::copy_of(x));
    if (head_) outputs.add("pooler_output", head_->forward(x, positions, head_context));
    return;
  }
  Tensor logits = head_->forward(x, positions, head_context);
  if (config_.task == Task::replaced_token_detection) logits.reshape({x.dim(0), x.dim(1)});
  if (config_.task == Task::question_answering) {
    add_answers(logits, outputs);
  } else if (second_head_) {
    Tensor distilled = second_head_->forward(x, context / "distillation");
    outputs.add("logits", mean_of(logits, distilled));
    outputs.add("cls_logits", std::move(logits));
    outputs.add("distillation_logits", std::move(distilled));
  } else {
    outputs.add("logits", std::move(logits));
  }
}

namespace {

// d += half of the mean's gradient, for one of its two terms.
void add_half(const Tensor& of_mean, Tensor& d) {
  if (of_mean.empty()) return;
  if (d.empty()) d = Tensor::zeros(of_mean.shape());
  for (std::size_t i = 0; i < d.elements(); ++i) d.f32()[i] += 0.5f * of_mean.f32()[i];
}

}  // namespace

// The mirror of answer(): adds the metric's gradient with respect to x to dx.
void EncoderOnlyModel::answer_back(const TensorView& x, const ModelInputs& inputs,
                                   const Context& context, ModelOutputs& outputs,
                                   const MutableTensorView& dx) const {
  Gradient& gradient = *context.trace.gradient();
  const auto of = [&](std::string_view name) {
    const Tensor* value = outputs.find(name);
    return value == nullptr ? Tensor() : metric_back(config_, {name, *value}, gradient);
  };
  for (const char* name : {"residual", "last_hidden_state"}) {
    const Tensor d = of(name);
    if (!d.empty()) kernels::add(dx.f32(), d.f32(), dx.f32(), d.elements());
  }
  if (inputs.stop_at_layer) return;
  const HeadPositions found(config_, inputs, x);
  const Head::Positions& positions = found.all();
  const Context head_context = context / head_scope(config_);
  if (head_ && config_.task == Task::base) {
    Tensor d = of("pooler_output");
    if (d.empty()) d = Tensor::zeros(outputs.at("pooler_output").shape());
    return head_->backward(x, positions, d, dx, head_context);
  }
  if (config_.task == Task::base) return;
  Tensor d = of("logits");
  if (config_.task == Task::question_answering) {
    const Tensor starts = of("start_logits");
    d = answers_back(outputs.at("start_logits").shape(), starts, of("end_logits"));
  } else if (second_head_) {
    Tensor cls = of("cls_logits"), distilled = of("distillation_logits");
    add_half(d, cls);
    add_half(d, distilled);
    if (!distilled.empty()) second_head_->backward(x, {}, distilled, dx, context / "distillation");
    d = std::move(cls);
  }
  if (d.empty()) d = Tensor::zeros(outputs.at("logits").shape());
  if (config_.task == Task::replaced_token_detection) d.reshape({x.dim(0), x.dim(1), 1});
  head_->backward(x, positions, d, dx, head_context);
}

std::vector<OutputList> EncoderOnlyModel::hidden_states() const {
  return {{"hidden_states", tower_.hidden_state_hooks("")}};
}

std::vector<OutputList> EncoderOnlyModel::attentions() const {
  return {{"attentions", tower_.attention_hooks("")}};
}

void EncoderOnlyModel::probe(Trace& trace) {
  Arena::Frame frame(arena_);
  const Context context{arena_, TraceScope(&trace)};
  TowerRun run(tower_, TowerRun::Probe(), context);
  while (run.step()) continue;
  // Not the second head: it reads position 1, and a probe has position 0 only.
  const MutableTensorView x = tower_.projected(run.x(), context);
  if (head_) head_->forward(x, context / head_scope(config_));
}

}  // namespace clearformer
