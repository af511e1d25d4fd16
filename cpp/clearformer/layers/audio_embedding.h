// Audio embedding: two convolutions over a log-mel spectrogram, then fixed positions,
//   x = gelu(Conv_2(gelu(Conv_1(mel)))) + E_position,  kernel 3, padding 1, strides 1 and 2
// Source: Radford et al. 2022, arXiv 2212.04356, section 2.2.
// Shapes: mel (B, M, F) of M bins and F frames, x (B, F/2, D).
// Hook points: hook_conv1 (B, F, D), hook_embed, hook_pos_embed (1, F/2, D), hook_full_embed (B, F/2, D).
#pragma once

#include "clearformer/layers/context.h"
#include "clearformer/layers/convolution.h"
#include "clearformer/layers/linear.h"

namespace clearformer {

/// The sizes of an AudioEmbedding.
struct AudioEmbeddingConfig {
  std::size_t mel_bins = 80;
  std::size_t positions = 1500;  // F/2
  std::size_t d_model = 0;
};

/// Embeds the frames of a spectrogram: two convolutions and positions.
// Not inlined into what models of texts run (scripts/build/split.ts).
class AudioEmbedding {
 public:
  /// Loads "conv1", "conv2" (weights (D, in, 3) with biases) and "pos_embed.weight".
  [[gnu::noinline]] AudioEmbedding(const WeightScope& scope, const AudioEmbeddingConfig& config);

  const AudioEmbeddingConfig& config() const { return config_; }
  /// A new one.
  [[gnu::noinline]] static std::shared_ptr<const AudioEmbedding> made(
      const WeightScope& scope, const AudioEmbeddingConfig& config);

  /// The shape of x for mel (B, M, F); throws shape_mismatch if M or F differ from the config's.
  [[gnu::noinline]] Shape output_shape(const Shape& mel) const;
  [[gnu::noinline]] void forward(const TensorView& mel, const MutableTensorView& x,
                                 const Context& context) const;
  /// From d (B, F/2, D), the gradient of x, which is overwritten: d_mel (B, M, F), unless its data is null.
  void backward(const TensorView& mel, const MutableTensorView& d, const MutableTensorView& d_mel,
                const Context& context) const;
  /// Offers the hook points of a pass, with x (1, 1, D) in place of the embeddings.
  [[gnu::noinline]] void probe(const MutableTensorView& x, const Context& context) const;

 private:
  // A convolution of sequences of one length.
  struct Convolution {
    const kernels::PackedMatrix* weight;
    const Tensor* bias;
    FrameLayout layout;
    Taps taps;
  };
  Convolution first(std::size_t frames) const;
  Convolution second(std::size_t frames) const;
  void convolution_back(const Convolution& of, const TensorView& x, const TensorView& d,
                        const MutableTensorView& dx, const Context& context) const;

  AudioEmbeddingConfig config_;
  std::shared_ptr<const kernels::PackedMatrix> conv1_, conv2_;  // (D, in·3)
  Tensor bias1_, bias2_;
  Tensor positions_;  // (F/2, D)
};

}  // namespace clearformer
