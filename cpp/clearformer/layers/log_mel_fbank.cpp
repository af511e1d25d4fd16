#include "clearformer/layers/log_mel_fbank.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "clearformer/tensor/portable_math.h"

namespace clearformer {

namespace {

constexpr std::size_t kFrame = 400, kHop = 160, kPoints = 512;  // samples, for any sampling rate
constexpr double kPreemphasis = 0.97;
constexpr double kLeastPower = 1.192092955078125e-07;  // of mel powers; Kaldi's is 2^-23, 5e-8 less
constexpr std::size_t kLowestFrequency = 20;           // Hz

double mel_of(double hertz) { return 1127.0 * portable_log(1.0 + hertz / 700.0); }

std::vector<MelWeights> filter_bank(const LogMelFbankConfig& config) {
  const std::size_t highest = config.sampling_rate / 2;
  if (config.num_mel_bins == 0 || config.max_length == 0 || highest <= kLowestFrequency) {
    fail(ErrorCode::invalid_argument, "filter bank features: num_mel_bins ", config.num_mel_bins,
         " and max_length ", config.max_length, " must be > 0, sampling_rate ",
         config.sampling_rate, " at least ", 2 * (kLowestFrequency + 1));
  }
  const double low = mel_of(static_cast<double>(kLowestFrequency));
  const double width = mel_of(static_cast<double>(highest)) - low;
  std::vector<double> corners(room_for(config.num_mel_bins) + 2), frequencies(kPoints / 2 + 1);
  for (std::size_t i = 0; i < corners.size(); ++i) {
    corners[i] = low + width * static_cast<double>(i) / static_cast<double>(corners.size() - 1);
  }
  const double step = static_cast<double>(config.sampling_rate) / kPoints;  // Hz
  for (std::size_t k = 0; k < frequencies.size(); ++k) {
    frequencies[k] = mel_of(step * static_cast<double>(k));
  }
  return mel_triangles(corners, frequencies);
}

// How many frames the samples have, at most `most`.
std::size_t frames_in(const TensorView& samples, std::size_t most) {
  if (samples.shape().rank() != 1) {
    fail(ErrorCode::shape_mismatch, "filter bank features: samples of shape ",
         samples.shape().text(), ", expected [samples]");
  }
  const std::size_t count = samples.dim(0);
  if (count < kFrame) {
    fail(ErrorCode::invalid_argument, "filter bank features: ", count, " samples, at least ",
         kFrame, " are needed for a frame");
  }
  return std::min(most, 1 + (count - kFrame) / kHop);
}

}  // namespace

LogMelFbank::LogMelFbank(const TensorView& samples, const LogMelFbankConfig& config)
    : samples_(samples),
      config_(config),
      frames_(frames_in(samples, config.max_length)),
      powers_(filter_bank(config), {config.num_mel_bins, kFrame, kPoints}, false),
      features_({config.max_length, config.num_mel_bins}) {
  float* values = features_.f32();
  std::fill(values + frames_ * config.num_mel_bins, values + features_.elements(),
            normalized(0.0f));
}

float LogMelFbank::normalized(float value) const {
  if (!config_.do_normalize) return value;
  return (value - config_.mean) / (2.0f * config_.standard_deviation);
}

bool LogMelFbank::step() {
  if (features_.empty()) {
    fail(ErrorCode::invalid_argument, "filter bank features: their result has been taken");
  }
  if (next_frame_ == frames_) return false;
  const std::size_t t = next_frame_++;
  double* frame = powers_.frame();
  std::copy_n(samples_.f32() + t * kHop, kFrame, frame);
  const double mean = std::accumulate(frame, frame + kFrame, 0.0) / kFrame;
  for (std::size_t j = 0; j < kFrame; ++j) frame[j] -= mean;
  for (std::size_t j = kFrame - 1; j > 0; --j) frame[j] -= kPreemphasis * frame[j - 1];
  frame[0] *= 1.0 - kPreemphasis;
  const double* mels = powers_.compute();
  // A sample that is not finite makes the whole frame NaN, also filters between two frequencies.
  const double none = mean - mean;
  float* row = features_.f32() + t * config_.num_mel_bins;
  for (std::size_t m = 0; m < config_.num_mel_bins; ++m) {
    row[m] = normalized(static_cast<float>(portable_log(std::max(mels[m], kLeastPower)) + none));
  }
  return true;
}

Tensor log_mel_fbank(const TensorView& samples, const LogMelFbankConfig& config) {
  LogMelFbank features(samples, config);
  while (features.step()) continue;
  return features.result();
}

}  // namespace clearformer
