#include "clearformer/kernels/matmul.h"

#include <gtest/gtest.h>

#include "clearformer/tensor/matrix.h"
#include "clearformer/tensor/rounding.h"
#include "support/closeness.h"
#include "support/fixture.h"
#include "support/guarded.h"
#include "support/naive_kernels.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

using naive::Floats;

struct MatmulSizes {
  std::size_t m, n, k;
};

// B (K, N) in panels, with `padding` in every column past N and between panels.
Floats packed(const Floats& b, const MatmulSizes& sizes, std::size_t panel_stride, float padding) {
  const std::size_t width = kernels::panel_width(), panels = (sizes.n + width - 1) / width;
  Floats panels_of_b(panels * panel_stride, padding);
  for (std::size_t k = 0; k < sizes.k; ++k) {
    for (std::size_t n = 0; n < sizes.n; ++n) {
      panels_of_b[n / width * panel_stride + k * width + n % width] = b[k * sizes.n + n];
    }
  }
  return panels_of_b;
}

// `rows` rows of `columns` floats spread to `stride`, with NaN between them.
Floats spread(const Floats& x, std::size_t rows, std::size_t columns, std::size_t stride) {
  Floats wide(rows * stride, Guarded::sentinel());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      wide[row * stride + column] = x[row * columns + column];
    }
  }
  return wide;
}

// The operands of a product and the kernel's result, all misaligned, with gaps between the rows.
struct Multiplication {
  Multiplication(Random& random, const MatmulSizes& sizes, bool with_bias)
      : sizes(sizes),
        a(random.list(sizes.m * sizes.k)),
        b(random.list(sizes.k * sizes.n)),
        bias(with_bias ? random.list(sizes.n) : Floats()) {}

  // C without the gaps; checks that the gaps and the surroundings are unchanged.
  Floats multiply() const {
    const std::size_t a_stride = sizes.k + 3, c_stride = sizes.n + 5;
    const std::size_t panel_stride = kernels::panel_width() * sizes.k + 7;
    Guarded left(spread(a, sizes.m, sizes.k, a_stride), 1);
    Guarded right(packed(b, sizes, panel_stride, Guarded::sentinel()), 3);
    Guarded added(bias, 2);
    Guarded out(sizes.m * c_stride, 1, Guarded::sentinel());
    kernels::MatmulArgs args;
    args.a = left.data();
    args.a_stride = a_stride;
    args.b = right.data();
    args.panel_stride = panel_stride;
    args.c = out.data();
    args.c_stride = c_stride;
    args.m = sizes.m;
    args.n = sizes.n;
    args.k = sizes.k;
    args.epilogue.bias = bias.empty() ? nullptr : added.data();
    kernels::matmul(args);
    EXPECT_TRUE(out.intact()) << "C was written outside";
    return gathered(out.values(), c_stride);
  }

  Floats gathered(const Floats& wide, std::size_t stride) const {
    Floats c;
    for (std::size_t i = 0; i < wide.size(); ++i) {
      if (i % stride < sizes.n) {
        c.push_back(wide[i]);
      } else if (std::bit_cast<std::uint32_t>(wide[i]) !=
                 std::bit_cast<std::uint32_t>(Guarded::sentinel())) {
        ADD_FAILURE() << "the gap behind row " << i / stride << " of C was written";
      }
    }
    return c;
  }

  // K products and K sums (one of them with the bias) are rounded: |error| <= γ(K + 1)·Σ|a·b|,
  // fused or not. Source: Higham, section 3.1.
  void expect_right(const Floats& c) const {
    const auto product = naive::matmul(a, b, bias, sizes.m, sizes.n, sizes.k);
    std::vector<double> bounds;
    for (const double magnitude : product.of_magnitudes) {
      bounds.push_back(gamma(static_cast<double>(sizes.k) + 1.0) * magnitude);
    }
    expect_close("C", c, product.values, bounds);
  }

  MatmulSizes sizes;
  Floats a, b, bias;
};

// All row counts up to two tiles (12 rows at most) + 1, all widths up to two panels + 1.
TEST(Matmul, EqualsTheNaiveTwinForAllSmallSizes) {
  Random random(1);
  const std::size_t widest = 2 * kernels::panel_width() + 1;
  for (std::size_t m = 0; m <= 25; ++m) {
    for (std::size_t n = 0; n <= widest; ++n) {
      for (const std::size_t k : {0u, 1u, 2u, 5u}) {
        SCOPED_TRACE(concat("M ", m, ", N ", n, ", K ", k));
        const Multiplication run(random, {m, n, k}, (m + n + k) % 2 == 0);
        run.expect_right(run.multiply());
        if (HasFailure()) return;
      }
    }
  }
}

TEST(Matmul, EqualsTheNaiveTwinForAllDepthsAndSomeLargeSizes) {
  Random random(2);
  for (std::size_t k = 0; k <= 40; ++k) {
    SCOPED_TRACE(concat("K ", k));
    const Multiplication run(random, {7, 19, k}, k % 2 == 0);
    run.expect_right(run.multiply());
  }
  for (const MatmulSizes& sizes :
       {MatmulSizes{64, 384, 96}, MatmulSizes{97, 101, 103}, MatmulSizes{1, 1000, 300},
        MatmulSizes{130, 1, 700}, MatmulSizes{13, 65, 4096}}) {
    SCOPED_TRACE(concat("M ", sizes.m, ", N ", sizes.n, ", K ", sizes.k));
    const Multiplication run(random, sizes, true);
    run.expect_right(run.multiply());
  }
}

// Halves and bytes that are widened in registers, or a panel at a time, give the bits of their floats.
TEST(Matmul, NarrowElementsGiveTheBitsOfTheirFloats) {
  Random random(9);
  const std::size_t width = kernels::panel_width(), half = width / 2;
  for (const std::size_t m : {1u, 2u, 3u, 13u}) {
    for (const std::size_t n : {std::size_t{1}, width, 2 * width + 1, 5 * width, 17 * width - 1}) {
      for (const std::size_t k : {0u, 1u, 9u, 128u}) {
        SCOPED_TRACE(concat("M ", m, ", N ", n, ", K ", k));
        const std::size_t panels = (n + width - 1) / width, stride = (k + 2) * width;
        Floats a = random.list(m * k), wide(panels * stride);
        std::vector<std::uint16_t> halves(wide.size());
        std::vector<std::int8_t> bytes(wide.size());
        Floats expected(m * n), found(m * n), workspace(k * width);
        const auto run = [&](const void* b, kernels::PanelElement element, Floats& c) {
          kernels::MatmulArgs args;
          args.a = a.data();
          args.a_stride = args.k = k;
          args.b = b;
          args.panel_stride = stride;
          args.element = element;
          args.workspace = workspace.data();
          args.c = c.data();
          args.c_stride = args.n = n;
          args.m = m;
          kernels::matmul(args);
        };
        for (std::size_t i = 0; i < wide.size(); ++i) {
          bytes[i] = static_cast<std::int8_t>(random.below(255));
          wide[i] = static_cast<float>(bytes[i]);
        }
        run(wide.data(), kernels::PanelElement::f32, expected);
        run(bytes.data(), kernels::PanelElement::i8, found);
        EXPECT_EQ(found, expected);
        for (std::size_t i = 0; i < wide.size(); ++i) {
          const std::size_t column = i % width;
          const std::size_t place = column < half ? 2 * column : 2 * (column - half) + 1;
          halves[i - column + place] = f16_from_float(wide[i] / 13.0f);
          wide[i] = float_from_f16(halves[i - column + place]);
        }
        run(wide.data(), kernels::PanelElement::f32, expected);
        run(halves.data(), kernels::PanelElement::f16, found);
        EXPECT_EQ(found, expected);
        if (HasFailure()) return;
      }
    }
  }
}

// A row's bits do not depend on the other rows: the basis of invariance under batching, caching and tracing.
TEST(Matmul, ARowHasTheSameBitsAloneAndInAnyBlock) {
  Random random(3);
  const MatmulSizes sizes{26, 2 * kernels::panel_width() + 3, 37};
  const Multiplication whole(random, sizes, true);
  const Floats all = whole.multiply();
  for (std::size_t first = 0; first < sizes.m; ++first) {
    for (std::size_t count = 1; first + count <= sizes.m; ++count) {
      Multiplication block = whole;
      block.sizes.m = count;
      block.a.assign(whole.a.begin() + static_cast<int>(first * sizes.k),
                     whole.a.begin() + static_cast<int>((first + count) * sizes.k));
      const Floats expected(all.begin() + static_cast<int>(first * sizes.n),
                            all.begin() + static_cast<int>((first + count) * sizes.n));
      expect_same_bits(concat("rows ", first, " to ", first + count), block.multiply(), expected);
    }
  }
}

// A single row reads several panels at once, and those left over one by one.
TEST(Matmul, ASingleRowHasTheSameBitsForAnyNumberOfPanels) {
  Random random(6);
  for (std::size_t panels = 1; panels <= 13; ++panels) {
    for (const std::size_t missing : {0u, 1u, 3u}) {
      const MatmulSizes sizes{2, panels * kernels::panel_width() - missing, 37};
      const Multiplication both(random, sizes, panels % 2 == 0);
      Multiplication single = both;
      single.sizes.m = 1;
      single.a.resize(sizes.k);
      Floats expected = both.multiply();
      expected.resize(sizes.n);
      expect_same_bits(concat("N ", sizes.n), single.multiply(), expected);
    }
  }
}

// A column's bits do not depend on the number of columns either.
TEST(Matmul, AColumnHasTheSameBitsForAnyWidth) {
  Random random(4);
  const MatmulSizes sizes{5, 2 * kernels::panel_width() + 3, 29};
  const Multiplication whole(random, sizes, true);
  const Floats all = whole.multiply();
  for (std::size_t n = 1; n < sizes.n; ++n) {
    Multiplication narrow = whole;
    narrow.sizes.n = n;
    narrow.bias.resize(n);
    narrow.b.clear();
    Floats expected;
    for (std::size_t k = 0; k < sizes.k; ++k) {
      for (std::size_t j = 0; j < n; ++j) narrow.b.push_back(whole.b[k * sizes.n + j]);
    }
    for (std::size_t m = 0; m < sizes.m; ++m) {
      for (std::size_t j = 0; j < n; ++j) expected.push_back(all[m * sizes.n + j]);
    }
    expect_same_bits(concat("N ", n), narrow.multiply(), expected);
  }
}

TEST(Matmul, HoldsTheBoundOnAdversarialSums) {
  const Fixture fixture("adversarial");
  const auto cases = fixture.of_op("matmul");
  ASSERT_EQ(cases.size(), 2u);
  for (const Case* reference : cases) {
    SCOPED_TRACE(reference->name());
    const Tensor &a = reference->input("input"), &b = reference->input("mat2");
    Random random(5);
    Multiplication run(random, {a.dim(0), b.dim(1), a.dim(1)}, false);
    run.a.assign(a.f32(), a.f32() + a.elements());
    run.b.assign(b.f32(), b.f32() + b.elements());
    const Floats c = run.multiply();
    run.expect_right(c);
    // The reference's own values, rounded once to float, confirm the naive twin.
    const Tensor& magnitudes = reference->output("sum_of_absolute");
    std::vector<double> bounds;
    for (std::size_t i = 0; i < magnitudes.elements(); ++i) {
      bounds.push_back(gamma(static_cast<double>(run.sizes.k) + 3.0) * magnitudes.f32()[i]);
    }
    const Numbers expected(reference->output("output"));
    expect_close("output", c, expected.values, bounds);
  }
}

TEST(Matmul, InfinitiesAndNaNsStayInTheirRowAndColumn) {
  Random random(6);
  const MatmulSizes sizes{9, 21, 11};
  Multiplication run(random, sizes, false);
  const Floats clean = run.multiply();
  run.a[4 * sizes.k + 3] = std::numeric_limits<float>::quiet_NaN();
  const Floats c = run.multiply();
  for (std::size_t i = 0; i < c.size(); ++i) {
    if (i / sizes.n == 4) {
      EXPECT_TRUE(std::isnan(c[i]));
    } else {
      EXPECT_EQ(c[i], clean[i]);
    }
  }
}

}  // namespace
}  // namespace clearformer::test
