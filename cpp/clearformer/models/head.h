// Head: maps an encoder's last hidden states to the outputs of a task,
//   y = W_out·Norm(act(W·pick(x) + b)) + b_out
// where each part is optional: pooler, masked-LM head, classifier.
// Source: Devlin et al. 2018, arXiv 1810.04805, section 4. Shapes: x (B, T, D), y (B, T, V) or (B, V).
// Hook points: hook_pooler_out (B, D), what W_out reads of a sequence, or the result without it; those of
// probe_attention.h.
#pragma once

#include "clearformer/layers/feed_forward.h"
#include "clearformer/layers/normalization.h"
#include "clearformer/layers/output_layer.h"
#include "clearformer/layers/probe_attention.h"

namespace clearformer {

/// The parts of a Head; absent ones are skipped.
struct HeadConfig {
  /// Which positions are read: all, the first (class token), the second (distillation token), the last, the mean of
  /// those the mask allows, one given per sequence, the mean of the first two, the first and behind it the mean of the
  /// patches (2·D), or all, of whose act(W·x + b) the mean is taken where the mask allows it.
  enum class Pick {
    all,
    first,
    second,
    last,
    mean,
    given,
    first_two,
    first_and_patches,
    mean_of_dense
  } pick = Pick::all;
  std::size_t patches_from = 0;               // of Pick::first_and_patches
  std::optional<ProbeAttentionConfig> probe;  // reads all positions instead
  std::size_t d_model = 0;
  std::optional<Activation> dense;  // W and this activation
  std::size_t dense_outputs = 0;    // rows of W; 0: D
  Bias dense_bias = Bias::present;
  std::optional<NormConfig> norm;
  std::size_t outputs = 0;  // rows of W_out; 0: none
  Bias bias = Bias::present;

  /// Whether it makes one vector of a sequence.
  bool pools() const { return probe || pick != Pick::all; }
  /// Whether that vector is a hook point; a second position is not there when hooks are listed: see EncoderOnlyModel::probe.
  bool shows_pooled() const { return pools() && pick != Pick::second; }
};

/// Maps an encoder's last hidden states to the outputs of a task.
class Head {
 public:
  /// Loads "dense", "norm", "out" and the probe's weights of the scope; tied: W_out is that embedding's table.
  Head(const WeightScope& scope, const HeadConfig& config, const Embedding* tied = nullptr);

  /// Arguments of pick(), where the config leaves the positions to the call.
  struct Positions {
    const TensorView* mask = nullptr;        // (B, T) uint8, for Pick::mean; none: all
    const std::size_t* positions = nullptr;  // one per sequence, for Pick::given
  };
  /// x (B, T, D) -> (B, T, outputs) or (B, outputs); without an output layer, the outputs of W.
  Tensor forward(const TensorView& x, const Positions& positions, const Context& context) const;
  Tensor forward(const TensorView& x, const Context& context) const {
    return forward(x, {}, context);
  }
  /// Backward: from d, the gradient of what forward(x, positions) returned, which is overwritten, that of x is added to
  /// dx (B, T, D).
  void backward(const TensorView& x, const Positions& positions, const MutableTensorView& d,
                const MutableTensorView& dx, const Context& context) const;

 private:
  /// What W reads: all positions if their mean is taken behind it.
  HeadConfig::Pick first_pick() const;
  MutableTensorView pick(HeadConfig::Pick which, const TensorView& x, const Positions& positions,
                         Arena& arena) const;
  void pick_back(HeadConfig::Pick which, const TensorView& d, const Positions& positions,
                 const MutableTensorView& dx) const;
  MutableTensorView pooled(const TensorView& x, const Context& context) const;

  HeadConfig config_;
  std::optional<ProbeAttention> probe_;
  Linear dense_;
  std::optional<Normalization> norm_;
  std::optional<OutputLayer> out_;
};

}  // namespace clearformer
