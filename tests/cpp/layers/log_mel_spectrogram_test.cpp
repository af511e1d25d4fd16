// Whisper's feature extraction against transformers' WhisperFeatureExtractor.
#include "clearformer/layers/log_mel_spectrogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/fixture.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

const Fixture& spectrogram_references() {
  static const Fixture fixture("log_mel");
  return fixture;
}

LogMelConfig config_of(const Case& reference) {
  const auto size = [&](const char* name) {
    return static_cast<std::size_t>(reference.option(name).number());
  };
  LogMelConfig config;
  config.feature_size = size("feature_size");
  config.sampling_rate = size("sampling_rate");
  config.hop_length = size("hop_length");
  config.n_fft = size("n_fft");
  config.padding_value = static_cast<float>(reference.option("padding_value").number());
  config.num_samples.reset();
  if (reference.options().find("num_samples") != nullptr) config.num_samples = size("num_samples");
  return config;
}

Tensor repeated(const Tensor& samples, std::size_t times) {
  Tensor sound({samples.elements() * times});
  for (std::size_t i = 0; i < sound.elements(); ++i) {
    sound.f32()[i] = samples.f32()[i % samples.elements()];
  }
  return sound;
}

// The reference keeps its spectrum in complex64: 2 roundings of a power, so 2/ln 10 of its logarithm.
// Both round that logarithm, the difference to the maximum less 8 and the sum with 4 to float32; no
// logarithm here is larger than 10, none of these sums larger than 18. Everything is divided by 4.
constexpr double kBound = (2.0 / 2.302 + 2.0 * (10.0 + 18.0 + 14.0)) / 4.0 * kRoundoff;
static_assert(kBound < 1e-5);

TEST(LogMelSpectrogram, EverySoundIsTheReference) {
  for (const Case& reference : spectrogram_references().cases()) {
    SCOPED_TRACE(reference.name());
    const auto repeat = static_cast<std::size_t>(reference.option("repeat").number());
    const Tensor sound = repeated(reference.input("samples"), repeat);
    const Tensor found = log_mel_spectrogram(sound, config_of(reference));
    const auto count = static_cast<std::size_t>(reference.member("num_frames").number());
    const Tensor& expected = reference.output("features");
    ASSERT_EQ(found.shape(), (Shape{expected.dim(0), count}));
    const std::vector<std::int32_t> frames = reference.int32_output("frames");
    Tensor kept(expected.shape());
    std::vector<double> means;
    for (std::size_t row = 0; row < expected.dim(0); ++row) {
      const float* values = found.f32() + row * count;
      for (std::size_t i = 0; i < frames.size(); ++i) {
        kept.f32()[row * frames.size() + i] = values[frames[i]];
      }
      double sum = 0.0;
      for (std::size_t t = 0; t < count; ++t) sum += static_cast<double>(values[t]);
      means.push_back(sum / static_cast<double>(count));
    }
    expect_close("features", kept, expected, Bound{kBound});
    expect_close("row means", means, reference.output("row_means"), Bound{kBound, kRoundoff});
  }
}

TEST(LogMelSpectrogram, ANoteIsLoudestInItsOwnFilter) {
  const LogMelConfig config;
  const std::vector<MelWeights> bank = mel_filter_bank(config);
  ASSERT_EQ(bank.size(), 201u);
  for (const std::size_t bin : {10u, 25u, 60u, 150u}) {
    const double step = 2.0 * 3.14159265358979 * static_cast<double>(bin) / 400.0;
    Tensor note({16000});
    for (std::size_t i = 0; i < note.elements(); ++i) {
      note.f32()[i] = static_cast<float>(std::sin(step * static_cast<double>(i)));
    }
    const Tensor found = log_mel_spectrogram(note, config);
    std::size_t loudest = 0;
    for (std::size_t m = 0; m < config.feature_size; ++m) {
      if (found.f32()[m * 3000 + 50] > found.f32()[loudest * 3000 + 50]) loudest = m;
    }
    const MelWeights& weights = bank[bin];
    EXPECT_EQ(loudest, weights.rising > weights.falling ? weights.filter : weights.filter - 1);
  }
}

TEST(LogMelSpectrogram, AFrameDoesNotDependOnSoundsFarFromIt) {
  LogMelConfig config;
  config.num_samples.reset();
  Random random(7);
  const Tensor sound = random.tensor({8000});
  Tensor louder_end = sound.clone();
  // Halving the second half leaves the loudest frame, and with it the floor, unchanged.
  for (std::size_t i = 4000; i < 8000; ++i) louder_end.f32()[i] *= 0.5f;
  const Tensor whole = log_mel_spectrogram(sound, config);
  const Tensor changed = log_mel_spectrogram(louder_end, config);
  const auto start = [](const Tensor& x) { return std::vector<float>(x.f32(), x.f32() + 23); };
  expect_same_bits("frames before sample 4000", start(changed), start(whole));
}

TEST(LogMelSpectrogram, WhatCannotBeIsRefused) {
  constexpr auto kInvalid = ErrorCode::invalid_argument;
  const Tensor sound = Tensor::zeros({400});
  LogMelConfig config;
  for (std::size_t LogMelConfig::* size : {&LogMelConfig::feature_size, &LogMelConfig::hop_length,
                                           &LogMelConfig::n_fft, &LogMelConfig::sampling_rate}) {
    LogMelConfig wrong;
    wrong.*size = 0;
    expect_error(kInvalid, {"must all be > 0"}, [&] { log_mel_spectrogram(sound, wrong); });
    expect_error(kInvalid, {"must all be > 0"}, [&] { mel_filter_bank(wrong); });
  }
  expect_error(ErrorCode::shape_mismatch, {"[1, 400]"},
               [&] { log_mel_spectrogram(sound.view().reshaped({1, 400}), config); });
  config.num_samples = 200;
  expect_error(kInvalid, {"200 samples, at least 201"},
               [&] { log_mel_spectrogram(sound, config); });
  config.hop_length = 300;
  config.num_samples = 299;
  expect_error(kInvalid, {"299 samples, at least 300"},
               [&] { log_mel_spectrogram(sound, config); });
}

// As torch's maximum: one NaN makes the loudest number, and with it all of them, NaN.
TEST(LogMelSpectrogram, ANaNIsEverywhere) {
  LogMelConfig config;
  config.num_samples.reset();
  Tensor sound = Random(8).tensor({1600});
  sound.f32()[200] = std::numeric_limits<float>::quiet_NaN();
  const Tensor spectrogram = log_mel_spectrogram(sound, config);
  for (std::size_t i = 0; i < spectrogram.elements(); ++i) {
    ASSERT_TRUE(std::isnan(spectrogram.f32()[i])) << i;
  }
}

TEST(LogMelSpectrogram, FurtherStepsChangeNothing) {
  LogMelConfig config;
  config.num_samples.reset();
  const Tensor sound = Random(9).tensor({1600});
  LogMelSpectrogram steps(sound, config);
  while (steps.step()) continue;
  EXPECT_FALSE(steps.step());
  const Tensor result = steps.result();
  expect_same_bits("result", result, log_mel_spectrogram(sound, config));
  expect_error(ErrorCode::invalid_argument, {"has been taken"}, [&] { steps.step(); });
}

}  // namespace
}  // namespace clearformer::test
