#include "clearformer/layers/waveform_embedding.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/kernels/matmul.h"
#include "clearformer/kernels/packed_matrix.h"
#include "clearformer/layers/convolution.h"
#include "clearformer/tensor/memory_budget.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {

constexpr std::string_view kFrameLegend = "batch pos d_model";
constexpr std::string_view kFeatureLegend = "batch pos d_features";
constexpr std::size_t kRowsAtOnce = 256;  // of gathered taps
constexpr double kConvolutionEps = 1e-5;

std::string of_convolution(std::size_t layer) { return concat("features.", layer); }

// Channels first … first + count of x (frames, width), each over all frames.
struct ChannelNorm {
  static constexpr std::size_t kAtOnce = 16;
  float* x;
  std::size_t frames, width;
  const float *weight, *bias;

  void apply(std::size_t first, std::size_t count) const {
    double mean[kAtOnce] = {}, squares[kAtOnce] = {};
    const auto over_all = [&](auto&& work) {
      for (std::size_t t = 0; t < frames; ++t) {
        float* const row = x + t * width + first;
        for (std::size_t i = 0; i < count; ++i) work(row[i], i);
      }
    };
    over_all([&](float value, std::size_t i) { mean[i] += value; });
    for (double& sum : mean) sum /= static_cast<double>(frames);
    over_all(
        [&](float value, std::size_t i) { squares[i] += (value - mean[i]) * (value - mean[i]); });
    for (double& sum : squares) {
      sum = 1.0 / std::sqrt(sum / static_cast<double>(frames) + kConvolutionEps);
    }
    over_all([&](float& value, std::size_t i) {
      const double normalized = (value - mean[i]) * squares[i];
      value = static_cast<float>(normalized * weight[first + i] + bias[first + i]);
    });
  }
};

// The rows of padded frames become zero.
void clear_padded(const MutableTensorView& x, const TensorView* mask) {
  if (mask == nullptr) return;
  const std::size_t width = x.dim(2);
  for (std::size_t row = 0; row < mask->elements(); ++row) {
    if (mask->as<std::uint8_t>()[row] != 0) continue;
    std::memset(x.f32() + row * width, 0, width * sizeof(float));
  }
}

// What each tap of v (outputs, inputs, K) is multiplied by: g / ‖v‖ over its outputs and inputs.
std::vector<float> tap_scales(const Tensor& g, const Tensor& v) {
  const std::size_t taps = g.elements();
  std::vector<double> squares(taps, 0.0);
  for (std::size_t i = 0; i < v.elements(); ++i) {
    squares[i % taps] += static_cast<double>(v.f32()[i]) * v.f32()[i];
  }
  std::vector<float> scales(taps);
  for (std::size_t k = 0; k < taps; ++k) {
    scales[k] = static_cast<float>(g.f32()[k] / std::sqrt(squares[k]));
  }
  return scales;
}

// x (T, width) from the column `first` on -> padded (T + K − 1, count), between rows of zeros, K / 2 of them before.
void pad_columns(const float* x, std::size_t length, std::size_t width, std::size_t first,
                 std::size_t taps, const MutableTensorView& padded) {
  const std::size_t count = padded.dim(1);
  std::memset(padded.data(), 0, padded.bytes());
  for (std::size_t t = 0; t < length; ++t) {
    std::memcpy(padded.f32() + (t + taps / 2) * count, x + t * width + first,
                count * sizeof(float));
  }
}

// y (outputs, N) = W · the taps of x.
void multiply_taps(const kernels::PackedMatrix& weight, const float* bias, const float* x,
                   const FrameLayout& layout, const Taps& taps, std::size_t outputs, float* y,
                   Arena& arena) {
  const Arena::Frame frame(arena);
  float* const rows = arena.take({std::min(outputs, kRowsAtOnce), weight.inputs()}).f32();
  for (std::size_t first = 0; first < outputs; first += kRowsAtOnce) {
    const std::size_t count = std::min(kRowsAtOnce, outputs - first);
    gather_taps(x + first * taps.stride * layout.frame_step, layout, taps, count, rows);
    weight.multiply(rows, y + first * weight.outputs(), count, {.bias = bias});
  }
}

}  // namespace

std::size_t WaveformEmbeddingConfig::frames(std::size_t samples) const {
  for (const Convolution& each : convolutions) {
    if (samples < each.kernel) return 0;
    samples = (samples - each.kernel) / each.stride + 1;
  }
  return samples;
}

std::uint64_t WaveformEmbeddingConfig::samples(std::size_t frames) const {
  std::uint64_t count = frames;
  for (auto each = convolutions.rbegin(); each != convolutions.rend(); ++each) {
    count = bounded_sum(bounded_product(count, each->stride), each->kernel);
  }
  return count;
}

std::uint64_t WaveformEmbeddingConfig::floats(std::size_t batch, std::size_t frames) const {
  const std::uint64_t rows = bounded_product(batch, frames);
  const std::uint64_t kept = bounded_product(rows, convolutions.back().channels + d_model);
  // Two convolutions follow one another at a time.
  std::uint64_t most = 0, count = samples(frames), before = 0, inputs = 1;
  for (const Convolution& each : convolutions) {
    count /= each.stride;
    const std::uint64_t out = bounded_product(count, each.channels);
    const std::uint64_t taps =
        std::min<std::uint64_t>(count, kRowsAtOnce) * bounded_product(inputs, each.kernel);
    most = std::max(most, bounded_sum(bounded_sum(before, out), taps));
    before = out;
    inputs = each.channels;
  }
  return bounded_sum(kept, most);
}

WaveformEmbedding::WaveformEmbedding(const WeightScope& scope,
                                     const WaveformEmbeddingConfig& config)
    : config_(config) {
  std::size_t inputs = 1;
  for (std::size_t i = 0; i < config.convolutions.size(); ++i) {
    const auto& [channels, kernel, stride] = config.convolutions[i];
    const WeightScope at = scope / of_convolution(i);
    Convolution& made = convolutions_.emplace_back();
    made.weight = take_packed_exact(at / "conv", "weight", {channels, inputs, kernel});
    if (config.bias == Bias::present) made.bias = (at / "conv").take("bias", {channels});
    if (config.norms == WaveformEmbeddingConfig::Norms::frames) {
      made.norm.emplace(at / "norm", NormConfig{NormKind::layer, {channels}, kConvolutionEps});
    } else if (i == 0) {
      channel_weight_ = (at / "norm").take("weight", {channels});
      channel_bias_ = (at / "norm").take("bias", {channels});
    }
    inputs = channels;
  }
  const WeightScope features = scope / "features", positions = scope / "pos_conv";
  if (config.feature_norm) feature_norm_.emplace(features / "ln", *config.feature_norm);
  const std::size_t width = config.d_model, taps = config.position_taps;
  projection_ = Linear(features / "proj", inputs, width, Bias::present);
  position_scale_ = positions.take("weight_g", {1, 1, taps});
  position_weight_ = positions.take("weight_v", {width, width / config.position_groups, taps});
  position_bias_ = positions.take("bias", {width});
  if (config.norm) norm_.emplace(scope / "embed.ln", *config.norm);
}

std::shared_ptr<const WaveformEmbedding> WaveformEmbedding::made(
    const WeightScope& scope, const WaveformEmbeddingConfig& config) {
  return std::make_shared<WaveformEmbedding>(scope, config);
}

Shape WaveformEmbedding::output_shape(const Shape& samples) const {
  const std::size_t frames = samples.rank() == 2 ? config_.frames(samples[1]) : 0;
  if (frames == 0 || samples[0] == 0) {
    fail(ErrorCode::shape_mismatch, "input_values of shape ", samples.text(),
         ", expected [batch, samples], ", config_.samples(1), " samples at least");
  }
  return {samples[0], frames, config_.d_model};
}

Tensor WaveformEmbedding::frame_mask(const TensorView& mask, const Shape& x) const {
  const Shape& shape = mask.shape();
  if (shape.rank() != 2 || shape[0] != x[0] || config_.frames(shape[1]) != x[1]) {
    fail(ErrorCode::shape_mismatch, "attention_mask of shape ", shape.text(),
         ", expected [batch, samples] as input_values");
  }
  Tensor frames({x[0], x[1]}, DType::u8);
  auto* const to = static_cast<std::uint8_t*>(frames.data());
  for (std::size_t row = 0; row < x[0]; ++row) {
    const std::uint8_t* const flags = mask.as<std::uint8_t>() + row * shape[1];
    const auto padding = static_cast<std::size_t>(std::count(flags, flags + shape[1], 0));
    const std::size_t heard = config_.frames(shape[1] - padding);
    if (heard == 0) {
      fail(ErrorCode::invalid_argument, "attention_mask: row ", row, " leaves ", shape[1] - padding,
           " samples, no whole frame");
    }
    for (std::size_t t = 0; t < x[1]; ++t) to[row * x[1] + t] = t < heard ? 1 : 0;
  }
  return frames;
}

void WaveformEmbedding::convolve(std::size_t layer, const float* in, std::size_t frames, float* out,
                                 Arena& arena) const {
  const Convolution& each = convolutions_[layer];
  const std::size_t channels = layer == 0 ? 1 : config_.convolutions[layer - 1].channels;
  const auto& [width, kernel, stride] = config_.convolutions[layer];
  const std::size_t outputs = (frames - kernel) / stride + 1;
  multiply_taps(*each.weight, each.bias.empty() ? nullptr : each.bias.f32(), in,
                {channels, frames, 1, channels}, {kernel, stride}, outputs, out, arena);
  const MutableTensorView rows(out, DType::f32, {outputs, width});
  if (each.norm) {
    each.norm->forward(rows, rows, {arena, TraceScope()});
  } else if (layer == 0) {
    const ChannelNorm norm{out, outputs, width, channel_weight_.f32(), channel_bias_.f32()};
    constexpr std::size_t kBlock = ChannelNorm::kAtOnce;
    parallel_for((width + kBlock - 1) / kBlock, [&, width = width](std::size_t block) {
      norm.apply(block * kBlock, std::min(kBlock, width - block * kBlock));
    });
  }
  apply(config_.activation, out, rows.elements());
}

// samples (count) -> features (T, C)
void WaveformEmbedding::extract(const float* samples, std::size_t count, float* features,
                                Arena& arena) const {
  const Arena::Frame frame(arena);
  const std::size_t last = convolutions_.size() - 1;
  std::size_t sizes[2] = {0, 0}, frames = count;  // of the results of every second convolution
  for (std::size_t i = 0; i < last; ++i) {
    const auto& [channels, kernel, stride] = config_.convolutions[i];
    frames = (frames - kernel) / stride + 1;
    sizes[i % 2] = std::max(sizes[i % 2], frames * channels);
  }
  float* const results[2] = {arena.take({sizes[0]}).f32(), arena.take({sizes[1]}).f32()};
  const float* in = samples;
  frames = count;
  for (std::size_t i = 0; i <= last; ++i) {
    float* const out = i == last ? features : results[i % 2];
    convolve(i, in, frames, out, arena);
    frames = (frames - config_.convolutions[i].kernel) / config_.convolutions[i].stride + 1;
    in = out;
  }
}

// The weights of a group's outputs, (D / groups, D / groups · K).
kernels::PackedMatrix WaveformEmbedding::position_weights(std::size_t group,
                                                          const std::vector<float>& scales) const {
  const std::size_t width = position_weight_.dim(1), taps = scales.size(), row = width * taps;
  Tensor weight = Weights::allocate({width, row}, DType::f32);
  const float* const from = position_weight_.f32() + group * width * row;
  for (std::size_t i = 0; i < width * row; ++i) weight.f32()[i] = from[i] * scales[i % taps];
  return kernels::PackedMatrix(std::move(weight));
}

// x += act(Conv_pos(x))
void WaveformEmbedding::add_positions(const MutableTensorView& x, const Context& context) const {
  Arena& arena = context.arena;
  const Arena::Frame frame(arena);
  const std::size_t length = x.dim(1), width = x.dim(2), taps = config_.position_taps;
  const std::size_t own = width / config_.position_groups;
  const std::vector<float> scales = tap_scales(position_scale_, position_weight_);
  const MutableTensorView positions = arena.take(x.shape());
  const MutableTensorView padded = arena.take({length + taps - 1, own});
  const MutableTensorView out = arena.take({length, own});
  for (std::size_t first = 0; first < width; first += own) {
    const kernels::PackedMatrix weights = position_weights(first / own, scales);
    for (std::size_t row = 0; row < x.dim(0); ++row) {
      const std::size_t at = row * length * width;
      pad_columns(x.f32() + at, length, width, first, taps, padded);
      multiply_taps(weights, position_bias_.f32() + first, padded.f32(),
                    {own, length + taps - 1, 1, own}, {taps}, length, out.f32(), arena);
      for (std::size_t t = 0; t < length; ++t) {
        std::memcpy(positions.f32() + at + t * width + first, out.f32() + t * own,
                    own * sizeof(float));
      }
    }
  }
  apply(config_.activation, positions.f32(), positions.elements());
  context.trace("hook_pos_embed", positions, kFrameLegend);
  kernels::add(x.f32(), positions.f32(), x.f32(), x.elements());
}

void WaveformEmbedding::forward(const TensorView& samples, const TensorView* mask,
                                const MutableTensorView& x, const Context& context) const {
  const Arena::Frame frame(context.arena);
  const std::size_t count = samples.dim(1), channels = config_.convolutions.back().channels;
  const MutableTensorView features = context.arena.take({x.dim(0), x.dim(1), channels});
  for (std::size_t row = 0; row < x.dim(0); ++row) {
    extract(samples.f32() + row * count, count, features.f32() + row * x.dim(1) * channels,
            context.arena);
  }
  if (feature_norm_) feature_norm_->forward(features, features, context / "features.ln");
  context.trace("hook_features", features, kFeatureLegend);
  projection_.forward(features, x);
  context.trace("hook_embed", x, kFrameLegend);
  clear_padded(x, mask);
  add_positions(x, context);
  if (norm_) norm_->forward(x, x, context / "embed.ln");
  context.trace("hook_full_embed", x, kFrameLegend);
}

void WaveformEmbedding::probe(const MutableTensorView& x, const Context& context) const {
  const Arena::Frame frame(context.arena);
  const MutableTensorView features =
      context.arena.take({1, 1, config_.convolutions.back().channels});
  std::memset(features.data(), 0, features.bytes());
  if (feature_norm_) feature_norm_->forward(features, features, context / "features.ln");
  context.trace("hook_features", features, kFeatureLegend);
  context.trace("hook_embed", x, kFrameLegend);
  context.trace("hook_pos_embed", x, kFrameLegend);
  if (norm_) norm_->forward(x, x, context / "embed.ln");
  context.trace("hook_full_embed", x, kFrameLegend);
}

}  // namespace clearformer
