// Convolution over the frames of a sequence, as a matrix product:
//   y(o, t) = b(o) + Σ_c Σ_j W(o, c, j) · x(c, t·stride + j·dilation - padding), zeros beyond the edges
// Source: torch.nn.functional.conv1d. Implemented as im2col: the taps of each output frame form a row, (F', C·K).
#pragma once

#include <cstddef>

namespace clearformer {

/// Number and places of a convolution's taps, in frames.
struct Taps {
  std::size_t count = 1;  // K
  std::size_t stride = 1;
  std::size_t padding =
      0;  // zeros before the first frame; those after the last follow from the frames
  std::size_t dilation = 1;
};

/// The strides of one sequence's elements (channel, frame).
struct FrameLayout {
  std::size_t channels, frames, channel_step, frame_step;
};

/// rows (outputs, C·K): for each output frame the inputs it sums, by channel and then by tap.
inline void gather_taps(const float* x, const FrameLayout& layout, const Taps& taps,
                        std::size_t outputs, float* rows) {
  for (std::size_t output = 0; output < outputs; ++output) {
    for (std::size_t channel = 0; channel < layout.channels; ++channel) {
      for (std::size_t tap = 0; tap < taps.count; ++tap) {
        const std::size_t at = output * taps.stride + tap * taps.dilation;
        const bool inside = at >= taps.padding && at - taps.padding < layout.frames;
        *rows++ = inside
                      ? x[channel * layout.channel_step + (at - taps.padding) * layout.frame_step]
                      : 0.0f;
      }
    }
  }
}

/// The backward pass of gather_taps(): adds the gradient of each tap to that of its input in dx.
inline void scatter_taps(const float* rows, const FrameLayout& layout, const Taps& taps,
                         std::size_t outputs, float* dx) {
  for (std::size_t output = 0; output < outputs; ++output) {
    for (std::size_t channel = 0; channel < layout.channels; ++channel) {
      for (std::size_t tap = 0; tap < taps.count; ++tap, ++rows) {
        const std::size_t at = output * taps.stride + tap * taps.dilation;
        if (at < taps.padding || at - taps.padding >= layout.frames) continue;
        dx[channel * layout.channel_step + (at - taps.padding) * layout.frame_step] += *rows;
      }
    }
  }
}

}  // namespace clearformer
