// Residual connection and normalization around a sub-layer f:
//   post-norm:  x = Norm(x + f(x))               (Vaswani et al. 2017, section 3.1)
//   pre-norm:   x = x + f(Norm(x))               (Xiong et al. 2020, arXiv 2002.04745)
//   both:       x = x + Norm_2(f(Norm_1(x)))     (Gemma 2: Riviere et al. 2024, arXiv 2408.00118)
//   behind:     x = x + Norm_2(f(x))             (OLMo 2: Walsh et al. 2024, arXiv 2501.00656)
//   pre-norm with layer scale:  x = x + λ ⊙ f(Norm(x))  (CaiT: Touvron et al. 2021, arXiv 2103.17239)
// and around two sub-layers at once:
//   parallel:   x = x + f(Norm(x)) + g(Norm(x))  (GPT-J, Phi; Chowdhery et al. 2022, arXiv 2204.02311)
//   parallel_two:  x = x + f(Norm_1(x)) + g(Norm_2(x))  (GPT-NeoX: Black et al. 2022, arXiv 2204.06745)
// where the update may be multiplied by a constant before it is added (Granite).
// Shapes: x (B, T, D).
#pragma once

#include <optional>

#include "clearformer/layers/linear.h"
#include "clearformer/layers/normalization.h"

namespace clearformer {

/// The position of the norm: before the sub-layer, after the sum, before and after the sub-layer, only after it, or
/// before two parallel sub-layers, which share it or have one each.
enum class NormOrder { pre, post, both, behind, parallel, parallel_two };

/// Whether a sub-layer's output is multiplied by a learned vector before it is added.
enum class LayerScale { none, present };

/// The hook names of one residual step: the norm's scope (a second norm's has the suffix "_post"), the sub-layer's
/// output, the sum, and, on request, a copy of the stream for the sub-layer alone.
struct AddNormHooks {
  std::string_view norm, update, sum, input = {};
};

/// A residual step: adds a sub-layer's output to its input, with the norms around it.
class AddNorm {
 public:
  /// Loads the norm from scope / name; one that follows the sub-layer (both, behind) from name_post; with
  /// LayerScale::present the vector name_scale.weight (D). `scale` multiplies the update.
  AddNorm(const WeightScope& scope, std::string_view name, const NormConfig& config,
          NormOrder order, float scale = 1.0f, LayerScale layer_scale = LayerScale::none);

  const Normalization& norm() const { return norm_; }
  /// The norm of the sub-layer's input, or null.
  const Normalization* input_norm() const { return order_ == NormOrder::post ? nullptr : &norm_; }

  /// Updates x in place; sublayer(in, out, write) stores f in out or adds it to out, and must have read
  /// `in` before it writes.
  template <class Sublayer>
  void forward(const MutableTensorView& x, const AddNormHooks& hooks, const Context& context,
               Sublayer sublayer) const {
    constexpr std::string_view kLegend = "batch pos d_model";
    Arena::Frame frame(context.arena);
    const TensorView in = order_ == NormOrder::post ? TensorView(x) : input_of(x, hooks, context);
    if (reads_stream() && context.trace.keeps_inputs()) (context / hooks.norm).trace.keep("in", in);
    if (!after_ && !layer_scale_ && scale_ == 1.0f && !context.trace.wants(hooks.update)) {
      sublayer(in, x, Write::onto);
    } else {
      const MutableTensorView update = context.arena.take(x.shape());
      sublayer(in, update, Write::over);
      add(x, update, hooks, context);
    }
    context.trace(hooks.sum, x, kLegend);
    if (order_ == NormOrder::post) norm_.forward(x, x, context / hooks.norm);
  }

  /// Turns d (B, T, D), the gradient of the updated x, into that of x, in place:
  ///   post d = N'd, d += f'd;  pre d += N'f'd;  both d += N_1'f'N_2'd;  behind d += f'N_2'd
  /// back(in, d_out, d_in, write) stores the sub-layer's f'd_out in d_in or adds it, and must have read d_out before it
  /// writes; `in` is empty if no weights are differentiated.
  template <class Sublayer>
  void backward(const MutableTensorView& d, const AddNormHooks& hooks, const Context& context,
                Sublayer back) const {
    Arena::Frame frame(context.arena);
    const Step step = begin_back(d, hooks, context);
    back(step.in, step.d_out, step.d_in, step.write);
    if (step.write == Write::over) end_back(step, d, hooks, context);
  }

 private:
  // What the sub-layer reads: the norm of x, except with NormOrder::behind, or of a copy that the trace edits.
  TensorView input_of(const MutableTensorView& x, const AddNormHooks& hooks,
                      const Context& context) const;
  // Between the two parts of backward().
  struct Step {
    TensorView in, d_out;
    MutableTensorView d_in;
    Write write;
  };
  Step begin_back(const MutableTensorView& d, const AddNormHooks& hooks,
                  const Context& context) const;
  static bool offers_input(const AddNormHooks& hooks, const Context& context);
  void end_back(const Step& step, const MutableTensorView& d, const AddNormHooks& hooks,
                const Context& context) const;
  MutableTensorView update_back(const MutableTensorView& d, const AddNormHooks& hooks,
                                const Context& context) const;
  void layer_scale_back(const MutableTensorView& d, const Context& norm) const;
  // Whether the sub-layer reads x itself.
  bool reads_stream() const { return order_ == NormOrder::post || order_ == NormOrder::behind; }
  // Adds a materialised update: for a second norm, a scale, a layer scale or a trace.
  void add(const MutableTensorView& x, const MutableTensorView& update, const AddNormHooks& hooks,
           const Context& context) const;
  static void multiply_rows(const MutableTensorView& x, const TensorView& scale);

  Normalization norm_;
  std::optional<Normalization> after_;
  std::optional<Tensor> layer_scale_;  // (D)
  NormOrder order_;
  float scale_;
};

}  // namespace clearformer
