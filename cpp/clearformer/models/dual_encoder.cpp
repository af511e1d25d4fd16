#include "clearformer/models/dual_encoder.h"

#include <algorithm>
#include <cmath>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/models/metric.h"
#include "clearformer/models/sentence_pooling.h"
#include "clearformer/tensor/portable_math.h"

namespace clearformer {

namespace {

// Scales rows to unit length.
Tensor normalized(const Tensor& pooled) {
  Tensor embeds = pooled.clone();
  for (std::size_t row = 0; row < embeds.dim(0); ++row) {
    float* x = embeds.f32() + row * embeds.dim(1);
    double squares = 0.0;
    for (std::size_t i = 0; i < embeds.dim(1); ++i) squares += static_cast<double>(x[i]) * x[i];
    const auto length = static_cast<float>(std::sqrt(squares));
    for (std::size_t i = 0; i < embeds.dim(1); ++i) x[i] /= length;
  }
  return embeds;
}

}  // namespace

TowerInputs DualEncoderModel::text_inputs(const ModelInputs& inputs) {
  TowerInputs text;
  text.ids = inputs.input_ids;
  text.attention_mask = inputs.attention_mask;
  text.positions = inputs.position_ids;
  text.stop_at_layer = inputs.stop_at_layer;
  return text;
}

TowerInputs DualEncoderModel::vision_inputs(const ModelInputs& inputs) {
  TowerInputs images;
  images.images = inputs.pixel_values;
  images.interpolate = inputs.interpolate_pos_encoding;
  images.stop_at_layer = inputs.stop_at_layer;
  return images;
}

std::vector<PassSize> DualEncoderModel::sizes(const ModelInputs& inputs) const {
  check(inputs);
  std::vector<PassSize> passes;
  if (inputs.input_ids) passes.push_back(text_.size("text_model", text_inputs(inputs)));
  if (inputs.pixel_values) passes.push_back(vision_.size("vision_model", vision_inputs(inputs)));
  return passes;
}

DualEncoderModel::DualEncoderModel(ModelConfig&& config, const WeightScope& scope)
    : Model(std::move(config)),
      text_(scope / "text_model", config_.tower, "text"),
      vision_(scope / "vision_model", *config_.second, "image"),
      text_pooler_(scope / "text_pooler", *config_.head),
      vision_pooler_(scope / "vision_pooler", *config_.second_head),
      logit_scale_(scope.take_flat("logit_scale", {})) {
  if (config_.logit_bias) logit_bias_ = scope.take_flat("logit_bias", {});
}

class DualEncoderModel::Pass : public ForwardPass {
 public:
  Pass(DualEncoderModel& model, const ModelInputs& inputs, Trace* trace)
      : model_(model),
        inputs_(inputs),
        frame_(model.arena_),
        context_{model.arena_, TraceScope(trace)} {
    if (inputs.input_ids) {
      text_.emplace(model.text_, text_inputs(inputs), context_ / "text_model");
    }
    if (inputs.pixel_values) {
      vision_.emplace(model.vision_, vision_inputs(inputs), context_ / "vision_model");
    }
  }

  bool step() override {
    if (text_ && text_embeds_.empty()) {
      if (text_->step()) return true;
      if (inputs_.stop_at_layer) return stop(*text_);
      const auto positions = model_.pooled_positions(*inputs_.input_ids);
      text_embeds_ = embed("text_model", *text_, model_.text_pooler_, {nullptr, positions.data()});
      if (vision_) return true;
    } else if (vision_->step()) {
      return true;
    }
    if (inputs_.stop_at_layer) return stop(*vision_);
    if (vision_) {
      image_embeds_ = embed("vision_model", *vision_, model_.vision_pooler_, {});
    }
    compare();
    return false;
  }

  // The comparison and both poolers, then a layer a call: of the images, which were the last, then of the texts.
  bool step_back() override {
    if (!seeded_) {
      seeded_ = true;
      seed();
    } else if (vision_ && vision_->differentiates()) {
      vision_->step_back();
    } else {
      text_->step_back();
    }
    return (text_ && text_->differentiates()) || (vision_ && vision_->differentiates());
  }

 private:
  // One side of the model: its outputs, and where their gradients go.
  struct Side {
    const char* scope;
    const TowerRun& run;
    const Head& pooler;
    std::vector<std::size_t> positions;
  };

  void seed() {
    expect_metric(model_.config(), context_.trace.gradient(), outputs_);
    Tensor d_text = d_of("text_embeds"), d_images = d_of("image_embeds");
    if (text_ && vision_ && !inputs_.stop_at_layer) compare_back(d_text, d_images);
    if (text_) {
      side_back(
          {"text_model", *text_, model_.text_pooler_, model_.pooled_positions(*inputs_.input_ids)},
          d_text);
    }
    if (vision_) {
      side_back({"vision_model", *vision_, model_.vision_pooler_, {}}, d_images);
    }
  }

  // The metric's gradient of an output; empty if it has none.
  Tensor d_of(std::string_view name) {
    const Tensor* value = outputs_.find(name);
    if (value == nullptr) return {};
    return metric_back(model_.config(), {name, *value}, *context_.trace.gradient());
  }

  // d_embeds += scale · Σ d·(the other's embeds), for the logits' gradients d; d logit_scale = Σ d·logit without bias.
  void compare_back(Tensor& d_text, Tensor& d_images) {
    const Tensor of_images = d_of("logits_per_image"), of_texts = d_of("logits_per_text");
    if (of_images.empty() && of_texts.empty()) return;
    const Tensor &text = outputs_.at("text_embeds"), &image = outputs_.at("image_embeds");
    const Tensor& logits = outputs_.at("logits_per_image");
    if (d_text.empty()) d_text = Tensor::zeros(text.shape());
    if (d_images.empty()) d_images = Tensor::zeros(image.shape());
    const std::size_t images = image.dim(0), texts = text.dim(0), width = text.dim(1);
    const auto scale = static_cast<float>(portable_exp(*model_.logit_scale_.f32()));
    const float bias = model_.config().logit_bias ? *model_.logit_bias_.f32() : 0.0f;
    double of_scale = 0.0, of_bias = 0.0;
    for (std::size_t i = 0; i < images * texts; ++i) {
      const std::size_t of = i / texts, with = i % texts;
      const float d = (of_images.empty() ? 0.0f : of_images.f32()[i]) +
                      (of_texts.empty() ? 0.0f : of_texts.f32()[with * images + of]);
      of_scale += static_cast<double>(d) * (logits.f32()[i] - bias);
      of_bias += d;
      for (std::size_t k = 0; k < width; ++k) {
        d_images.f32()[of * width + k] += scale * d * text.f32()[with * width + k];
        d_text.f32()[with * width + k] += scale * d * image.f32()[of * width + k];
      }
    }
    const WeightGradients* const weights = context_.trace.weights();
    if (weights == nullptr) return;
    if (float* sum = weights->of(model_.logit_scale_)) *sum += static_cast<float>(of_scale);
    if (float* sum = weights->of(model_.logit_bias_)) *sum += static_cast<float>(of_bias);
  }

  // Through unit length and the pooler.
  void side_back(const Side& side, const Tensor& d_embeds) {
    const MutableTensorView dx = side.run.d();
    const Tensor d_states = d_of(concat(side.scope, "_output.last_hidden_state"));
    const Tensor d_residual = d_of("residual");
    for (const Tensor* more : {&d_states, &d_residual}) {
      if (!more->empty()) kernels::add(dx.f32(), more->f32(), dx.f32(), dx.elements());
    }
    if (inputs_.stop_at_layer) return;
    const Tensor& pooled = outputs_.at(concat(side.scope, "_output.pooler_output"));
    Tensor d = d_of(concat(side.scope, "_output.pooler_output"));
    if (d.empty()) d = Tensor::zeros(pooled.shape());
    if (!d_embeds.empty()) {
      const Tensor more = unit_vectors_backward(pooled, d_embeds);
      kernels::add(d.f32(), more.f32(), d.f32(), d.elements());
    }
    const std::size_t* positions = side.positions.empty() ? nullptr : side.positions.data();
    side.pooler.backward(side.run.x(), {nullptr, positions}, d, dx,
                         context_ / side.scope / "pooler");
  }

  bool stop(const TowerRun& run) {
    outputs_.add("residual", Tensor::copy_of(run.x()));
    return false;
  }

  Tensor embed(const char* name, const TowerRun& run, const Head& pooler,
               const Head::Positions& positions) {
    run.keep_on();
    const TensorView x = run.x();
    outputs_.add(concat(name, "_output.last_hidden_state"), Tensor::copy_of(x));
    Tensor pooled = pooler.forward(x, positions, context_ / name / "pooler");
    Tensor embeds = normalized(pooled);
    outputs_.add(concat(name, "_output.pooler_output"), std::move(pooled));
    return embeds;
  }

  void compare() {
    if (text_ && vision_) {
      const std::size_t texts = text_embeds_.dim(0), images = image_embeds_.dim(0);
      const std::size_t width = text_embeds_.dim(1);
      if (image_embeds_.dim(1) != width) {
        fail(ErrorCode::shape_mismatch, "forward: embeddings of texts have ", width,
             " numbers, those of images ", image_embeds_.dim(1));
      }
      const auto scale = static_cast<float>(portable_exp(*model_.logit_scale_.f32()));
      const float bias = model_.config().logit_bias ? *model_.logit_bias_.f32() : 0.0f;
      Tensor per_image({images, texts}), per_text({texts, images});
      for (std::size_t i = 0; i < images * texts; ++i) {
        const float* image = image_embeds_.f32() + i / texts * width;
        const float* text = text_embeds_.f32() + i % texts * width;
        double sum = 0.0;
        for (std::size_t k = 0; k < width; ++k) sum += static_cast<double>(image[k]) * text[k];
        const float logit = scale * static_cast<float>(sum) + bias;
        per_image.f32()[i] = per_text.f32()[i % texts * images + i / texts] = logit;
      }
      outputs_.add("logits_per_image", std::move(per_image));
      outputs_.add("logits_per_text", std::move(per_text));
    }
    if (text_) outputs_.add("text_embeds", std::move(text_embeds_));
    if (vision_) outputs_.add("image_embeds", std::move(image_embeds_));
  }

  DualEncoderModel& model_;
  ModelInputs inputs_;
  Arena::Frame frame_;
  Context context_;
  std::optional<TowerRun> text_, vision_;
  bool seeded_ = false;
  Tensor text_embeds_, image_embeds_;
};

void DualEncoderModel::check(const ModelInputs& inputs) const {
  expect_inputs(inputs, {}, {"input_ids", "attention_mask", "position_ids", "pixel_values"});
  if (inputs.inputs_embeds) {
    fail(ErrorCode::unsupported, "forward: ", config_.model_type, " takes no inputs_embeds");
  }
  if (!inputs.input_ids && !inputs.pixel_values) {
    fail(ErrorCode::invalid_argument, "forward: ", config_.model_type,
         " needs input_ids, pixel_values or both");
  }
  if (inputs.stop_at_layer && inputs.input_ids && inputs.pixel_values) {
    fail(ErrorCode::invalid_argument,
         "stop_at_layer: give input_ids or pixel_values alone; each has layers of its own");
  }
}

std::unique_ptr<ForwardPass> DualEncoderModel::start(const ModelInputs& inputs, Trace* trace) {
  check(inputs);
  return std::make_unique<Pass>(*this, inputs, trace);
}

std::vector<std::size_t> DualEncoderModel::pooled_positions(const TensorView& ids) const {
  std::vector<std::size_t> positions;
  for (std::size_t row = 0; row < ids.dim(0); ++row) {
    const std::int32_t* first = ids.as<std::int32_t>() + row * ids.dim(1);
    const std::int32_t* last = first + ids.dim(1);
    const std::int32_t* found = config_.pooled_token_id
                                    ? std::find(first, last, *config_.pooled_token_id)
                                    : std::max_element(first, last);
    positions.push_back(found == last ? 0 : static_cast<std::size_t>(found - first));
  }
  return positions;
}

std::vector<OutputList> DualEncoderModel::hidden_states() const {
  return {{"text_model_output.hidden_states", text_.hidden_state_hooks("text_model")},
          {"vision_model_output.hidden_states", vision_.hidden_state_hooks("vision_model")}};
}

std::vector<OutputList> DualEncoderModel::attentions() const {
  return {{"text_model_output.attentions", text_.attention_hooks("text_model")},
          {"vision_model_output.attentions", vision_.attention_hooks("vision_model")}};
}

void DualEncoderModel::probe(Trace& trace) {
  const Context context{arena_, TraceScope(&trace)};
  const auto run = [&](const Tower& tower, const Head& pooler, const char* name) {
    Arena::Frame frame(arena_);
    TowerRun run(tower, TowerRun::Probe(), context / name);
    while (run.step()) continue;
    const std::size_t first = 0;
    pooler.forward(run.x(), {nullptr, &first}, context / name / "pooler");
  };
  run(text_, text_pooler_, "text_model");
  run(vision_, vision_pooler_, "vision_model");
}

}  // namespace clearformer
