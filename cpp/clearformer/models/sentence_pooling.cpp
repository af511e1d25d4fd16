#include "clearformer/models/sentence_pooling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "clearformer/layers/gradient.h"

namespace clearformer {

namespace {

constexpr double kLeastLength = 1e-12;

constexpr float kPadding = -std::numeric_limits<float>::infinity();  // the largest of no numbers

// As torch.max has it: a NaN exceeds all numbers.
bool exceeds(float value, float most) {
  return value > most || (std::isnan(value) && !std::isnan(most));
}

// Of one dimension of a text's token vectors x_t, `width` floats apart: the weights with which the tokens whose flag is set
// are summed, and what the sum is divided by. A single token has the weight 1; cls of a text without tokens is the first.
double weigh(const float* x, std::size_t width, std::size_t length, const std::uint8_t* flags,
             PoolingMode mode, double* weights) {
  const bool sums = mode > PoolingMode::max && mode < PoolingMode::last_token;
  double* one = nullptr;
  float most = kPadding;
  double total = 0.0;
  for (std::size_t t = 0; t < length; ++t) {
    weights[t] = 0.0;
    if (flags != nullptr && flags[t] == 0) continue;
    if (sums) {
      weights[t] = mode == PoolingMode::weighted_mean ? static_cast<double>(t + 1) : 1.0;
      total += weights[t];
    } else if (mode == PoolingMode::cls
                   ? one == nullptr
                   : mode == PoolingMode::last_token || exceeds(x[t * width], most)) {
      most = x[t * width];
      one = weights + t;
    }
  }
  if (one == nullptr && mode == PoolingMode::cls) one = weights;
  if (one != nullptr) *one = 1.0;
  if (!sums) return 1.0;
  if (mode == PoolingMode::mean_sqrt_len) total = std::sqrt(total);
  return std::max(total, 1e-9);
}

void expect_tokens(const Shape& shape, const std::optional<TensorView>& mask,
                   std::span<const PoolingMode> modes) {
  if (modes.empty()) fail(ErrorCode::invalid_argument, "pooling: there is no mode");
  if (shape.rank() != 3 || shape[1] == 0) {
    fail(ErrorCode::shape_mismatch, "pooling: hidden states of shape ", shape.text(),
         ", expected [batch, tokens, d_model] with at least one token");
  }
  if (mask && !(mask->shape() == Shape{shape[0], shape[1]})) {
    fail(ErrorCode::shape_mismatch, "pooling: mask of shape ", mask->shape().text(),
         ", hidden states of shape ", shape.text());
  }
}

// The length of a vector, at least the eps of torch.nn.functional.normalize.
double length_of(const float* vector, std::size_t size) {
  double squares = 0.0;
  for (std::size_t i = 0; i < size; ++i) squares += static_cast<double>(vector[i]) * vector[i];
  return std::max(std::sqrt(squares), kLeastLength);
}

}  // namespace

std::optional<PoolingMode> pooling_mode_named(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "last_token"};
  const auto found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<PoolingMode>(found - std::begin(kNames));
}

Tensor sentence_pooling(const TensorView& x, const std::optional<TensorView>& mask,
                        std::span<const PoolingMode> modes) {
  const Shape& shape = x.shape();
  expect_tokens(shape, mask, modes);
  const std::size_t length = shape[1], width = shape[2], size = modes.size() * width;
  Tensor embedding({shape[0], size});  // (B, modes·D)
  std::vector<double> weights(length);
  for (std::size_t row = 0; row < shape[0]; ++row) {
    const std::uint8_t* flags = mask ? mask->as<std::uint8_t>() + row * length : nullptr;
    for (std::size_t i = 0; i < size; ++i) {
      const PoolingMode mode = modes[i / width];
      const float* x_t = x.f32() + row * length * width + i % width;
      const double divisor = weigh(x_t, width, length, flags, mode, weights.data());
      double sum = 0.0;
      bool any = false;
      for (std::size_t t = 0; t < length; ++t) {
        if (weights[t] == 0.0) continue;  // padding may be anything
        sum += weights[t] * x_t[t * width];
        any = true;
      }
      if (!any && mode == PoolingMode::max) sum = static_cast<double>(kPadding);
      embedding.f32()[row * size + i] = static_cast<float>(sum / divisor);
    }
  }
  return embedding;
}

Tensor sentence_pooling_backward(const TensorView& x, const std::optional<TensorView>& mask,
                                 std::span<const PoolingMode> modes,
                                 const TensorView& d_embedding) {
  const Shape& shape = x.shape();
  expect_tokens(shape, mask, modes);
  const std::size_t length = shape[1], width = shape[2], size = modes.size() * width;
  const TensorView d = expect_gradient(d_embedding, {shape[0], size});
  Tensor dx = Tensor::zeros(shape);
  std::vector<double> weights(length);
  for (std::size_t i = 0; i < d.elements(); ++i) {
    const std::size_t row = i / size, first = row * length * width + i % width;
    const std::uint8_t* flags = mask ? mask->as<std::uint8_t>() + row * length : nullptr;
    const double share = d.f32()[i] / weigh(x.f32() + first, width, length, flags,
                                            modes[i % size / width], weights.data());
    for (std::size_t t = 0; t < length; ++t) {
      dx.f32()[first + t * width] += static_cast<float>(share * weights[t]);
    }
  }
  return dx;
}

Tensor unit_vectors(const TensorView& x) {
  Tensor result = Tensor::copy_of(x);
  const std::size_t size = x.shape().rank() == 0 ? 1 : x.shape().back(0);
  for (std::size_t first = 0; first < result.elements(); first += size) {
    float* vector = result.f32() + first;
    const double norm = length_of(vector, size);
    for (std::size_t i = 0; i < size; ++i) vector[i] = static_cast<float>(vector[i] / norm);
  }
  return result;
}

Tensor unit_vectors_backward(const TensorView& x, const TensorView& d_unit) {
  const TensorView all = expect_gradient(d_unit, x.shape());
  Tensor dx(x.shape());
  const std::size_t size = x.shape().rank() == 0 ? 1 : x.shape().back(0);
  for (std::size_t first = 0; first < dx.elements(); first += size) {
    const float* const vector = x.f32() + first;
    const float* const d = all.f32() + first;
    const double norm = length_of(vector, size);
    double along = 0.0;
    for (std::size_t i = 0; i < size; ++i) along += static_cast<double>(vector[i]) * d[i];
    if (norm == kLeastLength) along = 0.0;  // a constant
    for (std::size_t i = 0; i < size; ++i) {
      dx.f32()[first + i] = static_cast<float>((d[i] - vector[i] * along / (norm * norm)) / norm);
    }
  }
  return dx;
}

}  // namespace clearformer
