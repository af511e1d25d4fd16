// Normalization: LayerNorm and RMSNorm over the last axis or axes.
//   LayerNorm(x) = (x - mean(x)) / sqrt(var(x) + eps) · w + b      (Ba et al. 2016, arXiv 1607.06450)
//   RMSNorm(x)   = x / sqrt(mean(x²) + eps) · w                    (Zhang & Sennrich 2019, arXiv 1910.07467)
// backward, with c the (centered) input, s its scale, n = c / s and dn, ds their gradients:
//   dn = dout·w, dw = Σ dout·n, db = Σ dout;   ds = -Σ dn·n / s;   dc = dn / s + ds·c / (D·s);   dx = dc - mean(dc)
// (RMSNorm: dx = dc)
// Shapes: x (…, D), w (D), b (D).
// Hook points: hook_scale (…, 1), the divisor; hook_normalized (…, D), before w and b.
#pragma once

#include "clearformer/layers/context.h"
#include "clearformer/layers/linear.h"
#include "clearformer/weights/scope.h"

namespace clearformer {

/// The kind of norm.
enum class NormKind { layer, rms, none };  // none: out = x

/// The kind of norm, its shape and epsilon.
struct NormConfig {
  NormKind kind = NormKind::layer;
  Shape shape{0};  // the last axes, normalized together; that of weight and bias
  double eps = 1e-5;
  bool weight = true;          // RMSNorm and LayerNorm
  bool bias = true;            // LayerNorm only
  float weight_offset = 0.0f;  // added to the stored weight: 1 in Gemma
  std::size_t heads = 0;  // > 0: x (…, H, D) has a weight for each head, w (H, D), no bias (Cohere)
  bool heads_apart = false;  // these are stored as tensors of their own (StableLM)
};

/// LayerNorm or RMSNorm over the last axis.
class Normalization {
 public:
  /// Loads "weight" and, for LayerNorm, "bias" of the scope, if the config has them.
  Normalization(const WeightScope& scope, const NormConfig& config);

  void forward(const TensorView& x, const MutableTensorView& out, const Context& context) const;

  /// What the backward pass needs of forward().
  struct Kept {
    TensorView normalized;  // (…, D), c / used_scale: before edits
    TensorView scale;       // (…, 1), before edits
    TensorView used_scale;  // after edits
    TensorView used;        // normalized after edits, which the weight multiplied
    Kept(const TensorView& n, const TensorView& s)
        : normalized(n), scale(s), used_scale(s), used(n) {}
  };
  /// From dout (…, D): dx, and onto `gradients`, which may be null, those of weight and bias that are wanted. It is the
  /// three following functions, between which gradients of hook_normalized and of hook_scale are read and changed. Of
  /// NormKind::none nothing is kept.
  void backward(const Kept& kept, const TensorView& dout, const MutableTensorView& dx, Write write,
                const WeightGradients* gradients, Arena& arena) const;
  /// dn, which may be dout in place.
  void backward_weights(const Kept& kept, const TensorView& dout, const MutableTensorView& dn,
                        const WeightGradients* gradients) const;
  /// ds (…, 1)
  void backward_scale(const Kept& kept, const TensorView& dn, const MutableTensorView& ds) const;
  /// dx, which may be dn in place with Write::over.
  void backward_input(const Kept& kept, const TensorView& dn, const TensorView& ds,
                      const MutableTensorView& dx, Write write) const;
  /// The same in a differentiated pass (gradient.h), whose forward pass kept the rest; offers the gradients of the hook
  /// points. dx may be dout in place with Write::over.
  void backward(const TensorView& dout, const MutableTensorView& dx, Write write,
                const Context& context) const;
  /// What forward() of that pass kept.
  Kept kept(const TraceScope& trace) const;
  /// What forward(x) of rows that no hook sees would keep, in the arena.
  Kept kept_of(const TensorView& x, Arena& arena) const;
  /// What forward() returned of these normalized rows, in the arena.
  TensorView output_of(const TensorView& normalized, Arena& arena) const;
  /// What forward() of that pass returned, of `shape`, in the arena.
  TensorView output_again(const Shape& shape, const Context& context) const;

  /// Scale and shift of the normalized numbers; empty if there are none.
  const Tensor& weight() const { return weight_; }
  const Tensor& bias() const { return bias_; }

 private:
  void load_heads(const WeightScope& scope);
  template <class Body>
  void for_rows(std::size_t rows, const Body& body) const;
  void scale_shift(const MutableTensorView& out) const;
  void measure(const float* x, float* out, float* scale, std::size_t rows) const;

  NormConfig config_;
  Tensor weight_;
  Tensor bias_;
};

}  // namespace clearformer
