#include <algorithm>
#include <cstring>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/kernels/norm.h"
#include "clearformer/kernels/norm_backward.h"
#include "clearformer/layers/normalization.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {

constexpr std::size_t kWorkOfNorm = 8;  // per element, in multiply-adds of a matrix product

}  // namespace

void Normalization::backward_weights(const Kept& kept, const TensorView& dout,
                                     const MutableTensorView& dn,
                                     const WeightGradients* gradients) const {
  // A weight for each head is one of all heads' features.
  const std::size_t features = config_.shape.elements() * std::max<std::size_t>(1, config_.heads);
  const std::size_t rows = dout.elements() / features;
  if (gradients != nullptr) {
    if (float* sums = gradients->of(weight_)) {
      add_sum_of_rows(dout.f32(), kept.used.f32(), rows, features, sums);
    }
    if (float* sums = gradients->of(bias_)) {
      add_sum_of_rows(dout.f32(), nullptr, rows, features, sums);
    }
  }
  const float* const weight = weight_.empty() ? nullptr : weight_.f32();
  parallel_ranges(rows, features, 1, [&](std::size_t first, std::size_t end) {
    const std::size_t at = first * features;
    kernels::scale_shift_rows(dout.f32() + at, weight, nullptr, dn.f32() + at, end - first,
                              features);
  });
}

void Normalization::backward_scale(const Kept& kept, const TensorView& dn,
                                   const MutableTensorView& ds) const {
  const std::size_t features = config_.shape.elements();
  parallel_ranges(ds.elements(), kWorkOfNorm * features, 1,
                  [&](std::size_t first, std::size_t end) {
                    const std::size_t at = first * features;
                    kernels::norm_scale_gradient(dn.f32() + at, kept.normalized.f32() + at,
                                                 kept.used_scale.f32() + first, ds.f32() + first,
                                                 end - first, features);
                  });
}

void Normalization::backward_input(const Kept& kept, const TensorView& dn, const TensorView& ds,
                                   const MutableTensorView& dx, Write write) const {
  const std::size_t features = config_.shape.elements();
  parallel_ranges(
      ds.elements(), kWorkOfNorm * features, 1, [&](std::size_t first, std::size_t end) {
        const std::size_t at = first * features;
        kernels::norm_input_gradient({dn.f32() + at, kept.normalized.f32() + at, ds.f32() + first,
                                      kept.used_scale.f32() + first, kept.scale.f32() + first,
                                      dx.f32() + at, end - first, features,
                                      config_.kind == NormKind::layer, write == Write::onto});
      });
}

void Normalization::backward(const Kept& kept, const TensorView& dout, const MutableTensorView& dx,
                             Write write, const WeightGradients* gradients, Arena& arena) const {
  if (config_.kind == NormKind::none) {
    if (write == Write::onto) {
      kernels::add(dx.f32(), dout.f32(), dx.f32(), dx.elements());
    } else if (dx.f32() != dout.f32()) {
      std::memcpy(dx.f32(), dout.f32(), dout.bytes());
    }
    return;
  }
  const Arena::Frame frame(arena);
  const MutableTensorView dn = arena.take(dout.shape());
  const MutableTensorView ds = arena.take(kept.scale.shape());
  backward_weights(kept, dout, dn, gradients);
  backward_scale(kept, dn, ds);
  backward_input(kept, dn, ds, dx, write);
}

}  // namespace clearformer
