#include "clearformer/models/logit_directions.h"

#include <vector>

namespace clearformer {

namespace {

double dot(const float* a, const Tensor& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < b.elements(); ++i) sum += static_cast<double>(a[i]) * b.f32()[i];
  return sum;
}

// The weights of a token's logit over the normalized residual stream.
void unpack_direction(const Linear& output, const Linear* before, std::size_t token,
                      float* direction) {
  if (before == nullptr) return output.unpack_row(token, direction);
  std::vector<float> weights(output.in_features()), row(before->in_features());
  std::vector<double> sums(row.size(), 0.0);
  output.unpack_row(token, weights.data());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    before->unpack_row(i, row.data());
    for (std::size_t d = 0; d < row.size(); ++d) sums[d] += double{weights[i]} * row[d];
  }
  for (std::size_t d = 0; d < sums.size(); ++d) direction[d] = static_cast<float>(sums[d]);
}

}  // namespace

Directions logit_directions(const Tower& tower, const OutputLayer& output,
                            const TensorView& tokens) {
  const Normalization* norm = tower.final_norm();
  const OutputConfig& config = output.config();
  if (norm == nullptr || config.softcap > 0.0f) {
    fail(ErrorCode::unsupported, "logits are no sum of shares here: ",
         norm == nullptr ? "no norm comes before the output layer" : "they are capped");
  }
  const std::size_t count = tokens.elements(), width = tower.config().d_model();
  const Linear& projection = output.projection();
  Directions result{Tensor({count, width}), Tensor({count})};
  for (std::size_t n = 0; n < count; ++n) {
    const std::int32_t token = tokens.as<std::int32_t>()[n];
    if (token < 0 || static_cast<std::size_t>(token) >= config.vocabulary) {
      fail(ErrorCode::invalid_argument, "token ", token, " of a vocabulary of ", config.vocabulary);
    }
    float* const direction = result.vectors.f32() + n * width;
    unpack_direction(projection, tower.projection(), static_cast<std::size_t>(token), direction);
    double bias = norm->bias().empty() ? 0.0 : dot(direction, norm->bias());
    if (!projection.bias().empty()) bias += projection.bias().f32()[token];
    result.bias.f32()[n] = config.scale * static_cast<float>(bias);
    for (std::size_t d = 0; d < width; ++d) {
      direction[d] *= config.scale * (norm->weight().empty() ? 1.0f : norm->weight().f32()[d]);
    }
  }
  return result;
}

Directions head_directions(const Tower& tower, std::size_t layer, KeyRole keys,
                           const TensorView& directions) {
  const StackConfig& stack = tower.config().stack;
  if (layer >= stack.layers) {
    fail(ErrorCode::invalid_argument, "layer ", layer, " of ", stack.layers, " layers");
  }
  const NormOrder order = stack.block.order;
  if (order == NormOrder::both || order == NormOrder::post || order == NormOrder::behind) {
    fail(ErrorCode::unsupported, "what a head adds passes a norm first: it has no share by itself");
  }
  if (keys == KeyRole::memory && !tower.config().cross_attention) {
    fail(ErrorCode::unsupported, "this model has no cross-attention");
  }
  const MultiHeadAttention& attention = tower.attention(layer, keys);
  const Linear& output = attention.output();
  if (directions.shape().rank() != 2 || directions.dim(1) != output.out_features()) {
    fail(ErrorCode::shape_mismatch, "directions of shape ", directions.shape().text(),
         ", expected [count, ", output.out_features(), "]");
  }
  const std::size_t count = directions.dim(0), width = output.in_features();
  const std::size_t heads = attention.config().num_heads;
  Directions result{Tensor({count, heads, width / heads}), Tensor::zeros({count})};
  std::vector<double> sums(count * width, 0.0);
  Tensor row({width});
  for (std::size_t d = 0; d < output.out_features(); ++d) {
    output.unpack_row(d, row.f32());
    for (std::size_t n = 0; n < count; ++n) {
      const double share = stack.block.residual_scale * directions.f32()[n * directions.dim(1) + d];
      for (std::size_t i = 0; i < width; ++i) sums[n * width + i] += share * row.f32()[i];
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    result.vectors.f32()[i] = static_cast<float>(sums[i]);
  }
  for (std::size_t n = 0; n < count && !output.bias().empty(); ++n) {
    const float* direction = directions.f32() + n * directions.dim(1);
    result.bias.f32()[n] =
        stack.block.residual_scale * static_cast<float>(dot(direction, output.bias()));
  }
  return result;
}

}  // namespace clearformer
