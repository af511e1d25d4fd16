#include "clearformer/layers/position_mixer.h"

#include "clearformer/layers/encoder_block.h"

namespace clearformer {

std::unique_ptr<PositionMixer> PositionMixer::of(const WeightScope& scope,
                                                 const BlockConfig& config) {
  if (config.convolution) {
    return std::make_unique<ShortConvolution>(scope / "conv", *config.convolution);
  }
  return std::make_unique<GatedDeltaRule>(scope / "delta", *config.delta);
}

}  // namespace clearformer
