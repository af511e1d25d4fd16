#include "clearformer/layers/gated_delta_rule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "clearformer/layers/delta_state.h"
#include "support/closeness.h"
#include "support/differences.h"
#include "support/layer_weights.h"
#include "support/mixers.h"

namespace clearformer::test {
namespace {

constexpr std::size_t kTexts = 2, kLength = 7, kWidth = 6, kRepeats = 2;
constexpr GatedDeltaConfig kDelta{kWidth, 2, 2 * kRepeats, 3, 5, 3, 1e-5};

double silu(double x) { return x / (1.0 + std::exp(-x)); }

// The layer, its weights, and inputs of which the first two positions of row 1 are padded.
struct GivenDelta {
  GivenDelta() {
    qkv = weights.add("qkv_proj.weight", {kDelta.channels(), kWidth});
    z = weights.add("z_proj.weight", {kDelta.value_heads * kDelta.d_value, kWidth});
    b = weights.add("b_proj.weight", {kDelta.value_heads, kWidth});
    a = weights.add("a_proj.weight", {kDelta.value_heads, kWidth});
    filters = weights.add("conv.weight", {kDelta.channels(), 1, kDelta.taps});
    a_log = weights.add("A_log", {kDelta.value_heads});
    dt = weights.add("dt_bias", {kDelta.value_heads});
    norm = weights.add("norm.weight", {kDelta.d_value});
    out = weights.add("out_proj.weight", {kWidth, kDelta.value_heads * kDelta.d_value});
    layer.emplace(weights.scope(), kDelta);
    weights.check();
    parameters = weights.take_parameters();
    for (std::size_t i = 0; i < kTexts * kLength; ++i) {
      mask.mutable_view().as<std::uint8_t>()[i] = i == kLength || i == kLength + 1 ? 0 : 1;
    }
  }

  static std::vector<double> product(const std::vector<double>& in, const Tensor& weight) {
    const std::size_t inputs = weight.dim(1), outputs = weight.dim(0), rows = in.size() / inputs;
    std::vector<double> result(rows * outputs, 0.0);
    for (std::size_t i = 0; i < result.size(); ++i) {
      for (std::size_t k = 0; k < inputs; ++k) {
        result[i] += in[i / outputs * inputs + k] * weight.f32()[i % outputs * inputs + k];
      }
    }
    return result;
  }

  static void to_length(double* x, double length) {
    double squares = 1e-6;
    for (std::size_t i = 0; i < kDelta.d_key; ++i) squares += x[i] * x[i];
    for (std::size_t i = 0; i < kDelta.d_key; ++i) x[i] *= length / std::sqrt(squares);
  }

  // silu of the convolution of the projections, (texts, length, channels).
  std::vector<double> mixed(const std::vector<double>& in) const {
    const std::vector<double> projected = product(in, qkv);
    const std::size_t channels = kDelta.channels();
    std::vector<double> result(projected.size(), 0.0);
    for (std::size_t i = 0; i < result.size(); ++i) {
      const std::size_t t = i / channels % kLength;
      for (std::size_t tap = 0; tap < kDelta.taps; ++tap) {
        const std::size_t back = kDelta.taps - 1 - tap;
        if (t < back) continue;
        result[i] +=
            filters.f32()[i % channels * kDelta.taps + tap] * projected[i - back * channels];
      }
      result[i] = silu(result[i]);
    }
    return result;
  }

  // One head of one text, from its rows of q, k and v: the results (length, d_value).
  std::vector<double> recurred(std::vector<double> rows, std::size_t head, const double* of_b,
                               const double* of_a) const {
    const std::size_t channels = kDelta.channels(), keys = kDelta.d_key, values = kDelta.d_value;
    const std::size_t from = head / kRepeats * keys, all_keys = kDelta.key_heads * keys;
    std::vector<double> s(keys * values, 0.0), result(kLength * values, 0.0);
    for (std::size_t t = 0; t < kLength; ++t) {
      double* const q = rows.data() + t * channels + from;
      double* const k = q + all_keys;
      const double* const v = rows.data() + t * channels + 2 * all_keys + head * values;
      to_length(q, 1.0 / std::sqrt(static_cast<double>(keys)));
      to_length(k, 1.0);
      const std::size_t at = t * kDelta.value_heads + head;
      const double beta = 1.0 / (1.0 + std::exp(-of_b[at]));
      const double step = std::log1p(std::exp(of_a[at] + dt.f32()[head]));
      for (double& number : s) number *= std::exp(-std::exp(a_log.f32()[head]) * step);
      for (std::size_t column = 0; column < values; ++column) {
        double read = 0.0;
        for (std::size_t i = 0; i < keys; ++i) read += s[i * values + column] * k[i];
        for (std::size_t i = 0; i < keys; ++i) {
          s[i * values + column] += k[i] * beta * (v[column] - read);
          result[t * values + column] += s[i * values + column] * q[i];
        }
      }
    }
    return result;
  }

  // The formula at the top of the header, as loops.
  std::vector<double> naive() const {
    std::vector<double> in = doubles_of(x);
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (mask.view().as<std::uint8_t>()[i / kWidth] == 0) in[i] = 0.0;
    }
    const std::vector<double> rows = mixed(in), gate = product(in, z), of_b = product(in, b),
                              of_a = product(in, a);
    const std::size_t heads = kDelta.value_heads, values = kDelta.d_value;
    std::vector<double> result(gate.size());
    for (std::size_t text = 0; text < kTexts; ++text) {
      const auto first =
          rows.begin() + static_cast<std::ptrdiff_t>(text * kLength * kDelta.channels());
      const std::vector<double> own(
          first, first + static_cast<std::ptrdiff_t>(kLength * kDelta.channels()));
      for (std::size_t head = 0; head < heads; ++head) {
        const std::size_t at = text * kLength * heads;
        const std::vector<double> o = recurred(own, head, of_b.data() + at, of_a.data() + at);
        for (std::size_t t = 0; t < kLength; ++t) {
          double squares = 0.0;
          for (std::size_t i = 0; i < values; ++i) squares += o[t * values + i] * o[t * values + i];
          const double scale = std::sqrt(squares / static_cast<double>(values) + kDelta.eps);
          for (std::size_t i = 0; i < values; ++i) {
            const std::size_t to = (at + t * heads + head) * values + i;
            result[to] = o[t * values + i] / scale * norm.f32()[i] * silu(gate[to]);
          }
        }
      }
    }
    return product(result, out);
  }

  LayerWeights weights;
  Tensor qkv, z, b, a, filters, a_log, dt, norm, out;
  std::optional<GatedDeltaRule> layer;
  std::vector<Parameter> parameters;
  Tensor x = Random(3).tensor({kTexts, kLength, kWidth}), mask{{kTexts, kLength}, DType::u8};
  Arena arena;
};

TEST(GatedDeltaRuleLayer, EqualsItsFormulaAlsoWherePositionsArePadded) {
  GivenDelta given;
  Tensor out(given.x.shape());
  const TensorView mask = given.mask;
  given.layer->forward(given.x, &mask, nullptr, out, Write::over, {given.arena, TraceScope()});
  expect_close("out", doubles_of(out), given.naive(), kModelBound);
}

TEST(GatedDeltaRuleLayer, HasTheSameBitsForAnyCut) {
  GivenDelta given;
  expect_same_bits_for_any_cut(*given.layer, given.x, given.mask);
}

TEST(GatedDeltaRuleLayer, HasGradientsOfItsInputAndAllWeights) {
  for (const Write write : {Write::over, Write::onto}) {
    GivenDelta given;
    expect_mixer_gradients(*given.layer, given.x, given.mask, given.parameters, write);
  }
}

}  // namespace
}  // namespace clearformer::test
