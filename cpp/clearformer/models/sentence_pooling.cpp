#include "clearformer/models/sentence_pooling.h"

#include <algorithm>
#include <cmath>

namespace clearformer {

namespace {

// Pools one dimension of a text's token vectors x_t, `width` floats apart, over the tokens whose flag is set.
double pooled(const float* x, std::size_t width, std::size_t length, const std::uint8_t* flags,
              PoolingMode mode) {
  double most = -1e9, last = 0.0, sum = 0.0, weights = 0.0;  // -1e9: upstream's padding
  for (std::size_t t = 0; t < length; ++t) {
    if (flags != nullptr && flags[t] == 0) continue;
    last = x[t * width];
    most = std::max(most, last);
    const double weight = mode == PoolingMode::weighted_mean ? static_cast<double>(t + 1) : 1.0;
    sum += weight * last;
    weights += weight;
  }
  switch (mode) {
    case PoolingMode::cls: return x[0];
    case PoolingMode::max: return most;
    case PoolingMode::last_token: return last;
    case PoolingMode::mean_sqrt_len: weights = std::sqrt(weights); break;
    default: break;
  }
  return sum / std::max(weights, 1e-9);
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
  if (modes.empty()) fail(ErrorCode::invalid_argument, "pooling: there is no mode");
  const Shape& shape = x.shape();
  if (shape.rank() != 3 || shape[1] == 0) {
    fail(ErrorCode::shape_mismatch, "pooling: hidden states of shape ", shape.text(),
         ", expected [batch, tokens, d_model] with at least one token");
  }
  if (mask && !(mask->shape() == Shape{shape[0], shape[1]})) {
    fail(ErrorCode::shape_mismatch, "pooling: mask of shape ", mask->shape().text(),
         ", hidden states of shape ", shape.text());
  }
  const std::size_t length = shape[1], width = shape[2], size = modes.size() * width;
  Tensor embedding({shape[0], size});  // (B, modes·D)
  for (std::size_t row = 0; row < shape[0]; ++row) {
    const std::uint8_t* flags = mask ? mask->as<std::uint8_t>() + row * length : nullptr;
    const float* tokens = x.f32() + row * length * width;
    float* to = embedding.f32() + row * size;
    for (std::size_t i = 0; i < size; ++i) {
      to[i] =
          static_cast<float>(pooled(tokens + i % width, width, length, flags, modes[i / width]));
    }
  }
  return embedding;
}

Tensor unit_vectors(const TensorView& x) {
  Tensor result = Tensor::copy_of(x);
  const std::size_t size = x.shape().rank() == 0 ? 1 : x.shape().back(0);
  for (std::size_t first = 0; first < result.elements(); first += size) {
    float* vector = result.f32() + first;
    double squares = 0.0;
    for (std::size_t i = 0; i < size; ++i) squares += static_cast<double>(vector[i]) * vector[i];
    const double norm =
        std::max(std::sqrt(squares), 1e-12);  // eps of torch.nn.functional.normalize
    for (std::size_t i = 0; i < size; ++i) vector[i] = static_cast<float>(vector[i] / norm);
  }
  return result;
}

}  // namespace clearformer
