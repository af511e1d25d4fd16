// Images in another size, exactly as Pillow does it.
#pragma once

#include "tools/image_file.h"

namespace clearformer::tools {

/// Pillow's numbers.
enum class Resample { nearest = 0, lanczos = 1, bilinear = 2, bicubic = 3, box = 4, hamming = 5 };

/// The image in width x height pixels, both at least 1.
Image resized(const Image& image, std::size_t width, std::size_t height, Resample resample);

/// The middle of an image; what an image that is too small lacks is 0.
Image center_crop(const Image& image, std::size_t width, std::size_t height);

/// Grey to colour, or colour to grey by ITU-R 601-2's weights.
Image with_channels(const Image& image, std::size_t channels);

}  // namespace clearformer::tools
