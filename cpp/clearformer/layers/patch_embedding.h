// Patch embedding: an image is cut into patches, each projected by the same weight,
//   patch(b, y·w + x) = W·image(b, :, y·p_h … y·p_h + p_h - 1, x·p_w … x·p_w + p_w - 1) + bias
// which is a convolution whose stride is its kernel. backward: as a linear layer, over the pixels of each patch.
// Patches may overlap: (y, x) begins at y·s_h, x·s_w. A spectrogram is an image with its columns, the frames, first.
// Source: Dosovitskiy et al. 2020, arXiv 2010.11929, section 3.1; torch.nn.Conv2d; overlap: Gong et al. 2021, arXiv
// 2104.01778.
// Shapes: images (B, C, H, W), spectrograms (B, W, H), weight (D, C, p_h, p_w), bias (D), patches (B, N, D) with
// N = (⌊(H - p_h)/s_h⌋ + 1)·(⌊(W - p_w)/s_w⌋ + 1), row by row.
#pragma once

#include "clearformer/kernels/packed_matrix.h"
#include "clearformer/layers/linear.h"
#include "clearformer/layers/position_interpolation.h"
#include "clearformer/tensor/arena.h"

namespace clearformer {

/// What happens to pixels at the right and bottom edges that fill no patch.
enum class Remainder {
  refuse,  // an error: part of the image would be ignored
  drop,    // they are dropped, as by torch.nn.Conv2d
};

/// The sizes of images and of their patches.
struct PatchConfig {
  std::size_t channels = 3;
  std::size_t patch_height = 16;
  std::size_t patch_width = 16;
  std::size_t d_model = 0;
  Bias bias = Bias::present;
  Remainder remainder = Remainder::refuse;
  std::size_t step_height = 0, step_width = 0;  // from patch to patch; 0: the patch's size
  bool spectrograms = false;                    // of one channel

  /// The grid of patches of an image that large; empty if it is smaller than one.
  Grid cut(std::size_t height, std::size_t width) const;
};

/// Projects each patch of an image to a vector: a convolution, usually with its kernel's size as stride.
class PatchEmbedding {
 public:
  /// Loads "weight" and, if present, "bias" of the scope.
  PatchEmbedding(const WeightScope& scope, const PatchConfig& config);

  const PatchConfig& config() const { return config_; }

  /// The grid of patches of images (B, C, H, W); throws shape_mismatch if they do not fit.
  Grid grid(const Shape& images) const;

  /// images (B, C, H, W) -> patches (B, N, D).
  void forward(const TensorView& images, const MutableTensorView& patches, Arena& arena) const;

  /// From d_patches (B, N, D): d_images (B, C, H, W), unless its data is null, and onto `gradients`, which may be null,
  /// those of weight and bias that are wanted. Pixels that belong to no patch get 0.
  void backward(const TensorView& images, const TensorView& d_patches,
                const MutableTensorView& d_images, const WeightGradients* gradients,
                Arena& arena) const;

 private:
  void gather(const float* image, const Shape& images, float* rows) const;

  PatchConfig config_;
  std::shared_ptr<const kernels::PackedMatrix> weight_;  // (D, C·p_h·p_w)
  Tensor bias_;
};

/// Prepends the same tokens (…, D) to each sequence: x (B, N, D) -> output (B, P + N, D). They are ViT's class
/// token, or DeiT's class and distillation tokens.
void prepend_tokens(const TensorView& tokens, const TensorView& x, const MutableTensorView& output);

}  // namespace clearformer
