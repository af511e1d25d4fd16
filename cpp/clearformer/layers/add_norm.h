// Residual connection and normalization around a sub-layer f:
//   post-norm:  x = Norm(x + f(x))               (Vaswani et al. 2017, section 3.1)
//   pre-norm:   x = x + f(Norm(x))               (Xiong et al. 2020, arXiv 2002.04745)
//   both:       x = x + Norm_2(f(Norm_1(x)))     (Gemma 2: Riviere et al. 2024, arXiv 2408.00118)
// and around two sub-layers at once:
//   parallel:   x = x + f(Norm(x)) + g(Norm(x))  (GPT-J, Phi; Chowdhery et al. 2022, arXiv 2204.02311)
// Shapes: x (B, T, D).
#pragma once

#include <optional>

#include "clearformer/layers/linear.h"
#include "clearformer/layers/normalization.h"

namespace clearformer {

/// The position of the norm: before the sub-layer, after the sum, both, or one norm shared by two parallel sub-layers.
enum class NormOrder { pre, post, both, parallel };

/// The hook names of one residual step: the norm's scope (a second norm's has the suffix "_post"), the sub-layer's
/// output, the sum.
struct AddNormHooks {
  std::string_view norm, update, sum;
};

/// A residual step: adds a sub-layer's output to its input, with the norms around it.
class AddNorm {
 public:
  /// Loads the norm from scope / name, with NormOrder::both a second one from name_post.
  AddNorm(const WeightScope& scope, std::string_view name, const NormConfig& config,
          NormOrder order)
      : norm_(scope / name, config), order_(order) {
    if (order == NormOrder::both) after_.emplace(scope / concat(name, "_post"), config);
  }

  const Normalization& norm() const { return norm_; }

  /// Updates x in place; sublayer(in, out, write) stores f in out or adds it to out, and must have read
  /// `in` before it writes.
  template <class Sublayer>
  void forward(const MutableTensorView& x, const AddNormHooks& hooks, const Context& context,
               Sublayer sublayer) const {
    constexpr std::string_view kLegend = "batch pos d_model";
    Arena::Frame frame(context.arena);
    TensorView in = x;
    if (order_ != NormOrder::post) {
      const MutableTensorView normalized = context.arena.take(x.shape());
      norm_.forward(x, normalized, context / hooks.norm);
      in = normalized;
    }
    if (!after_ && !context.trace.wants(hooks.update)) {
      sublayer(in, x, Write::onto);
    } else {
      add_separately(x, in, hooks, context, sublayer);
    }
    context.trace(hooks.sum, x, kLegend);
    if (order_ == NormOrder::post) norm_.forward(x, x, context / hooks.norm);
  }

 private:
  // Materialises the update, for a second norm or for a trace.
  template <class Sublayer>
  void add_separately(const MutableTensorView& x, const TensorView& in, const AddNormHooks& hooks,
                      const Context& context, Sublayer sublayer) const {
    const MutableTensorView update = context.arena.take(x.shape());
    sublayer(in, update, Write::over);
    if (after_) after_->forward(update, update, context / concat(hooks.norm, "_post"));
    context.trace(hooks.update, update, "batch pos d_model");
    add_to(x, update);
  }

  static void add_to(const MutableTensorView& x, const TensorView& update);

  Normalization norm_;
  std::optional<Normalization> after_;
  NormOrder order_;
};

}  // namespace clearformer
