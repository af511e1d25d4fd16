// ImageProcessor: what a checkpoint's preprocessor_config.json makes of an image before the model sees it.
// Source: transformers' ViTImageProcessor, DeiTImageProcessor, CLIPImageProcessor.
#pragma once

#include <optional>
#include <string_view>

#include "clearformer/tensor/tensor.h"
#include "clearformer/weights/config_reader.h"
#include "tools/image_resize.h"

namespace clearformer::tools {

class ImageProcessor {
 public:
  /// `model_type` tells the processor's type where the file does not. Throws unsupported, by name, for a
  /// type or an option this does not have, malformed_config for values that are none.
  ImageProcessor(std::string_view preprocessor, std::string_view model_type);

  /// (1, C, H, W) in float32: converted, resized, cropped, rescaled, normalised.
  Tensor pixel_values(const Image& image, std::size_t channels) const;

 private:
  struct Size {
    std::size_t height = 0, width = 0;
    std::size_t shortest_edge = 0;  // > 0: the other edge keeps the ratio
  };
  struct Defaults;

  static const Defaults& defaults_of(const ConfigReader& config, std::string_view model_type);
  static Size read_size(const ConfigReader& config, std::string_view key, bool square, Size usual);
  Image framed(const Image& image) const;

  std::optional<Size> resize_;
  Resample resample_ = Resample::bilinear;
  std::optional<Size> crop_;
  double rescale_ = 1.0;
  std::vector<double> mean_, deviation_;  // one for each channel or one for all; empty: none
};

}  // namespace clearformer::tools
