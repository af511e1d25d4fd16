#include "clearformer/layers/low_rank.h"

#include "clearformer/kernels/matmul.h"

namespace clearformer {

void LowRankUpdates::forward(const float* x, float* y, std::size_t rows) const {
  for (const auto& [down, up, scale] : updates_) {
    Tensor reduced({rows, down->outputs()});
    down->multiply(x, reduced.f32(), rows, {.scale = scale});
    up->multiply(reduced.f32(), y, rows, {.residual = y, .residual_stride = up->outputs()});
  }
}

void LowRankUpdates::backward(const float* x, const float* dy, float* dx, std::size_t rows,
                              const WeightGradients* gradients, Arena& arena) const {
  for (const auto& [down, up, scale] : updates_) {
    Arena::Frame frame(arena);
    kernels::PanelGradient* of_down = gradients == nullptr ? nullptr : gradients->of(*down);
    kernels::PanelGradient* of_up = gradients == nullptr ? nullptr : gradients->of(*up);
    const MutableTensorView reduced = arena.take({rows, down->outputs()});
    if (of_up != nullptr) {
      down->multiply(x, reduced.f32(), rows, {.scale = scale});
      of_up->add_outer(dy, reduced.f32(), rows, arena);
    }
    if (dx == nullptr && of_down == nullptr) continue;
    up->multiply_transposed(dy, reduced.f32(), rows, nullptr, arena);
    for (std::size_t i = 0; i < reduced.elements(); ++i) reduced.f32()[i] *= scale;
    if (of_down != nullptr) of_down->add_outer(reduced.f32(), x, rows, arena);
    if (dx != nullptr) down->multiply_transposed(reduced.f32(), dx, rows, dx, arena);
  }
}

void LowRankUpdates::add_row(std::size_t output, float* row) const {
  for (const auto& [down, up, scale] : updates_) {
    std::vector<float> weights(up->inputs()), line(down->inputs());
    up->copy_row(output, weights.data());
    for (std::size_t r = 0; r < weights.size(); ++r) {
      down->copy_row(r, line.data());
      for (std::size_t i = 0; i < line.size(); ++i) row[i] += scale * weights[r] * line[i];
    }
  }
}

}  // namespace clearformer
