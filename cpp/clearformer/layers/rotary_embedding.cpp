#include "clearformer/layers/rotary_embedding.h"

#include <cmath>

#include "clearformer/kernels/rotary.h"

namespace clearformer {

namespace {

constexpr double kTau = 6.283185307179586476925286766559;

// Llama 3: long waves are slowed by `factor`, short ones kept, those between blended.
double llama3_frequency(double frequency, const RotaryScaling& scaling) {
  const double wavelength = kTau / frequency;
  if (wavelength < scaling.original_max_positions / scaling.high_freq_factor) return frequency;
  if (wavelength > scaling.original_max_positions / scaling.low_freq_factor) {
    return frequency / scaling.factor;
  }
  const double smooth = (scaling.original_max_positions / wavelength - scaling.low_freq_factor) /
                        (scaling.high_freq_factor - scaling.low_freq_factor);
  return (1.0 - smooth) * frequency / scaling.factor + smooth * frequency;
}

}  // namespace

RotaryEmbedding::RotaryEmbedding(std::size_t d_head, double base, const RotaryScaling& scaling) {
  if (d_head == 0 || d_head % 2 != 0) {
    fail(ErrorCode::invalid_argument, "rotary embedding: the head size must be even, it is ",
         d_head);
  }
  for (std::size_t i = 0; i < d_head / 2; ++i) {
    double frequency = std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(d_head));
    if (scaling.kind == RotaryScaling::Kind::linear) frequency /= scaling.factor;
    if (scaling.kind == RotaryScaling::Kind::llama3) {
      frequency = llama3_frequency(frequency, scaling);
    }
    frequencies_.push_back(frequency);
  }
}

RotaryTable RotaryEmbedding::table(TensorView positions, Arena& arena) const {
  const Shape shape{positions.dim(0), positions.dim(1), half()};
  const MutableTensorView cosines = arena.take(shape);
  const MutableTensorView sines = arena.take(shape);
  const std::int32_t* position = positions.as<std::int32_t>();
  for (std::size_t row = 0; row < positions.elements(); ++row) {
    for (std::size_t i = 0; i < half(); ++i) {
      const double angle = static_cast<double>(position[row]) * frequencies_[i];
      cosines.f32()[row * half() + i] = static_cast<float>(std::cos(angle));
      sines.f32()[row * half() + i] = static_cast<float>(std::sin(angle));
    }
  }
  return {cosines, sines};
}

void RotaryEmbedding::rotate(MutableTensorView x, const RotaryTable& table) {
  const std::size_t heads = x.dim(2), width = x.dim(3);
  const std::size_t half = table.cosines.dim(2);
  float* vector = x.f32();
  for (std::size_t row = 0; row < x.dim(0) * x.dim(1); ++row) {
    for (std::size_t head = 0; head < heads; ++head, vector += width) {
      kernels::rotate_halves(vector, table.cosines.f32() + row * half,
                             table.sines.f32() + row * half, half);
    }
  }
}

}  // namespace clearformer
