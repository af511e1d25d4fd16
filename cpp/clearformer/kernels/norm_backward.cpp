#include "clearformer/kernels/norm_backward.h"

#include "clearformer/simd/loops.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

using namespace simd::CLEARFORMER_TARGET;

namespace {

// Two matrices (rows, ·) with the same distance from row to row; b may be null.
struct Columns {
  const float *a, *b;
  std::size_t rows, stride;
};

// The sums of Count registers of columns side by side: of a row that is far from the next one, whole cache lines are used.
template <std::size_t Count, class Lanes>
inline void add_sums(const Columns& of, std::size_t first, float* to, Lanes lanes) {
  DoubleSum sums[Count];
  for (std::size_t row = 0, at = first; row < of.rows; ++row, at += of.stride) {
    for (std::size_t v = 0; v < Count; ++v) {
      const Vec value = load(of.a + at + v * kLanes, lanes);
      if (of.b == nullptr) {
        sums[v].add(value);
      } else {
        sums[v].add_product(value, load(of.b + at + v * kLanes, lanes));
      }
    }
  }
  for (std::size_t v = 0; v < Count; ++v) {
    float* const sum = to + first + v * kLanes;
    store(sum, lanes, load(sum, lanes) + sums[v].narrowed());
  }
}

}  // namespace

void add_column_sums(const float* a, const float* b, std::size_t rows, std::size_t stride,
                     std::size_t columns, float* to) {
  constexpr std::size_t kTogether = 4;
  const Columns of{a, b, rows, stride};
  std::size_t done = 0;
  for (; done + kTogether * kLanes <= columns; done += kTogether * kLanes) {
    add_sums<kTogether>(of, done, to, AllLanes{});
  }
  for_each(columns - done,
           [&](std::size_t i, auto lanes) { add_sums<1>(of, done + i, to, lanes); });
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
