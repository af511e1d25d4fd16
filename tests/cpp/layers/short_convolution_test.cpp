#include "clearformer/layers/short_convolution.h"

#include <gtest/gtest.h>

#include "support/closeness.h"
#include "support/differences.h"
#include "support/expect_error.h"
#include "support/layer_weights.h"
#include "support/mixers.h"

namespace clearformer::test {
namespace {

constexpr std::size_t kSequences = 2, kSteps = 7, kChannels = 6, kFilterTaps = 3;

// The layer, its weights, and inputs of which the first two positions of row 1 are padded.
struct GivenConvolution {
  explicit GivenConvolution(Bias bias) : config{kChannels, kFilterTaps, bias} {
    for (const char* name : kProjections) add(name, {kChannels, kChannels});
    add("conv", {kChannels, 1, kFilterTaps});
    layer.emplace(weights.scope(), config);
    weights.check();
    parameters = weights.take_parameters();
    for (std::size_t i = 0; i < kSequences * kSteps; ++i) {
      mask.mutable_view().as<std::uint8_t>()[i] = i == kSteps || i == kSteps + 1 ? 0 : 1;
    }
  }

  void add(const std::string& name, const Shape& shape) {
    own.push_back(weights.add(name + ".weight", shape));
    if (config.bias == Bias::present) biases.push_back(weights.add(name + ".bias", {kChannels}));
  }

  // x·Wᵀ + b of the projection `index`, in doubles.
  std::vector<double> projected(std::size_t index, const std::vector<double>& in) const {
    std::vector<double> out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::size_t row = i / kChannels, output = i % kChannels;
      out[i] = biases.empty() ? 0.0 : biases[index].f32()[output];
      for (std::size_t k = 0; k < kChannels; ++k) {
        out[i] += in[row * kChannels + k] * own[index].f32()[output * kChannels + k];
      }
    }
    return out;
  }

  // The formula at the top of the header, as loops.
  std::vector<double> naive() const {
    std::vector<double> in = doubles_of(x);
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (mask.view().as<std::uint8_t>()[i / kChannels] == 0) in[i] = 0.0;
    }
    const auto b = projected(0, in), c = projected(1, in), gate = projected(2, in);
    std::vector<double> mixed(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::size_t channel = i % kChannels, t = i / kChannels % kSteps;
      double sum = biases.empty() ? 0.0 : biases[4].f32()[channel];
      for (std::size_t tap = 0; tap < kFilterTaps; ++tap) {
        if (t + tap + 1 < kFilterTaps) continue;
        const std::size_t at = i + (tap + 1) * kChannels - kFilterTaps * kChannels;
        sum += double{own[4].f32()[channel * kFilterTaps + tap]} * b[at] * gate[at];
      }
      mixed[i] = c[i] * sum;
    }
    return projected(3, mixed);
  }

  static constexpr const char* kProjections[] = {"b_proj", "c_proj", "x_proj", "out_proj"};
  ShortConvolutionConfig config;
  LayerWeights weights;
  std::vector<Tensor> own, biases;
  std::optional<ShortConvolution> layer;
  std::vector<Parameter> parameters;
  Tensor x = Random(3).tensor({kSequences, kSteps, kChannels}),
         mask{{kSequences, kSteps}, DType::u8};
  Arena arena;
};

TEST(ShortConvolutionLayer, EqualsItsFormulaAlsoWherePositionsArePadded) {
  for (const Bias bias : {Bias::none, Bias::present}) {
    GivenConvolution given(bias);
    Tensor out(given.x.shape());
    const TensorView mask = given.mask;
    given.layer->forward(given.x, &mask, nullptr, out, Write::over, {given.arena, TraceScope()});
    expect_close("out", doubles_of(out), given.naive(), kModelBound);
  }
}

TEST(ShortConvolutionLayer, HasTheSameBitsForAnyCut) {
  GivenConvolution given(Bias::present);
  expect_same_bits_for_any_cut(*given.layer, given.x, given.mask);
}

TEST(ShortConvolutionLayer, NeedsATap) {
  LayerWeights weights;
  expect_error(ErrorCode::invalid_argument, {"short convolution", "0 taps"},
               [&] { ShortConvolution(weights.scope(), {kChannels, 0, Bias::none}); });
}

TEST(ShortConvolutionLayer, HasGradientsOfItsInputAndAllWeights) {
  for (const Bias bias : {Bias::none, Bias::present}) {
    for (const Write write : {Write::over, Write::onto}) {
      GivenConvolution given(bias);
      expect_mixer_gradients(*given.layer, given.x, given.mask, given.parameters, write);
    }
  }
}

}  // namespace
}  // namespace clearformer::test
