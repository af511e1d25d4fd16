// Waveform embedding: convolutions without padding over the samples of a recording, whose frames are projected, then a
// grouped convolution of them as their positions,
//   f_0 = samples,  f_i = act(Norm(Conv_i(f_{i−1})));   e = Norm(f_n)·W + b;   x = Norm(e + act(Conv_pos(e)))
// where some of the norms are absent and e is zero at padded frames; Conv_pos has weights g_k · v_k / ‖v_k‖ for each tap k.
// Source: Baevski et al. 2020, arXiv 2006.11477, section 2; weight norm: Salimans & Kingma 2016, arXiv 1602.07868.
// Shapes: samples (B, S), T frames, f_n (B, T, C), x (B, T, D); g (1, 1, K), v (D, D / groups, K).
// Hook points: features.ln.…; hook_features (B, T, C), what is projected; hook_embed (e, before padding is hidden),
// hook_pos_embed, hook_full_embed (B, T, D); embed.ln.…
// It has no backward pass.
#pragma once

#include <vector>

#include "clearformer/layers/feed_forward.h"
#include "clearformer/layers/normalization.h"

namespace clearformer {

/// The sizes and parts of a WaveformEmbedding.
struct WaveformEmbeddingConfig {
  struct Convolution {
    std::size_t channels = 0;  // of its output
    std::size_t kernel = 1, stride = 1;
  };
  std::vector<Convolution> convolutions = {};
  Bias bias = Bias::none;  // of the convolutions of samples
  /// Their norms: each channel of the first over all frames, or each frame of all over its channels.
  enum class Norms { first_channels, frames } norms = Norms::first_channels;
  Activation activation = Activation::gelu_erf;
  std::optional<NormConfig> feature_norm = {};  // before the projection
  std::size_t d_model = 0;
  std::size_t position_taps = 0;  // K
  std::size_t position_groups = 1;
  std::optional<NormConfig> norm = {};  // at the end

  /// The frames of that many samples; 0 if they are fewer than a frame has.
  std::size_t frames(std::size_t samples) const;
  /// At least the samples of that many frames.
  std::uint64_t samples(std::size_t frames) const;
  /// At least the floats that forward() takes for sequences of that many frames, beside its result.
  [[gnu::noinline]] std::uint64_t floats(std::size_t batch, std::size_t frames) const;
};

/// Embeds the samples of recordings.
// Not inlined into what models of texts run (scripts/build/split.ts).
class WaveformEmbedding {
 public:
  /// Loads "features.{i}.conv", "features.{i}.norm", "features.ln", "features.proj", "pos_conv" and "embed.ln".
  [[gnu::noinline]] WaveformEmbedding(const WeightScope& scope,
                                      const WaveformEmbeddingConfig& config);

  /// A new one.
  [[gnu::noinline]] static std::shared_ptr<const WaveformEmbedding> made(
      const WeightScope& scope, const WaveformEmbeddingConfig& config);

  /// The shape of x for samples (B, S); throws shape_mismatch for fewer than a frame has.
  [[gnu::noinline]] Shape output_shape(const Shape& samples) const;
  /// From mask (B, S) uint8, 0 = padding, that of the frames (B, T): the first of each row are those of as many samples as
  /// are not padding. Throws shape_mismatch for another batch or number of frames than x has, invalid_argument for a row
  /// without a frame.
  [[gnu::noinline]] Tensor frame_mask(const TensorView& mask, const Shape& x) const;
  /// mask: that of the frames, or null.
  [[gnu::noinline]] void forward(const TensorView& samples, const TensorView* mask,
                                 const MutableTensorView& x, const Context& context) const;
  /// Offers the hook points of a pass, with x (1, 1, D) in place of the embeddings.
  [[gnu::noinline]] void probe(const MutableTensorView& x, const Context& context) const;

 private:
  struct Convolution {
    std::shared_ptr<const kernels::PackedMatrix> weight;  // (C, inputs·K)
    Tensor bias;
    std::optional<Normalization> norm;
  };
  void convolve(std::size_t layer, const float* in, std::size_t frames, float* out,
                Arena& arena) const;
  void extract(const float* samples, std::size_t count, float* features, Arena& arena) const;
  kernels::PackedMatrix position_weights(std::size_t group, const std::vector<float>& scales) const;
  void add_positions(const MutableTensorView& x, const Context& context) const;

  WaveformEmbeddingConfig config_;
  std::vector<Convolution> convolutions_;
  std::optional<Normalization> feature_norm_, norm_;
  Linear projection_;
  Tensor channel_weight_, channel_bias_;                     // of Norms::first_channels
  Tensor position_scale_, position_weight_, position_bias_;  // g, v, (D)
};

}  // namespace clearformer
