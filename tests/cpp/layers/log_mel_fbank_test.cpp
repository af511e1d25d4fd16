// Filter bank features of audio spectrogram transformers against transformers' ASTFeatureExtractor.
#include "clearformer/layers/log_mel_fbank.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/fixture.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

LogMelFbankConfig fbank_config_of(const Case& reference) {
  const auto number = [&](const char* name) { return reference.option(name).number(); };
  LogMelFbankConfig config;
  config.num_mel_bins = static_cast<std::size_t>(number("num_mel_bins"));
  config.sampling_rate = static_cast<std::size_t>(number("sampling_rate"));
  config.max_length = static_cast<std::size_t>(number("max_length"));
  config.do_normalize = reference.option("do_normalize").boolean();
  config.mean = static_cast<float>(number("mean"));
  config.standard_deviation = static_cast<float>(number("std"));
  return config;
}

Tensor looped(const Tensor& samples, std::size_t times) {
  Tensor sound({samples.elements() * times});
  for (std::size_t i = 0; i < sound.elements(); ++i) {
    sound.f32()[i] = samples.f32()[i % samples.elements()];
  }
  return sound;
}

// The reference keeps its spectrum in complex64: 2 roundings of a power, so as much of its logarithm. Both round that
// logarithm, whose magnitude is below 32, its difference from the mean, below 40, and the quotient to float32.
double bound_of(const LogMelFbankConfig& config) {
  if (!config.do_normalize) return (2.0 + 2.0 * 32.0) * kRoundoff;
  const double divisor = std::abs(2.0 * static_cast<double>(config.standard_deviation));
  return (2.0 + 2.0 * (32.0 + 40.0 + 40.0)) * kRoundoff / divisor;
}

TEST(LogMelFbank, EverySoundIsTheReference) {
  const Fixture references("log_mel_fbank");
  for (const Case& reference : references.cases()) {
    SCOPED_TRACE(reference.name());
    const LogMelFbankConfig config = fbank_config_of(reference);
    const double bound = bound_of(config);
    const auto repeat = static_cast<std::size_t>(reference.option("repeat").number());
    const Tensor found = log_mel_fbank(looped(reference.input("samples"), repeat), config);
    ASSERT_EQ(found.shape(), (Shape{config.max_length, config.num_mel_bins}));
    const Tensor& expected = reference.output("features");
    const std::vector<std::int32_t> frames = reference.int32_output("frames");
    Tensor kept(expected.shape());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const float* row = found.f32() + static_cast<std::size_t>(frames[i]) * config.num_mel_bins;
      std::copy_n(row, config.num_mel_bins, kept.f32() + i * config.num_mel_bins);
    }
    std::vector<double> means;
    for (std::size_t t = 0; t < config.max_length; ++t) {
      double sum = 0.0;
      for (std::size_t m = 0; m < config.num_mel_bins; ++m) {
        sum += static_cast<double>(found.f32()[t * config.num_mel_bins + m]);
      }
      means.push_back(sum / static_cast<double>(config.num_mel_bins));
    }
    expect_close("features", kept, expected, Bound{bound});
    expect_close("means", means, reference.output("means"), Bound{bound, kRoundoff});
  }
}

TEST(LogMelFbank, FramesAfterTheSoundAreZerosNormalized) {
  LogMelFbankConfig config;
  config.max_length = 5;
  const auto end_of = [&](const Tensor& sound) {
    const Tensor found = log_mel_fbank(sound, config);
    return std::vector<float>(found.f32() + 3 * config.num_mel_bins,
                              found.f32() + found.elements());
  };
  const Tensor sound = Random(3).tensor({400 + 2 * 160 + 159});
  const float padding = 4.2677393f / (2.0f * 4.5689974f);
  expect_same_bits("normalized", end_of(sound), std::vector<float>(2 * 128, padding));
  config.do_normalize = false;
  expect_same_bits("zeros", end_of(sound), std::vector<float>(2 * 128, 0.0f));
}

TEST(LogMelFbank, LongerSoundsAreCut) {
  LogMelFbankConfig config;
  config.max_length = 3;
  Tensor sound = Random(4).tensor({2000});
  const Tensor found = log_mel_fbank(sound, config);
  for (std::size_t i = 400 + 2 * 160; i < sound.elements(); ++i) sound.f32()[i] = 1e6f;
  expect_same_bits("features", log_mel_fbank(sound, config), found);
}

TEST(LogMelFbank, ANaNIsInItsFramesAlone) {
  LogMelFbankConfig config;
  config.max_length = 6;
  Tensor sound = Random(5).tensor({400 + 4 * 160});
  sound.f32()[799] = std::numeric_limits<float>::quiet_NaN();  // in frames 3 and 4
  const Tensor found = log_mel_fbank(sound, config);
  for (std::size_t i = 0; i < found.elements(); ++i) {
    const std::size_t t = i / config.num_mel_bins;
    ASSERT_EQ(std::isnan(found.f32()[i]), t == 3 || t == 4) << "frame " << t;
  }
}

TEST(LogMelFbank, WhatCannotBeIsRefused) {
  constexpr auto kInvalid = ErrorCode::invalid_argument;
  const Tensor sound = Tensor::zeros({400});
  for (std::size_t LogMelFbankConfig::* size :
       {&LogMelFbankConfig::num_mel_bins, &LogMelFbankConfig::max_length,
        &LogMelFbankConfig::sampling_rate}) {
    LogMelFbankConfig wrong;
    wrong.*size = 0;
    expect_error(kInvalid, {"must be > 0"}, [&] { log_mel_fbank(sound, wrong); });
  }
  LogMelFbankConfig slow;
  slow.sampling_rate = 41;
  expect_error(kInvalid, {"sampling_rate 41 at least 42"}, [&] { log_mel_fbank(sound, slow); });
  slow.sampling_rate = 42;
  EXPECT_EQ(log_mel_fbank(sound, slow).elements(), 1024u * 128u);
  const LogMelFbankConfig config;
  expect_error(ErrorCode::shape_mismatch, {"[1, 400]"},
               [&] { log_mel_fbank(sound.view().reshaped({1, 400}), config); });
  expect_error(kInvalid, {"399 samples, at least 400"},
               [&] { log_mel_fbank(Tensor::zeros({399}), config); });
}

TEST(LogMelFbank, FurtherStepsChangeNothing) {
  LogMelFbankConfig config;
  config.max_length = 4;
  const Tensor sound = Random(6).tensor({1600});
  LogMelFbank steps(sound, config);
  for (int t = 0; t < 4; ++t) EXPECT_TRUE(steps.step());
  EXPECT_FALSE(steps.step());
  EXPECT_FALSE(steps.step());
  const Tensor result = steps.result();
  expect_same_bits("result", result, log_mel_fbank(sound, config));
  expect_error(ErrorCode::invalid_argument, {"has been taken"}, [&] { steps.step(); });
}

}  // namespace
}  // namespace clearformer::test
