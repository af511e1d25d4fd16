#include "clearformer/loading/stored_frequencies.h"

#include <algorithm>
#include <cmath>

namespace clearformer {

[[gnu::noinline]] void adopt_frequencies(TowerConfig& tower, Weights& weights) {
  RotaryConfig& rotary = *tower.rotary;
  for (const std::string& name : weights.names()) {
    if (!name.ends_with("rotary_embeddings.inv_freq")) continue;
    const Tensor stored = weights.take({name}, {rotary.d_head / 2});
    if (stored.empty()) return;
    // Longrope with one factor per pair, at every length.
    std::vector<double> factors = rotary_frequencies(rotary, 0).radians;
    for (std::size_t pair = 0; pair < factors.size(); ++pair) {
      const float frequency = stored.f32()[pair];
      if (!(frequency > 0.0f && std::isfinite(frequency))) {
        fail(ErrorCode::malformed_file, "weights: \"", name, "\" holds ", frequency,
             ", frequencies must be positive");
      }
      factors[pair] /= static_cast<double>(frequency);
    }
    rotary.scaling.kind = RotaryScaling::Kind::longrope;
    rotary.scaling.attention_factor = 1.0;
    rotary.scaling.short_factors = rotary.scaling.long_factors = std::move(factors);
    return;
  }
}

Tensor stored_frequencies(const TowerConfig& tower) {
  if (!tower.stores_frequencies || tower.rotary->scaling.short_factors.empty()) return {};
  const std::vector<double> radians = rotary_frequencies(*tower.rotary, 0).radians;
  Tensor stored({radians.size()});
  std::transform(radians.begin(), radians.end(), stored.f32(),
                 [](double frequency) { return static_cast<float>(frequency); });
  return stored;
}

}  // namespace clearformer
