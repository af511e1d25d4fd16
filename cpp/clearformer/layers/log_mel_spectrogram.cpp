#include "clearformer/layers/log_mel_spectrogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "clearformer/tensor/portable_math.h"

namespace clearformer {

namespace {

constexpr double kHighestFrequency = 8000.0;  // Hz; Whisper's, for any sampling rate
constexpr double kFloor = 1e-10;              // of mel powers
constexpr float kRange = 8.0f;                // decades below the maximum that are kept

// Slaney's mel scale: 3 mel per 200 Hz up to 1 kHz (15 mel), above that 27 mel per factor of 6.4.
constexpr double kLinearEnd = 15.0;  // mel
constexpr double kHertzPerMel = 200.0 / 3.0;
constexpr double kMelsOfFactor = 27.0;
constexpr double kFactor = 6.4;

double hertz_of(double mel) {
  if (mel < kLinearEnd) return mel * kHertzPerMel;
  return kLinearEnd * kHertzPerMel *
         portable_exp(portable_log(kFactor) / kMelsOfFactor * (mel - kLinearEnd));
}

void expect_sizes(const LogMelConfig& config) {
  if (config.feature_size == 0 || config.sampling_rate == 0 || config.hop_length == 0 ||
      config.n_fft == 0) {
    fail(ErrorCode::invalid_argument, "log-mel spectrogram: feature_size ", config.feature_size,
         ", sampling_rate ", config.sampling_rate, ", hop_length ", config.hop_length,
         " and n_fft ", config.n_fft, " must all be > 0");
  }
}

// The configuration, after its sizes were checked.
LogMelConfig checked(const TensorView& samples, const LogMelConfig& config) {
  expect_sizes(config);
  if (samples.shape().rank() != 1) {
    fail(ErrorCode::shape_mismatch, "log-mel spectrogram: samples of shape ",
         samples.shape().text(), ", expected [samples]");
  }
  const std::size_t count = config.num_samples.value_or(samples.dim(0));
  const std::size_t least = std::max(config.hop_length + config.n_fft % 2, config.n_fft / 2 + 1);
  if (count < least) {
    fail(ErrorCode::invalid_argument, "log-mel spectrogram: ", count, " samples, at least ", least,
         " are needed for a frame of ", config.n_fft, " with mirrored edges");
  }
  return config;
}

}  // namespace

std::vector<MelWeights> mel_filter_bank(const LogMelConfig& config) {
  expect_sizes(config);
  const double highest =
      kLinearEnd + portable_log(kHighestFrequency / (kLinearEnd * kHertzPerMel)) * kMelsOfFactor /
                       portable_log(kFactor);  // mel
  const std::size_t sections = room_for(config.feature_size) + 1;
  const auto corner = [&](double i) {
    return hertz_of(highest * i / static_cast<double>(sections));
  };
  std::vector<double> corners(sections + 1), frequencies(room_for(config.n_fft / 2 + 1));
  for (std::size_t i = 0; i <= sections; ++i) corners[i] = corner(static_cast<double>(i));
  // Upstream spaces the frequencies evenly from 0 to sampling_rate // 2.
  const std::size_t last = config.sampling_rate / 2;
  const double step = static_cast<double>(last) /
                      static_cast<double>(std::max<std::size_t>(frequencies.size() - 1, 1));
  for (std::size_t k = 0; k < frequencies.size(); ++k) {
    frequencies[k] = step * static_cast<double>(k);
  }
  std::vector<MelWeights> bank = mel_triangles(corners, frequencies);
  for (MelWeights& weights : bank) {  // of area 1
    const auto i = static_cast<double>(weights.filter);
    weights.falling = weights.falling * 2.0 / (corner(i + 1.0) - corner(i - 1.0));
    weights.rising = weights.rising * 2.0 / (corner(i + 2.0) - corner(i));
  }
  return bank;
}

LogMelSpectrogram::LogMelSpectrogram(const TensorView& samples, const LogMelConfig& config)
    : samples_(samples),
      config_(checked(samples, config)),
      count_(config.num_samples.value_or(samples.dim(0))),
      given_(std::min(count_, samples.dim(0))),
      frames_((count_ - config.n_fft % 2) / config.hop_length),
      spectrogram_({config.feature_size, frames_}),
      powers_(mel_filter_bank(config), {config.feature_size, config.n_fft, config.n_fft}, true),
      loudest_(-std::numeric_limits<float>::infinity()) {}

// Sample i of the sound, truncated or padded to its number, reflected at both ends.
double LogMelSpectrogram::sample(std::ptrdiff_t i) const {
  const auto last = static_cast<std::ptrdiff_t>(count_) - 1;
  const auto at = static_cast<std::size_t>(i < 0 ? -i : i > last ? 2 * last - i : i);
  return static_cast<double>(at < given_ ? samples_.f32()[at] : config_.padding_value);
}

void LogMelSpectrogram::add_frame() {
  const std::size_t t = next_frame_++, n = config_.n_fft;
  double* frame = powers_.frame();
  const auto start =
      static_cast<std::ptrdiff_t>(t * config_.hop_length) - static_cast<std::ptrdiff_t>(n / 2);
  for (std::size_t j = 0; j < n; ++j) {
    frame[j] = sample(start + static_cast<std::ptrdiff_t>(j));
  }
  const double* mels = powers_.compute();
  for (std::size_t m = 0; m < config_.feature_size; ++m) {
    const auto value =
        static_cast<float>(portable_log(std::max(mels[m], kFloor)) * std::numbers::log10e);
    spectrogram_.f32()[m * frames_ + t] = value;
    if (value > loudest_ || std::isnan(value)) loudest_ = value;
  }
}

bool LogMelSpectrogram::step() {
  if (spectrogram_.empty()) {
    fail(ErrorCode::invalid_argument, "log-mel spectrogram: its result has been taken");
  }
  if (next_frame_ < frames_) {
    add_frame();
    return true;
  }
  if (next_frame_++ > frames_) return false;
  // Clamps to the top 8 decades and rescales to about [-1, 1]. If one number is NaN, all become NaN.
  const float least = loudest_ - kRange;
  float* values = spectrogram_.f32();
  for (std::size_t i = 0; i < spectrogram_.elements(); ++i) {
    values[i] = (std::max(least, values[i]) + 4.0f) / 4.0f;
  }
  return false;
}

Tensor log_mel_spectrogram(const TensorView& samples, const LogMelConfig& config) {
  LogMelSpectrogram spectrogram(samples, config);
  while (spectrogram.step()) continue;
  return spectrogram.result();
}

}  // namespace clearformer
