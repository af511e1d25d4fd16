// A filter along the rows and one along the columns, each in fixed point with 22 fractional bits and rounded
// to 8 bits. When an image shrinks, its filter is stretched to see all pixels it stands for:
//   out(i) = Σ_j w((j + 1/2 - c)/s)·in(j) / Σ_j w((j + 1/2 - c)/s),  c = (i + 1/2)·n/n',  s = max(n/n', 1)
// Source: Pillow's Image.resize, src/libImaging/Resample.c; nearest: Geometry.c.
#include "tools/image_resize.h"

#include <algorithm>
#include <cmath>

namespace clearformer::tools {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr int kFractionBits = 22;  // 32 less 8 for the value and 2 for filters that overshoot

double sinc(double x) { return x == 0.0 ? 1.0 : std::sin(x * kPi) / (x * kPi); }

// From this distance on the weight is 0, in pixels of the smaller image.
double support_of(Resample resample) {
  switch (resample) {
    case Resample::box: return 0.5;
    case Resample::bicubic: return 2.0;
    case Resample::lanczos: return 3.0;
    default: return 1.0;
  }
}

double bicubic_weight(double x) {  // Keys 1981 with a = -1/2
  if (x < 1.0) return (1.5 * x - 2.5) * x * x + 1.0;
  return x < 2.0 ? (((x - 5.0) * x + 8.0) * x - 4.0) * -0.5 : 0.0;
}

double weight_of(Resample resample, double x) {
  const double distance = std::abs(x);
  switch (resample) {
    case Resample::box: return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
    case Resample::hamming:  // the constants are single precision in Pillow
      if (distance == 0.0) return 1.0;
      if (distance >= 1.0) return 0.0;
      return sinc(distance) * (static_cast<double>(0.54f) + 0.46f * std::cos(distance * kPi));
    case Resample::bicubic: return bicubic_weight(distance);
    case Resample::lanczos: return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0;
    default: return std::max(0.0, 1.0 - distance);
  }
}

// The inputs that count for one output, and their weights.
struct Taps {
  std::size_t first = 0;
  std::vector<std::int32_t> weights;
};

// Rounded to the nearest, halves away from zero.
std::int32_t fixed_point(double weight) {
  return static_cast<std::int32_t>(weight * (1 << kFractionBits) + (weight < 0.0 ? -0.5 : 0.5));
}

std::vector<Taps> taps_of(std::size_t from, std::size_t to, Resample resample) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double stretch = std::max(scale, 1.0), support = support_of(resample) * stretch;
  std::vector<Taps> taps(to);
  for (std::size_t i = 0; i < to; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    taps[i].first = static_cast<std::size_t>(std::max(0.0, std::trunc(center - support + 0.5)));
    const auto end = std::min(from, static_cast<std::size_t>(center + support + 0.5));
    std::vector<double> exact;
    double sum = 0.0;
    for (std::size_t j = taps[i].first; j < end; ++j) {
      exact.push_back(
          weight_of(resample, (static_cast<double>(j) - center + 0.5) * (1.0 / stretch)));
      sum += exact.back();
    }
    for (const double weight : exact) {
      taps[i].weights.push_back(fixed_point(weight / (sum == 0.0 ? 1.0 : sum)));
    }
  }
  return taps;
}

std::uint8_t weighted(const std::uint8_t* from, std::size_t step, const Taps& taps) {
  std::int64_t sum = 1 << (kFractionBits - 1);
  for (std::size_t j = 0; j < taps.weights.size(); ++j) {
    sum += static_cast<std::int64_t>(from[(taps.first + j) * step]) * taps.weights[j];
  }
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> kFractionBits, 0, 255));
}

Image blank(std::size_t width, std::size_t height, std::size_t channels) {
  return {width, height, channels, std::vector<std::uint8_t>(width * height * channels)};
}

Image resize_rows(const Image& image, std::size_t width, Resample resample) {
  if (width == image.width) return image;
  const std::vector<Taps> taps = taps_of(image.width, width, resample);
  Image out = blank(width, image.height, image.channels);
  for (std::size_t i = 0; i < out.pixels.size(); ++i) {
    const std::size_t channel = i % image.channels, pixel = i / image.channels;
    const std::uint8_t* row = image.pixels.data() + pixel / width * image.width * image.channels;
    out.pixels[i] = weighted(row + channel, image.channels, taps[pixel % width]);
  }
  return out;
}

Image resize_columns(const Image& image, std::size_t height, Resample resample) {
  if (height == image.height) return image;
  const std::vector<Taps> taps = taps_of(image.height, height, resample);
  const std::size_t row = image.width * image.channels;
  Image out = blank(image.width, height, image.channels);
  for (std::size_t i = 0; i < out.pixels.size(); ++i) {
    out.pixels[i] = weighted(image.pixels.data() + i % row, row, taps[i / row]);
  }
  return out;
}

// Where the centre of each output pixel falls; the steps are added up, as Pillow does, and not multiplied.
std::vector<std::size_t> nearest_of(std::size_t from, std::size_t to) {
  const double step = static_cast<double>(from) / static_cast<double>(to);
  std::vector<std::size_t> picked;
  double at = step * 0.5;
  for (std::size_t i = 0; i < to; ++i, at += step) {
    picked.push_back(std::min(from - 1, static_cast<std::size_t>(at)));
  }
  return picked;
}

Image pick_nearest(const Image& image, std::size_t width, std::size_t height) {
  Image out = blank(width, height, image.channels);
  const auto columns = nearest_of(image.width, width), rows = nearest_of(image.height, height);
  std::uint8_t* to = out.pixels.data();
  for (const std::size_t y : rows) {
    for (const std::size_t x : columns) {
      to = std::copy_n(image.pixels.data() + (y * image.width + x) * image.channels, image.channels,
                       to);
    }
  }
  return out;
}

}  // namespace

Image resized(const Image& image, std::size_t width, std::size_t height, Resample resample) {
  if (resample == Resample::nearest) return pick_nearest(image, width, height);
  const auto shrinks = [](std::size_t from, std::size_t to) {
    return static_cast<double>(from) - static_cast<double>(to);
  };
  // Which comes first shows in the rounding between the two. Pillow 13 starts with the columns where that saves work;
  // before, it always started with the rows.
  const bool columns_first =
      height < image.height && shrinks(image.height, height) > 2.0 * shrinks(image.width, width);
  if (columns_first) return resize_rows(resize_columns(image, height, resample), width, resample);
  return resize_columns(resize_rows(image, width, resample), height, resample);
}

Image center_crop(const Image& image, std::size_t width, std::size_t height) {
  Image out = blank(width, height, image.channels);
  const auto half = [](std::size_t have, std::size_t want) {  // rounded down, also below 0
    const auto difference = static_cast<std::ptrdiff_t>(have) - static_cast<std::ptrdiff_t>(want);
    return difference >= 0 ? difference / 2 : -((1 - difference) / 2);
  };
  const std::ptrdiff_t top = half(image.height, height), left = half(image.width, width);
  for (std::size_t i = 0; i < width * height; ++i) {
    const std::ptrdiff_t y = static_cast<std::ptrdiff_t>(i / width) + top;
    const std::ptrdiff_t x = static_cast<std::ptrdiff_t>(i % width) + left;
    if (y < 0 || x < 0) continue;
    const auto row = static_cast<std::size_t>(y), column = static_cast<std::size_t>(x);
    if (row >= image.height || column >= image.width) continue;
    std::copy_n(image.pixels.data() + (row * image.width + column) * image.channels, image.channels,
                out.pixels.data() + i * image.channels);
  }
  return out;
}

Image with_channels(const Image& image, std::size_t channels) {
  if (image.channels == channels) return image;
  Image out = blank(image.width, image.height, channels);
  for (std::size_t i = 0; i < image.width * image.height; ++i) {
    const std::uint8_t* from = image.pixels.data() + i * image.channels;
    std::uint8_t grey = from[0];
    if (image.channels >= 3) {  // in 16 fractional bits
      grey = static_cast<std::uint8_t>(
          (from[0] * 19595 + from[1] * 38470 + from[2] * 7471 + 0x8000) >> 16);
    }
    std::fill_n(out.pixels.data() + i * channels, channels, grey);
  }
  return out;
}

}  // namespace clearformer::tools
