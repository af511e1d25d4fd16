#include <charconv>
#include <cstring>
#include <limits>

#include "clearformer/models/tower.h"

namespace clearformer {

namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

// Inputs and weights that a tower may have outside of its scope.
bool is_shared(std::string_view place) {
  return place.starts_with("embed.") || place == "pixel_values" || place == "input_features" ||
         place == "input_values" || place == "inputs_embeds";
}

// The step of a tower that computes a place or uses it, by the place's name in the tower's scope. Layers that share
// weights use them at their block's step or later.
std::size_t step_of(std::string_view place, const StackConfig& stack) {
  constexpr std::string_view kAbove[] = {
      "project_out.",        "head.", "unembed.", "mlm.",      "classifier.",
      "teacher_classifier.", "qa.",   "pooler.",  "detector.", "distillation.",
      "token_classifier.",   "ctc."};
  for (const std::string_view above : kAbove) {
    if (place.starts_with(above)) return kNever;
  }
  if (place.starts_with("ln_final.")) return stack.layers;
  const std::string_view blocks = stack.blocks;
  if (!blocks.empty()) {
    if (!place.starts_with(blocks) || place.substr(blocks.size(), 1) != ".") return 0;
    place.remove_prefix(blocks.size() + 1);
  }
  std::size_t layer = 0;
  const auto [end, error] = std::from_chars(place.data(), place.data() + place.size(), layer);
  return error == std::errc() && end != place.data() + place.size() && *end == '.' ? layer + 1 : 0;
}

}  // namespace

std::optional<std::size_t> step_in(std::string_view path, std::string_view place,
                                   const StackConfig& stack) {
  const bool shared = is_shared(place);
  if (!path.empty() && place.starts_with(path) && place.substr(path.size(), 1) == ".") {
    place.remove_prefix(path.size() + 1);
  } else if (!path.empty() && !shared) {
    return std::nullopt;
  }
  return step_of(place, stack);
}

std::size_t first_sought(std::string_view path, const std::vector<std::string>& places,
                         const StackConfig& stack) {
  std::size_t first = kNever;
  for (const std::string& place : places) {
    first = std::min(first, step_in(path, place, stack).value_or(kNever));
  }
  return first;
}

void TowerRun::begin_step(Gradient& gradient) {
  using Keeping = Gradient::Keeping;
  kept_[next_] = gradient.kept_values();
  const bool again = next_ > first_ && gradient.recomputes();
  gradient.set_keeping(next_ < from_ ? Keeping::nothing
                       : again       ? Keeping::records
                                     : Keeping::values);
  if (gradient.records()) gradient.keep(before_step(next_), x_);
}

void TowerRun::refuse_samples() {
  fail(ErrorCode::unsupported,
       "gradient: the convolutions of samples (features, pos_conv) have none: ",
       "seek those from blocks.0.hook_resid_pre on");
}

std::string TowerRun::before_step(std::size_t step) const {
  return concat(context_.trace.path(), " before step ", step);
}

// Computes a layer once more from the residual stream before it, and the values that its backward pass reads.
void TowerRun::recompute(std::size_t step) {
  Gradient& gradient = *context_.trace.gradient();
  std::memcpy(x_.data(), gradient.kept(before_step(step))->data(), x_.bytes());
  gradient.set_keeping(Gradient::Keeping::replayed);
  run_layer(step - 1);
  if (!inputs_.stop_at_layer && step == tower_.config_.stack.layers) tower_.finish(x_, context_);
  gradient.set_keeping(Gradient::Keeping::nothing);
}

MutableTensorView Tower::projected_gradient(const MutableTensorView& d, Arena& arena) const {
  if (!project_out_) return d;
  const MutableTensorView d_out = arena.take({d.dim(0), d.dim(1), config_.d_out});
  std::memset(d_out.data(), 0, d_out.bytes());
  return d_out;
}

void Tower::projected_back(const TensorView& x, const MutableTensorView& d_out,
                           const MutableTensorView& d, const Context& context) const {
  if (!project_out_) return;
  (context / "project_out").trace.back("hook_out", d_out, "batch pos d_out");
  project_out_->backward(x, d_out, d, Write::over, context.trace.weights(), context.arena);
}

void Tower::embed_back(const TowerInputs& inputs, const MutableTensorView& d,
                       const Context& context) const {
  if (inputs.residual) return context.trace.back("residual", d, "batch pos d_model");
  Arena::Frame frame(context.arena);
  if (text_) return text_->backward(text_inputs(inputs, context.arena), d, context);
  const std::string_view name = config_.reads_spectrograms() ? "input_values"
                                : image_                     ? "pixel_values"
                                                             : "input_features";
  const TensorView& given = image_ ? *inputs.images : *inputs.features;
  MutableTensorView d_given;
  if (context.trace.gradient()->seeks(name)) d_given = context.arena.take(given.shape());
  if (image_) {
    image_->backward(given, d, d_given, context);
  } else {
    audio_->backward(given, d, d_given, context);
  }
  if (d_given.data() == nullptr) return;
  const std::string_view legend = config_.reads_spectrograms() ? "batch frame mel"
                                  : image_                     ? "batch channel height width"
                                                               : "batch mel frame";
  context.trace.input_back(name, d_given, legend);
}

// Sums over the layers for relative positions, if their weights are differentiated.
void TowerRun::sum_positions() {
  const WeightGradients* const weights = context_.trace.weights();
  if (weights == nullptr || from_ > first_) return;
  const auto zeros = [&](const Shape& shape) {
    const MutableTensorView sums = context_.arena.take(shape);
    std::memset(sums.data(), 0, sums.bytes());
    return sums;
  };
  const std::size_t length = x_.dim(1);
  if (tower_.config_.relative && weights->of(tower_.relative_bias_) != nullptr) {
    d_positions_ = zeros({1, tower_.config_.stack.block.attention.num_heads, length, length});
    state_.d_bias = &d_positions_;
  }
  if (tower_.relative_table_) {
    d_positions_ = zeros(relative_.rows.shape());
    state_.d_relative = &d_positions_;
  }
}

void TowerRun::positions_back() {
  const WeightGradients* const weights = context_.trace.weights();
  const std::size_t length = x_.dim(1);
  if (state_.d_bias != nullptr) {
    relative_position_bias_backward(d_positions_, *tower_.config_.relative, {length, length, 0},
                                    weights->of(tower_.relative_bias_));
  }
  if (state_.d_relative != nullptr) {
    tower_.relative_table_->backward(length, d_positions_, weights, context_.arena);
  }
}

bool TowerRun::step_back(const MutableTensorView& d_memory) {
  if (!differentiates()) return false;
  expect_alone();
  const std::size_t layers = tower_.config_.stack.layers, step = next_ - 1;
  if (step > first_ && context_.trace.gradient()->recomputes()) recompute(step);
  if (!inputs_.stop_at_layer && step == layers) {
    tower_.decoder_ ? tower_.decoder_->finish_back(d_, context_)
                    : tower_.encoder_->finish_back(d_, context_);
  }
  if (step == first_) {
    positions_back();
    tower_.embed_back(inputs_, d_, context_);
  } else if (tower_.decoder_) {
    tower_.decoder_->backward_layer(step - 1, d_, inputs_.memory, d_memory, state_, context_);
  } else {
    tower_.encoder_->backward_layer(step - 1, d_, state_, context_);
  }
  context_.trace.gradient()->release(kept_[step]);
  next_ = step;
  return differentiates();
}

}  // namespace clearformer
