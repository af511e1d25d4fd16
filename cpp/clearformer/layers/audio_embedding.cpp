#include "clearformer/layers/audio_embedding.h"

#include <algorithm>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/kernels/matmul.h"
#include "clearformer/layers/feed_forward.h"

namespace clearformer {

namespace {

constexpr std::size_t kKernel = 3;

std::shared_ptr<const kernels::PackedMatrix> convolution(const WeightScope& scope,
                                                         std::size_t outputs, std::size_t inputs) {
  return take_packed_exact(scope, "weight", {outputs, inputs, kKernel});
}

}  // namespace

AudioEmbedding::AudioEmbedding(const WeightScope& scope, const AudioEmbeddingConfig& config)
    : config_(config),
      conv1_(convolution(scope / "conv1", config.d_model, config.mel_bins)),
      conv2_(convolution(scope / "conv2", config.d_model, config.d_model)),
      bias1_((scope / "conv1").take("bias", {config.d_model})),
      bias2_((scope / "conv2").take("bias", {config.d_model})),
      positions_((scope / "pos_embed").take("weight", {config.positions, config.d_model})) {}

AudioEmbedding::Convolution AudioEmbedding::first(std::size_t frames) const {
  return {conv1_.get(), &bias1_, {config_.mel_bins, frames, frames, 1}, {kKernel, 1, 1}};
}

AudioEmbedding::Convolution AudioEmbedding::second(std::size_t frames) const {
  return {conv2_.get(), &bias2_, {config_.d_model, frames, 1, config_.d_model}, {kKernel, 2, 1}};
}

std::shared_ptr<const AudioEmbedding> AudioEmbedding::made(const WeightScope& scope,
                                                           const AudioEmbeddingConfig& config) {
  return std::make_shared<AudioEmbedding>(scope, config);
}

Shape AudioEmbedding::output_shape(const Shape& mel) const {
  const std::size_t frames = 2 * config_.positions;
  if (mel.rank() != 3 || mel[1] != config_.mel_bins || mel[2] != frames) {
    fail(ErrorCode::shape_mismatch, "input_features of shape ", mel.text(), ", expected [batch, ",
         config_.mel_bins, " mel bins, ", frames, " frames]");
  }
  return {mel[0], config_.positions, config_.d_model};
}

void AudioEmbedding::forward(const TensorView& mel, const MutableTensorView& x,
                             const Context& context) const {
  const std::size_t batch = mel.dim(0), bins = config_.mel_bins, frames = mel.dim(2);
  const std::size_t width = config_.d_model;
  const Convolution one = first(frames), two = second(frames);
  Arena::Frame frame(context.arena);
  const MutableTensorView hidden = context.arena.take({batch, frames, width});
  const MutableTensorView rows =
      context.arena.take({frames, std::max(bins, (width + 1) / 2) * kKernel});
  for (std::size_t row = 0; row < batch; ++row) {
    gather_taps(mel.f32() + row * bins * frames, one.layout, one.taps, frames, rows.f32());
    conv1_->multiply(rows.f32(), hidden.f32() + row * frames * width, frames,
                     {.bias = bias1_.f32()});
  }
  context.trace.keep("conv1", hidden);
  apply(Activation::gelu_erf, hidden.f32(), hidden.elements());
  context.trace("hook_conv1", hidden, "batch frame d_model");
  if (context.trace.keeps_inputs() && context.trace.edits("hook_conv1")) {
    context.trace.keep("conv1 edited", hidden);
  }
  for (std::size_t row = 0; row < batch; ++row) {
    gather_taps(hidden.f32() + row * frames * width, two.layout, two.taps, frames / 2, rows.f32());
    conv2_->multiply(rows.f32(), x.f32() + row * frames / 2 * width, frames / 2,
                     {.bias = bias2_.f32()});
  }
  context.trace.keep("conv2", x);
  apply(Activation::gelu_erf, x.f32(), x.elements());
  context.trace("hook_embed", x, "batch pos d_model");
  const MutableTensorView positions = context.arena.take({1, frames / 2, width});
  std::copy_n(positions_.f32(), positions.elements(), positions.f32());
  context.trace("hook_pos_embed", positions, "1 pos d_model");
  for (std::size_t row = 0; row < batch; ++row) {
    float* sequence = x.f32() + row * positions.elements();
    kernels::add(sequence, positions.f32(), sequence, positions.elements());
  }
  context.trace("hook_full_embed", x, "batch pos d_model");
}

void AudioEmbedding::probe(const MutableTensorView& x, const Context& context) const {
  context.trace("hook_conv1", x, "batch frame d_model");
  context.trace("hook_embed", x, "batch pos d_model");
  context.trace("hook_pos_embed", x, "1 pos d_model");
  context.trace("hook_full_embed", x, "batch pos d_model");
}

}  // namespace clearformer
