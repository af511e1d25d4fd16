#include <charconv>
#include <limits>

#include "clearformer/models/tower.h"

namespace clearformer {

namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

// Inputs and weights that a tower may have outside of its scope.
bool is_shared(std::string_view place) {
  return place.starts_with("embed.") || place == "pixel_values" || place == "input_features" ||
         place == "inputs_embeds";
}

// The step of a tower that computes a place or uses it, by the place's name in the tower's scope. Layers that share
// weights use them at their block's step or later.
std::size_t step_of(std::string_view place, const StackConfig& stack) {
  if (place.starts_with("project_out.") || place.starts_with("unembed.")) return kNever;
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

std::size_t TowerRun::first_sought(const Gradient& gradient) const {
  const std::string& path = context_.trace.path();
  std::size_t first = kNever;
  for (const std::string& place : gradient.places()) {
    std::string_view rest = place;
    if (!path.empty() && rest.starts_with(path) && rest.substr(path.size(), 1) == ".") {
      rest.remove_prefix(path.size() + 1);
    } else if (!path.empty() && !is_shared(place)) {
      continue;
    }
    first = std::min(first, step_of(rest, tower_.config_.stack));
  }
  return first;
}

void Tower::projected_back(const TensorView& x, const MutableTensorView& d_out,
                           const MutableTensorView& d, const Context& context) const {
  (context / "project_out").trace.back("hook_out", d_out, "batch pos d_out");
  project_out_->backward(x, d_out, d, Write::over, context.trace.weights(), context.arena);
}

void Tower::embed_back(const TowerInputs& inputs, const MutableTensorView& d,
                       const Context& context) const {
  if (!text_) fail(ErrorCode::unsupported, "gradient: embeddings of images and audio");
  Arena::Frame frame(context.arena);
  text_->backward(text_inputs(inputs, context.arena), d, context);
}

bool TowerRun::step_back(const MutableTensorView& d_memory) {
  if (!differentiates()) return false;
  const std::size_t layers = tower_.config_.stack.layers, step = next_ - 1;
  if (!inputs_.stop_at_layer && step == layers) {
    tower_.decoder_ ? tower_.decoder_->finish_back(d_, context_)
                    : tower_.encoder_->finish_back(d_, context_);
  }
  if (step == 0) {
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
