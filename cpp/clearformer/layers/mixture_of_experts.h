// Mixture of experts:  y = Σ_e p_e · FFN_e(x), over the k experts of E that a router chooses for each position
//   p = softmax(x·W_router), the k largest, divided by their sum if so configured; or the softmax of the k largest logits.
// Sources: Shazeer et al. 2017, arXiv 1701.06538; Fedus et al. 2021, arXiv 2101.03961. Of equal numbers the expert of the
// lower number is chosen.
// Shapes: x (B, T, D), logits and weights (B, T, E). Each expert multiplies the rows that chose it at once; the sum over a
// row's experts is in the order of their numbers, so that no other row changes it.
// Hook points: hook_router_logits (B, T, E); hook_expert_weights (B, T, E), 0 for those not chosen: an edit of either
//              chooses other experts, of the weights as many as are not 0. The gradient of the latter, where it is sought,
//              is that of all experts, of those not chosen as if they were with a weight near 0.
#pragma once

#include <vector>

#include "clearformer/layers/feed_forward.h"

namespace clearformer {

/// Feed-forward networks, of which each position uses some.
class MixtureOfExperts {
 public:
  /// Loads "gate", the router, and "experts.0" ….
  MixtureOfExperts(const WeightScope& scope, const FeedForwardConfig& config);
  [[gnu::noinline]] static std::shared_ptr<const MixtureOfExperts> loaded(
      const WeightScope& scope, const FeedForwardConfig& config);

  /// x (B, T, D) -> output (B, T, D).
  [[gnu::noinline]] void forward(const TensorView& x, const MutableTensorView& output,
                                 const Context& context, Write write) const;
  /// d_out (B, T, D) -> dx (B, T, D), through the chosen experts and their weights; which are chosen is constant:
  ///   dp_e = d_out·y_e, dl = p ⊙ (dp - Σ p·dp), with dp of those not chosen 0, dx = Σ_e p_e·FFN_e'd_out + dl·W_router
  /// Reads d_out before it writes dx; x is read for gradients of weights only.
  [[gnu::noinline]] void backward(const TensorView& x, const TensorView& d_out,
                                  const MutableTensorView& dx, Write write,
                                  const Context& context) const;

 private:
  void choose(const TensorView& logits, const MutableTensorView& weights) const;
  MutableTensorView weights_back(const TensorView& logits, const MutableTensorView& d,
                                 const Context& context) const;
  // The context of an expert, whose values are kept for the backward pass alone.
  static Context of_expert(const Context& context, std::size_t expert);

  FeedForwardConfig config_;
  Linear router_;
  std::vector<FeedForward> experts_;
};

}  // namespace clearformer
