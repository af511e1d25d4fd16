#include <algorithm>
#include <cstring>

#include "clearformer/layers/audio_embedding.h"
#include "clearformer/layers/convolution.h"
#include "clearformer/layers/feed_forward.h"

namespace clearformer {

// From d (B, F', D), the gradient of a convolution's output: that of its input, unless its data is null, and of its
// weights.
void AudioEmbedding::convolution_back(const Convolution& of, const TensorView& x,
                                      const TensorView& d, const MutableTensorView& dx,
                                      const Context& context) const {
  const std::size_t batch = d.dim(0), outputs = d.dim(1), width = d.dim(2);
  const std::size_t sequence = of.layout.channels * of.layout.frames;
  WeightGradients* const weights = context.trace.weights();
  kernels::PanelGradient* const sums = weights == nullptr ? nullptr : weights->of(*of.weight);
  float* const of_bias = weights == nullptr ? nullptr : weights->of(*of.bias);
  if (of_bias != nullptr) add_sum_of_rows(d.f32(), nullptr, batch * outputs, width, of_bias);
  Arena::Frame frame(context.arena);
  float* const rows = context.arena.take({outputs, of.weight->inputs()}).f32();
  const bool wanted = dx.data() != nullptr;
  if (wanted) std::memset(dx.data(), 0, dx.bytes());
  for (std::size_t row = 0; row < batch; ++row) {
    const float* const from = d.f32() + row * outputs * width;
    if (sums != nullptr) {
      gather_taps(x.f32() + row * sequence, of.layout, of.taps, outputs, rows);
      sums->add_outer(from, rows, outputs, context.arena);
    }
    if (!wanted) continue;
    of.weight->multiply_transposed(from, rows, outputs, nullptr, context.arena);
    scatter_taps(rows, of.layout, of.taps, outputs, dx.f32() + row * sequence);
  }
}

void AudioEmbedding::backward(const TensorView& mel, const MutableTensorView& d,
                              const MutableTensorView& d_mel, const Context& context) const {
  constexpr std::string_view kAudioGradient = "batch pos d_model";
  const TraceScope& trace = context.trace;
  Arena::Frame frame(context.arena);
  trace.back("hook_full_embed", d, kAudioGradient);
  const MutableTensorView positions = context.arena.take({1, d.dim(1), d.dim(2)});
  std::memset(positions.data(), 0, positions.bytes());
  add_sum_of_rows(d.f32(), nullptr, d.dim(0), positions.elements(), positions.f32());
  trace.back("hook_pos_embed", positions, "1 pos d_model");
  WeightGradients* const weights = trace.weights();
  if (float* const sums = weights == nullptr ? nullptr : weights->of(positions_)) {
    for (std::size_t i = 0; i < positions.elements(); ++i) sums[i] += positions.f32()[i];
  }
  trace.back("hook_embed", d, kAudioGradient);
  apply_derivative(Activation::gelu_erf, trace.kept("conv2").f32(), d.f32(), d.elements());
  const TensorView first = trace.kept("conv1");
  const MutableTensorView hidden = context.arena.take(first.shape());
  const MutableTensorView d_hidden = context.arena.take(first.shape());
  if (weights != nullptr) {
    if (trace.has_kept("conv1 edited")) {
      std::memcpy(hidden.data(), trace.kept("conv1 edited").data(), hidden.bytes());
    } else {
      std::memcpy(hidden.data(), first.data(), hidden.bytes());
      apply(Activation::gelu_erf, hidden.f32(), hidden.elements());
    }
  }
  convolution_back(second(mel.dim(2)), hidden, d, d_hidden, context);
  trace.back("hook_conv1", d_hidden, "batch frame d_model");
  apply_derivative(Activation::gelu_erf, first.f32(), d_hidden.f32(), d_hidden.elements());
  convolution_back(this->first(mel.dim(2)), mel, d_hidden, d_mel, context);
}

}  // namespace clearformer
