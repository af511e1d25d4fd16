// Gated delta rule: linear attention, whose state S is a matrix per head that each position decays and corrects.
//   q, k, v = silu(conv(u·W_qkv)), q and k of length 1, q / √d_k;   β = sigmoid(u·W_b),  g = −exp(A)·softplus(u·W_a + dt)
//   S_t = exp(g_t)·S_{t−1};  S_t += k_t ⊗ β_t·(v_t − S_tᵀk_t);  o_t = S_tᵀq_t;   out = (RMSNorm(o) ⊙ silu(u·W_z))·W_O
// where u is zero at padded positions, as are S and the inputs of the convolution before the first position. Positions are
// computed one by one in the same order in any call, so that no cut of a sequence changes a bit.
// backward: position by position from the last one (kernels/delta_rule.h), from S before each, which is computed again
// from the nearest of some √T that are held.
// Source: Yang et al. 2024, arXiv 2412.06464; transformers' Qwen3_5GatedDeltaNet.
// Shapes: B batch, T positions, D model, G heads of keys, H heads of values (a multiple; head h reads keys h / (H / G)),
//         C = 2·G·d_k + H·d_v channels of a convolution of k taps, S (B, H, d_k, d_v).
// Hook points: hook_q, hook_k (B, T, G, d_k), before they get length 1, hook_v, hook_o (B, T, H, d_v); hook_beta, hook_decay
//              (B, T, H), β and exp(g); hook_state (B, H, d_k, d_v), S after the last position; norm.… of o; hook_gate,
//              u·W_z, and hook_z, what W_O reads (B, T, H, d_v).
#pragma once

#include "clearformer/layers/normalization.h"
#include "clearformer/layers/position_mixer.h"

namespace clearformer {

/// The sizes of a gated delta rule.
struct GatedDeltaConfig {
  std::size_t d_model = 0;
  std::size_t key_heads = 0, value_heads = 0;  // G, H
  std::size_t d_key = 0, d_value = 0;
  std::size_t taps = 0;  // k
  double eps = 1e-6;     // of the norm

  std::size_t channels() const { return 2 * key_heads * d_key + value_heads * d_value; }
  /// The shapes of what it keeps of past positions: S, and the last inputs of the convolution.
  Shape matrices(std::size_t batch) const { return {batch, value_heads, d_key, d_value}; }
  Shape inputs(std::size_t batch) const { return {batch, taps - 1, channels()}; }
};

/// A gated delta rule with its projections.
class GatedDeltaRule : public PositionMixer {
 public:
  /// Loads "qkv_proj", "z_proj", "b_proj", "a_proj", "conv", "A_log", "dt_bias", "norm", "out_proj".
  GatedDeltaRule(const WeightScope& scope, const GatedDeltaConfig& config);

  void forward(const TensorView& x, const TensorView* padding, std::unique_ptr<PastState>* past,
               const MutableTensorView& output, Write write, const Context& context) const override;
  void backward(const TensorView& x, const TensorView* padding, const TensorView& d_output,
                const MutableTensorView& dx, Write write, const Context& context) const override;

 private:
  static constexpr std::string_view kHeadLegend = "batch pos head d_head";
  static constexpr std::string_view kNumberLegend = "batch pos head";
  static constexpr std::string_view kStateLegend = "batch head d_key d_value";
  static constexpr double kLengthEps = 1e-6;  // of what is divided by its length

  struct Heads {
    MutableTensorView q, k, v;
  };
  void fill_window(const TensorView& projected, const Tensor* before,
                   const MutableTensorView& window) const;
  Heads convolved(const MutableTensorView& window, Arena& arena) const;
  void normalize(const MutableTensorView& x, double length, Arena& arena) const;
  struct Decay {
    double step, rate, softplus, decay;  // exp(−rate · softplus), softplus of step
  };
  Decay decay_of(float a, std::size_t head) const;
  MutableTensorView decays(const TensorView& x, const TensorView* padding,
                           const Context& context) const;
  void recur(const Heads& heads, const TensorView& decay, const TensorView& beta,
             const Tensor* before, const MutableTensorView& state,
             const MutableTensorView& out) const;

  // The numbers of each position as delta_rule() reads them, and their gradients, of q and k by heads of values.
  struct Positions {
    TensorView q, k, v, decay, beta;
  };
  struct PositionGradients {
    MutableTensorView q, k, v, decay, beta;
  };
  void recur_back(const Positions& of, const TensorView& d_out, const MutableTensorView& d_state,
                  const PositionGradients& d, Arena& arena) const;
  void normalize_back(const TensorView& x, double length, const MutableTensorView& d,
                      Arena& arena) const;
  void decays_back(const TensorView& a, const MutableTensorView& d, const Context& context) const;

  GatedDeltaConfig config_;
  Linear qkv_, z_, b_, a_, output_;
  Tensor filters_, a_log_, dt_bias_;  // (C, 1, k), (H), (H)
  Normalization norm_;
};

}  // namespace clearformer
