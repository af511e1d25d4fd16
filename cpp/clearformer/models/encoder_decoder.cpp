#include "clearformer/models/encoder_decoder.h"

#include "clearformer/kernels/elementwise.h"
#include "clearformer/models/answers.h"
#include "clearformer/models/decoder_only.h"
#include "clearformer/models/metric.h"
#include "clearformer/models/predictions.h"

namespace clearformer {

EncoderDecoderModel::EncoderDecoderModel(ModelConfig&& config, const WeightScope& scope)
    : Model(std::move(config)),
      tokens_(words_of(config_, *config_.second,
                       config_.own_target_embedding ? scope / "decoder" : scope)),
      encoder_(scope / "encoder", config_.tower, "encoder",
               config_.own_target_embedding ? nullptr : tokens_),
      decoder_(scope / "decoder", *config_.second, "decoder", tokens_) {
  if (config_.head) head_.emplace(scope / head_scope(config_), *config_.head);
  if (config_.task == Task::base || head_) return;
  OutputConfig output = config_.output;
  const WeightScope unembed = scope / "unembed";
  if (config_.output_bias_may_be_missing && !unembed.has("bias")) output.bias = Bias::none;
  output_.emplace(unembed, output, config_.tied ? tokens_.get() : nullptr);
}

// Runs the encoder, unless the cache holds its output; then the decoder, if there are target tokens.
class EncoderDecoderModel::Pass : public ForwardPass {
 public:
  Pass(EncoderDecoderModel& model, const ModelInputs& inputs, Trace* trace)
      : model_(model),
        inputs_(inputs),
        guard_(inputs.cache),
        frame_(model.arena_),
        context_{model.arena_, TraceScope(trace)},
        head_context_(context_ / head_scope(model.config())) {
    if (model.head_ && inputs.input_ids) read_source(*inputs.input_ids);
    if (model.output_) predictions_.emplace(model.config(), *model.output_, inputs_.logits_to_keep);
    if (inputs.input_features) inputs_.attention_mask.reset();
    if (inputs.cache == nullptr || !inputs.cache->has_memory()) {
      encoder_.emplace(model.encoder_, model.source(inputs_), context_ / "encoder");
    } else {
      start_decoder(inputs.cache->memory_states);
    }
  }

  // The decoder's layers, which add to the gradient of the encoder's output, then the encoder's.
  bool step_back() override {
    if (!seeded_) {
      seeded_ = true;
      seed();
    } else if (decoder_ && decoder_->differentiates()) {
      decoder_->step_back(encoder_->differentiates() ? encoder_->d() : MutableTensorView());
    } else {
      encoder_->step_back();
    }
    return (decoder_ && decoder_->differentiates()) || encoder_->differentiates();
  }

  bool step() override {
    if (decoder_) {
      if (decoder_->step()) return true;
      return inputs_.stop_at_layer ? stop(*decoder_) : finish();
    }
    if (encoder_->step()) return true;
    if (inputs_.stop_at_layer && !inputs_.has_target()) return stop(*encoder_);
    outputs_.add("encoder_last_hidden_state", Tensor::copy_of(encoder_->x()));
    if (!inputs_.has_target()) return finish();
    start_decoder(encoder_->x());
    return true;
  }

 private:
  // Where a classifier reads each row, and what the decoder before a head does: the row behind the token it starts with, or
  // where there is none (mBART) the last one of the text, its language.
  void read_source(const TensorView& ids) {
    const ModelConfig& config = model_.config();
    const std::size_t length = ids.dim(1);
    const std::int32_t eos = config.eos_token_ids.empty() ? -1 : config.eos_token_ids[0];
    const bool classifies = config.head->pools();
    std::size_t expected = 1;
    ends_.resize(ids.dim(0));
    shifted_ = Tensor(ids.shape(), DType::i32);
    const std::int32_t* from = ids.as<std::int32_t>();
    auto* to = static_cast<std::int32_t*>(shifted_.data());
    for (std::size_t row = 0; row < ends_.size(); ++row, from += length, to += length) {
      std::size_t count = 0, words = 0;
      for (std::size_t t = 0; t < length; ++t) {
        if (t + 1 < length) to[t + 1] = from[t];
        words += from[t] != config.pad_token_id ? 1 : 0;
        if (from[t] != eos) continue;
        ++count;
        ends_[row] = t;
      }
      *to = config.decoder_start_token_id.value_or(from[words == 0 ? 0 : words - 1]);
      if (row == 0 && count != 0) expected = count;
      if (count == expected || !classifies) continue;
      fail(ErrorCode::invalid_argument, "forward: row ", row, " of input_ids has ", count,
           " eos_token_id: all need as many, and at least one");
    }
    if (!inputs_.has_target()) inputs_.decoder_input_ids = shifted_.view();
  }

  void start_decoder(const TensorView& memory) {
    TowerInputs inputs = model_.target(inputs_);
    inputs.memory = memory;
    if (encoder_) {
      inputs.memory_mask = inputs_.attention_mask;
    } else if (!inputs_.cache->memory_mask.empty()) {
      inputs.memory_mask = inputs_.cache->memory_mask.view();
    }
    decoder_.emplace(model_.decoder_, inputs, context_ / "decoder");
    if (encoder_ && encoder_->differentiates()) decoder_->differentiate_memory();
  }

  // The metric's gradient of what leaves the towers.
  void seed() {
    const Arena::Frame frame(context_.arena);
    Gradient& gradient = expect_metric(model_.config(), context_.trace.gradient(), outputs_);
    Tensor starts;  // the gradient of start_logits, which precede end_logits
    const TowerRun& last = decoder_ ? *decoder_ : *encoder_;
    for (const auto& [name, output] : outputs_.tensors) {
      const MutableTensorView d = name == "encoder_last_hidden_state" ? encoder_->d() : last.d();
      const bool ends = name == "end_logits", logits = name == "logits";
      if (logits && predictions_) {
        predictions_->backward(output, d, context_);
        continue;
      }
      Tensor more = metric_back(model_.config(), {name, output}, gradient);
      if (name == "start_logits") {
        starts = std::move(more);
      } else if (logits || ends) {
        if (ends) more = answers_back(output.shape(), starts, more);
        if (more.empty()) more = Tensor::zeros(output.shape());
        model_.head_->backward(last.x(), {nullptr, ends_.data()}, more, d, head_context_);
      } else if (!more.empty()) {
        kernels::add(d.f32(), more.f32(), d.f32(), d.elements());
      }
    }
  }

  bool stop(const TowerRun& run) {
    outputs_.tensors.clear();
    outputs_.add("residual", Tensor::copy_of(run.x()));
    return false;
  }

  bool finish() {
    if (KeyValueCache* cache = inputs_.cache) {
      if (encoder_ && inputs_.attention_mask) {
        cache->memory_mask = Tensor::copy_of(*inputs_.attention_mask);
      }
      // The decoder has already projected it; without a decoder it is kept for the next pass.
      cache->memory_states = decoder_ ? Tensor() : Tensor::copy_of(encoder_->x());
    }
    if (decoder_) answer();
    guard_.keep();
    return false;
  }

  void answer() {
    const MutableTensorView x = decoder_->x();
    const auto& head = model_.head_;
    if (!predictions_ && !head) return outputs_.add("last_hidden_state", Tensor::copy_of(x));
    if (head) decoder_->keep_on();
    Tensor logits = head ? head->forward(x, {nullptr, ends_.data()}, head_context_)
                         : predictions_->forward(x, context_);
    if (model_.config().task == Task::question_answering) return add_answers(logits, outputs_);
    outputs_.add("logits", std::move(logits));
  }

  EncoderDecoderModel& model_;
  ModelInputs inputs_;
  Tensor shifted_;                 // decoder_input_ids of a model with a head, unless given
  std::vector<std::size_t> ends_;  // where a classifier reads each row
  CacheGuard guard_;
  Arena::Frame frame_;
  Context context_, head_context_;
  std::optional<TowerRun> encoder_, decoder_;
  std::optional<Predictions> predictions_;
  bool seeded_ = false;
};

TowerInputs EncoderDecoderModel::source(const ModelInputs& inputs) {
  TowerInputs source;
  source.ids = inputs.input_ids;
  source.features = inputs.input_features;
  if (!inputs.input_features) source.attention_mask = inputs.attention_mask;
  source.positions = inputs.position_ids;
  source.embeds = inputs.inputs_embeds;
  if (!inputs.has_target()) source.stop_at_layer = inputs.stop_at_layer;
  if (inputs.has_source()) return source;
  source.residual = inputs.residual;
  source.start_at_layer = inputs.start_at_layer.value_or(0);
  return source;
}

TowerInputs EncoderDecoderModel::target(const ModelInputs& inputs) const {
  TowerInputs target;
  target.ids = head_ && !inputs.has_target() ? inputs.input_ids : inputs.decoder_input_ids;
  target.embeds = inputs.decoder_inputs_embeds;
  target.attention_mask = inputs.decoder_attention_mask;
  target.positions = inputs.decoder_position_ids;
  target.cache = inputs.cache;
  target.stop_at_layer = inputs.stop_at_layer;
  if (!inputs.has_source()) return target;
  target.residual = inputs.residual;
  target.start_at_layer = inputs.start_at_layer.value_or(0);
  return target;
}

std::vector<PassSize> EncoderDecoderModel::sizes(const ModelInputs& inputs) const {
  check(inputs);
  std::vector<PassSize> passes;
  const bool encodes = inputs.cache == nullptr || !inputs.cache->has_memory();
  if (encodes) passes.push_back(encoder_.size("encoder", source(inputs)));
  if (!head_ && !inputs.has_target()) return passes;
  PassSize decoding = decoder_.size("decoder", target(inputs));
  decoding.memory = encodes ? passes[0].positions : 0;  // else in the cache
  passes.push_back(decoding);
  return passes;
}

void EncoderDecoderModel::check(const ModelInputs& inputs) const {
  if (inputs.cache != nullptr && inputs.cache->has_memory()) {
    if (inputs.input_ids || inputs.input_features || inputs.attention_mask) {
      fail(ErrorCode::unsupported,
           "forward: past_key_values hold what the encoder read: leave out its inputs");
    }
    expect_inputs(inputs, {"decoder_input_ids"},
                  {"decoder_attention_mask", "decoder_position_ids"});
  } else if (config_.tower.audio) {
    expect_inputs(inputs, {"input_features"},
                  {"decoder_input_ids", "decoder_attention_mask", "decoder_position_ids"});
  } else {
    expect_inputs(inputs, {"input_ids"},
                  {"attention_mask", "position_ids", "decoder_input_ids", "decoder_attention_mask",
                   "decoder_position_ids"});
  }
  const bool classifies = head_ && config_.head->pools();
  if (head_ && !inputs.input_ids && (classifies || !inputs.has_target())) {
    fail(ErrorCode::unsupported,
         "forward: this model needs input_ids, which its head reads as well");
  }
  const bool encodes = inputs.cache == nullptr || !inputs.cache->has_memory();
  if (!head_ && !inputs.has_target()) return;
  const Shape sources =
      encodes ? encoder_.output_shape(source(inputs)) : inputs.cache->memory_shape();
  const Shape targets = decoder_.output_shape(target(inputs));
  // A classifier reads the same position of both.
  const std::size_t axis = classifies && sources[0] == targets[0] ? 1 : 0;
  if (sources[axis] != targets[axis]) {
    fail(ErrorCode::shape_mismatch, "forward: ", sources[axis],
         axis == 0 ? " sequences" : " positions", " in input_ids, ", targets[axis],
         " in decoder_input_ids");
  }
}

std::unique_ptr<ForwardPass> EncoderDecoderModel::start(const ModelInputs& inputs, Trace* trace) {
  check(inputs);
  return std::make_unique<Pass>(*this, inputs, trace);
}

std::unique_ptr<ForwardPass> EncoderDecoderModel::start_encoding(const ModelInputs& inputs,
                                                                 Trace* trace) {
  if (inputs.cache != nullptr && inputs.cache->has_memory()) return nullptr;
  ModelInputs source = inputs;
  source.decoder_input_ids = source.decoder_inputs_embeds = std::nullopt;
  source.decoder_attention_mask = std::nullopt;
  source.decoder_position_ids = std::nullopt;
  return start(source, trace);
}

std::unique_ptr<ForwardPass> EncoderDecoderModel::start_step(const ModelInputs& inputs,
                                                             Trace* trace) {
  if (!output_) return Model::start_step(inputs, trace);
  ModelInputs target;
  target.decoder_input_ids = inputs.input_ids;
  target.decoder_attention_mask = inputs.attention_mask;
  target.decoder_position_ids = inputs.position_ids;
  target.cache = inputs.cache;
  target.logits_to_keep = inputs.logits_to_keep;
  return start(target, trace);
}

std::vector<OutputList> EncoderDecoderModel::hidden_states() const {
  return {{"encoder_hidden_states", encoder_.hidden_state_hooks("encoder")},
          {"decoder_hidden_states", decoder_.hidden_state_hooks("decoder")}};
}

std::vector<OutputList> EncoderDecoderModel::attentions() const {
  return {{"encoder_attentions", encoder_.attention_hooks("encoder")},
          {"decoder_attentions", decoder_.attention_hooks("decoder")},
          {"cross_attentions", decoder_.attention_hooks("decoder", "cross_attn")}};
}

void EncoderDecoderModel::probe(Trace& trace) {
  const Context context{arena_, TraceScope(&trace)};
  for (const auto& [tower, name] : {std::pair(&encoder_, "encoder"), {&decoder_, "decoder"}}) {
    Arena::Frame frame(arena_);
    TowerRun run(*tower, TowerRun::Probe(), context / name);
    while (run.step()) continue;
    const std::size_t first = 0;
    if (!head_ || tower != &decoder_) continue;
    head_->forward(run.x(), {nullptr, &first}, context / head_scope(config_));
  }
}

KeyValueCache EncoderDecoderModel::make_cache() const {
  return {config_.n_layers(), config_.longest(), config_.cache_format};
}

}  // namespace clearformer
