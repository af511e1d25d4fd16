#include "clearformer/layers/decoder.h"

namespace clearformer {

Decoder::Decoder(const WeightScope& scope, const StackConfig& config) {
  for (std::size_t layer = 0; layer < config.layers; ++layer) {
    blocks_.emplace_back(scope / concat("blocks.", layer), config.block);
  }
  if (config.final_norm == FinalNorm::present) {
    final_norm_.emplace(scope / "ln_final", config.block.norm);
  }
}

void Decoder::forward(MutableTensorView x, TensorView memory, const Mask& mask,
                      const Mask& cross_mask, const Context& context) const {
  for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
    blocks_[layer].forward(x, memory, {mask}, {cross_mask}, context / concat("blocks.", layer));
  }
  if (!final_norm_) return;
  const Context final_context = context / "ln_final";
  final_norm_->forward(x, x, final_context);
  final_context.trace("hook_out", x, "batch pos d_model");
}

}  // namespace clearformer
