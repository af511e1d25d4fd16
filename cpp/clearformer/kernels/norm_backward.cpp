#include "clearformer/kernels/norm_backward.h"

#include "clearformer/simd/loops.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

void add_column_sums(const float* a, const float* b, std::size_t rows, std::size_t stride,
                     std::size_t columns, float* to) {
  for_each(columns, [&](std::size_t i, auto lanes) {
    DoubleSum sum;
    for (std::size_t row = 0; row < rows; ++row) {
      const Vec value = load(a + row * stride + i, lanes);
      if (b == nullptr) {
        sum.add(value);
      } else {
        sum.add_product(value, load(b + row * stride + i, lanes));
      }
    }
    store(to + i, lanes, load(to + i, lanes) + sum.narrowed());
  });
}

void norm_scale_gradient(const float* dn, const float* n, const float* scale, float* out,
                         std::size_t rows, std::size_t columns) {
  for (std::size_t row = 0; row < rows; ++row, dn += columns, n += columns) {
    DoubleSum sum;
    for_each(columns, [&](std::size_t i, auto lanes) {
      sum.add_product(load(dn + i, lanes), load(n + i, lanes));
    });
    out[row] = static_cast<float>(-sum.total() / static_cast<double>(scale[row]));
  }
}

void norm_input_gradient(const NormInputGradient& args) {
  const std::size_t columns = args.columns;
  for (std::size_t row = 0; row < args.rows; ++row) {
    const float* dn = args.dn + row * columns;
    const float* n = args.n + row * columns;
    float* dx = args.dx + row * columns;
    const double scale = args.scale[row], count = static_cast<double>(columns);
    const double share = args.dscale[row] * scale / (count * args.computed[row]);
    const Vec by(static_cast<float>(1.0 / scale)), of_n(static_cast<float>(share));
    const auto centered = [&](std::size_t i, auto lanes) {
      return multiply_add(load(dn + i, lanes), by, load(n + i, lanes) * of_n);
    };
    DoubleSum sum;
    if (args.centered) {
      for_each(columns, [&](std::size_t i, auto lanes) { sum.add(centered(i, lanes)); });
    }
    const Vec mean(static_cast<float>(sum.total() / count));
    for_each(columns, [&](std::size_t i, auto lanes) {
      const Vec value = centered(i, lanes) - mean;
      store(dx + i, lanes, args.onto ? load(dx + i, lanes) + value : value);
    });
  }
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
