// Head: what turns the last hidden states of an encoder into an answer,
//   y = W_out·Norm(act(W·pick(x) + b)) + b_out
// each part as far as the head has it: pooler, masked-LM head, classifier.
// Source: Devlin et al. 2018, arXiv 1810.04805, section 4. Shapes: x (B, T, D), y (B, T, V) or (B, V).
// Hook points: hook_pooler_out (B, D) behind a pooler's activation.
#pragma once

#include "clearformer/layers/feed_forward.h"
#include "clearformer/layers/normalization.h"
#include "clearformer/layers/output_layer.h"

namespace clearformer {

/// The parts of a Head; one that is not there is left out.
struct HeadConfig {
  /// Which positions are read: every one, the first (class token), the second (distillation token),
  /// the mean of those the mask allows, the one that is given for each sequence.
  enum class Pick { all, first, second, mean, given } pick = Pick::all;
  std::size_t d_model = 0;
  std::optional<Activation> dense;  // W and this activation
  std::size_t dense_outputs = 0;    // rows of W; 0: D
  Bias dense_bias = Bias::present;
  std::optional<NormConfig> norm;
  std::size_t outputs = 0;  // rows of W_out; 0: none
  Bias bias = Bias::present;
};

/// What turns an encoder's last hidden states into an answer.
class Head {
 public:
  /// Loads "dense", "norm" and "out" of the scope; tied: W_out is that embedding's table.
  Head(const WeightScope& scope, const HeadConfig& config, const Embedding* tied = nullptr);

  /// Which positions pick() reads, where the config leaves that to the call.
  struct Positions {
    const TensorView* mask = nullptr;        // (B, T) uint8, for Pick::mean; none: all
    const std::size_t* positions = nullptr;  // one a sequence, for Pick::given
  };
  /// x (B, T, D) -> (B, T, outputs) or (B, outputs); without outputs those of W.
  Tensor forward(const TensorView& x, const Positions& positions, const Context& context) const;
  Tensor forward(const TensorView& x, const Context& context) const {
    return forward(x, {}, context);
  }

 private:
  MutableTensorView pick(const TensorView& x, const Positions& positions, Arena& arena) const;

  HeadConfig config_;
  Linear dense_;
  std::optional<Normalization> norm_;
  std::optional<OutputLayer> out_;
};

}  // namespace clearformer
