// Position-wise feed-forward network:  FFN(x) = act(x·W_up + b)·W_down + b
// gated:                               FFN(x) = (act(x·W_gate) ⊙ x·W_up)·W_down
// or a mixture of several of them: see mixture_of_experts.h.
// Source: Vaswani et al. 2017, section 3.3; gated: Shazeer 2020, arXiv 2002.05202.
// Shapes: x (B, T, D), hidden (B, T, F).
// Hook points: hook_pre (B, T, F) before the activation, hook_pre_linear (gated: the other factor),
//              hook_post (B, T, F), the input of W_down.
#pragma once

#include <memory>
#include <optional>

#include "clearformer/layers/context.h"
#include "clearformer/layers/linear.h"

namespace clearformer {

/// Formulas: kernels/activations.h.
enum class Activation {
  relu,
  silu,
  gelu_erf,
  gelu_tanh,
  quick_gelu,
  tanh,
  linear,
  sigmoid,
  softplus,
  sqrt_softplus,
  erf,
  laplace,
  mish,
  relu_squared,
  relu6,
  leaky_relu,
  hard_swish,
  clipped_gelu
};

/// The activation of that name in a config.json ("silu", "gelu", "gelu_new", …), or nullopt.
std::optional<Activation> activation_named(std::string_view name);
/// The same, including functions that are not activations there: "erf", "softplus".
std::optional<Activation> elementwise_named(std::string_view name);

/// Applies the activation in place to `count` floats.
void apply(Activation activation, float* x, std::size_t count);

/// d[i] = d[i] · act'(x[i]), with x the input of the activation.
void apply_derivative(Activation activation, const float* x, float* d, std::size_t count);

/// Whether the hidden vector is multiplied by a second, activated one.
enum class Gate { none, present };

/// How the experts of a position and their weights follow from the router's logits; 0 experts: there is one network.
struct RouterConfig {
  std::size_t experts = 0;  // E
  std::size_t chosen = 0;   // k, of each position
  /// What the largest k are taken of: probabilities of all experts, or logits, whose softmax is of the chosen alone.
  enum class ChosenBy { probability, logit } by = ChosenBy::probability;
  bool normalized =
      true;  // the weights of the chosen are divided by their sum, which is 1 by logits
};

/// The sizes of a FeedForward, its activation and gate.
struct FeedForwardConfig {
  std::size_t d_model = 0;
  std::size_t d_hidden = 0;
  Activation activation = Activation::relu;
  Gate gate = Gate::none;
  Bias bias = Bias::present;
  RouterConfig router = {};  // d_hidden is then that of each expert
  bool is_expert = false;    // it has no hook points: its rows are those of some positions
};

class MixtureOfExperts;

/// The position-wise feed-forward layer, optionally gated.
class FeedForward {
 public:
  /// Loads "up_proj", "down_proj" and, if gated, "gate_proj"; or a mixture.
  FeedForward(const WeightScope& scope, const FeedForwardConfig& config);

  /// x (B, T, D) -> output (B, T, D).
  void forward(const TensorView& x, const MutableTensorView& output, const Context& context,
               Write write = Write::over) const;
  /// d_out (B, T, D) -> dx (B, T, D), from what the pass kept:
  ///   dh = d_out·W_down, dpre = dh ⊙ act'(pre); gated: dlin = dh ⊙ act(pre), dpre = dh ⊙ lin ⊙ act'(pre)
  /// Reads d_out before it writes dx; x is read for gradients of weights only.
  void backward(const TensorView& x, const TensorView& d_out, const MutableTensorView& dx,
                Write write, const Context& context) const;

 private:
  FeedForwardConfig config_;
  Linear up_, down_, gate_;
  std::shared_ptr<const MixtureOfExperts> mixture_;
};

}  // namespace clearformer
