// Composition scores of pairs of heads, of which the second reads what the first has written:
//   score = ‖OV·C‖ / (‖OV‖·‖C‖)  with Frobenius norms,  OV = W_V·W_O of the first head,
//   C of the second: W_Q·W_Kᵀ (Q-composition), W_K·W_Qᵀ (K) or W_V·W_O (V)
// The products of size (D, D) are not formed: with RᵀR = MᵀM, ‖M·N‖ = ‖R·N‖ for a tall M.
// Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"; TransformerLens'
// all_composition_scores.
// Shapes: L layers, H query heads (those of grouped queries share keys and values), d head size, D model.
#pragma once

#include "clearformer/models/processed_weights.h"

namespace clearformer {

/// What the second head computes from the first one's output.
enum class Composition { queries, keys, values };

/// The scores (H, L, H) of the heads of `layer` with all heads; 0 for those that are not in a later layer, and of
/// layers without attention. Throws
/// invalid_argument for a layer that does not exist.
Tensor composition_scores(const ModelConfig& config, const Parameters& parameters,
                          std::size_t layer, Composition mode, const WeightProcessing& processing);

}  // namespace clearformer
