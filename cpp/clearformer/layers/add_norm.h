// Residual connection and normalization around a sub-layer f:
//   post-norm:  x = Norm(x + f(x))        (Vaswani et al. 2017, section 3.1)
//   pre-norm:   x = x + f(Norm(x))        (Xiong et al. 2020, arXiv 2002.04745)
// Shapes: x (B, T, D).
#pragma once

#include "clearformer/kernels/elementwise.h"
#include "clearformer/layers/normalization.h"

namespace clearformer {

enum class NormOrder { pre, post };

/// The hook names of one residual step: the norm's scope, what the sub-layer adds, the sum.
struct AddNormHooks {
  std::string_view norm, update, sum;
};

class AddNorm {
 public:
  /// Loads the norm from the scope.
  AddNorm(const WeightScope& scope, const NormConfig& config, NormOrder order)
      : norm_(scope, config), order_(order) {}

  /// Updates x in place; sublayer(in, out) computes f.
  template <class Sublayer>
  void forward(MutableTensorView x, const AddNormHooks& hooks, const Context& context,
               Sublayer sublayer) const {
    constexpr std::string_view kLegend = "batch pos d_model";
    Arena::Frame frame(context.arena);
    const MutableTensorView update = context.arena.take(x.shape());
    if (order_ == NormOrder::pre) {
      const MutableTensorView normalized = context.arena.take(x.shape());
      norm_.forward(x, normalized, context / hooks.norm);
      sublayer(TensorView(normalized), update);
    } else {
      sublayer(TensorView(x), update);
    }
    context.trace(hooks.update, update, kLegend);
    kernels::add(x.f32(), update.f32(), x.f32(), x.elements());
    context.trace(hooks.sum, x, kLegend);
    if (order_ == NormOrder::post) norm_.forward(x, x, context / hooks.norm);
  }

 private:
  Normalization norm_;
  NormOrder order_;
};

}  // namespace clearformer
