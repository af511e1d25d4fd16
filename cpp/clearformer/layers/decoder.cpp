#include "clearformer/layers/decoder.h"

namespace clearformer {

Decoder::Decoder(const WeightScope& scope, const BlockConfig& config, std::size_t layers)
    : final_norm_(scope / "ln_final", config.norm, config.attention.d_model, config.norm_eps) {
  for (std::size_t layer = 0; layer < layers; ++layer) {
    blocks_.emplace_back(scope / concat("blocks.", layer), config);
  }
}

void Decoder::forward(MutableTensorView x, const Mask& mask, const RotaryTable* rotary,
                      KeyValueCache* cache, const Context& context) const {
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
    const AttentionState state{mask, rotary, cache, layer};
    blocks_[layer].forward(x, state, context / concat("blocks.", layer));
  }
  const Context final_context = context / "ln_final";
  final_norm_.forward(x, x, final_context);
  final_context.trace("hook_out", x, "batch pos d_model");
}

}  // namespace clearformer
