// Rotary positions against the references: whole and partial heads, other bases, far and repeated
// positions, linear and Llama 3 scaling.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "clearformer/layers/rotary_embedding.h"
#include "support/closeness.h"
#include "support/fixture.h"

namespace clearformer::test {
namespace {

// (B, H, T, d) as the references have it <-> (B, T, H, d) as the layer takes it: the same swap.
Tensor swapped(const Tensor& x) {
  Tensor y({x.dim(0), x.dim(2), x.dim(1), x.dim(3)});
  for (std::size_t i = 0; i < x.elements() / x.dim(3); ++i) {
    const std::size_t inner = i % x.dim(2), outer = i / x.dim(2) % x.dim(1),
                      batch = i / x.dim(2) / x.dim(1);
    std::copy_n(x.f32() + i * x.dim(3), x.dim(3),
                y.f32() + ((batch * x.dim(2) + inner) * x.dim(1) + outer) * x.dim(3));
  }
  return y;
}

Tensor turned(const RotaryEmbedding& rotary, const Tensor& x, const Tensor& positions) {
  Arena arena;
  Tensor result = swapped(x);
  RotaryEmbedding::rotate(result, rotary.table(positions, arena));
  return swapped(result);
}

// Cosine and sine are rounded, so are the products and their sum, and the reference: five roundings of
// at most |a| + |b|.
Bound bound_for(const Tensor& x) {
  double largest = 0.0;
  for (const double value : Numbers(x).values) largest = std::max(largest, std::abs(value));
  return {gamma(5) * 2.0 * largest};
}

TEST(RotaryReferences, HalvesOfEverySizeAndPosition) {
  const Fixture fixture("rotary");
  std::size_t compared = 0;
  for (const Case* reference : fixture.of_op("rotary")) {
    if (reference->option("layout").string() != "halves") continue;
    const Tensor& x = reference->input("x");
    const RotaryEmbedding rotary({x.dim(3), *reference->option("rotary_dim").unsigned_integer(),
                                  reference->option("base").number()});
    expect_close(reference->name(), turned(rotary, x, reference->int32_input("positions")),
                 reference->output("output"), bound_for(x));
    ++compared;
  }
  EXPECT_EQ(compared, 9u);
}

TEST(RotaryReferences, LinearAndLlama3Scaling) {
  const Fixture fixture("rotary");
  for (const char* name : {"scaling_linear", "scaling_llama3", "scaling_llama3_hub"}) {
    const Case& reference = fixture.at(name);
    const Json& rope = reference.option("rope_parameters");
    RotaryScaling scaling;
    scaling.factor = rope.find("factor")->number();
    scaling.kind = RotaryScaling::Kind::linear;
    if (rope.find("rope_type")->string() == "llama3") {
      scaling.kind = RotaryScaling::Kind::llama3;
      scaling.low_freq_factor = rope.find("low_freq_factor")->number();
      scaling.high_freq_factor = rope.find("high_freq_factor")->number();
      scaling.original_max_positions = rope.find("original_max_position_embeddings")->number();
    }
    const RotaryEmbedding rotary(
        {16, 0, rope.find("rope_theta")->number(), RotaryLayout::halves, scaling});
    for (const char* side : {"query", "key"}) {
      const Tensor& x = reference.input(side);
      expect_close(concat(name, " ", side), turned(rotary, x, reference.int32_input("positions")),
                   reference.output(concat("rotated_", side)), bound_for(x));
    }
  }
}

}  // namespace
}  // namespace clearformer::test
