#include "clearformer/layers/log_mel_spectrogram.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "clearformer/layers/fourier_transform.h"
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

void check(const TensorView& samples, const LogMelConfig& config) {
  if (config.feature_size == 0 || config.sampling_rate == 0 || config.hop_length == 0 ||
      config.n_fft == 0) {
    fail(ErrorCode::invalid_argument, "log-mel spectrogram: feature_size ", config.feature_size,
         ", sampling_rate ", config.sampling_rate, ", hop_length ", config.hop_length,
         " and n_fft ", config.n_fft, " must all be > 0");
  }
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
}

// The samples in double, truncated or padded to their number, with n/2 samples reflected at both ends.
std::vector<double> mirrored(const TensorView& samples, const LogMelConfig& config) {
  const std::size_t count = config.num_samples.value_or(samples.dim(0));
  const std::size_t given = std::min(count, samples.dim(0)), edge = config.n_fft / 2;
  std::vector<double> signal(count + 2 * edge, static_cast<double>(config.padding_value));
  std::copy(samples.f32(), samples.f32() + given,
            signal.begin() + static_cast<std::ptrdiff_t>(edge));
  const std::size_t last = edge + count - 1;
  for (std::size_t i = 1; i <= edge; ++i) {
    signal[edge - i] = signal[edge + i];
    signal[last + i] = signal[last - i];
  }
  return signal;
}

std::vector<double> hann_window(std::size_t length) {
  std::vector<double> window(length);
  for (std::size_t j = 0; j < length; ++j) {
    const double angle =
        2.0 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(length);
    window[j] = 0.5 - 0.5 * portable_sine_cosine(angle).cosine;
  }
  return window;
}

// Clamps to the top 8 decades and rescales to about [-1, 1].
void compress(Tensor& spectrogram) {
  float* values = spectrogram.f32();
  const std::size_t count = spectrogram.elements();
  const float least = *std::max_element(values, values + count) - kRange;
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = (std::max(values[i], least) + 4.0f) / 4.0f;
  }
}

}  // namespace

std::vector<MelWeights> mel_filter_bank(const LogMelConfig& config) {
  const double highest =
      kLinearEnd + portable_log(kHighestFrequency / (kLinearEnd * kHertzPerMel)) * kMelsOfFactor /
                       portable_log(kFactor);  // mel
  // Triangle m has its corners at m, m + 1 and m + 2. In hertz.
  const auto corner = [&](double i) {
    return hertz_of(highest * i / static_cast<double>(config.feature_size + 1));
  };
  std::vector<MelWeights> bank(config.n_fft / 2 + 1);
  // Upstream spaces the frequencies evenly from 0 to sampling_rate // 2.
  const double step = static_cast<double>(config.sampling_rate / 2) /
                      static_cast<double>(std::max<std::size_t>(bank.size() - 1, 1));
  std::size_t filter = 0;
  for (std::size_t k = 0; k < bank.size(); ++k) {
    const double hertz = step * static_cast<double>(k);
    while (filter <= config.feature_size && corner(static_cast<double>(filter + 1)) < hertz) {
      ++filter;
    }
    if (filter > config.feature_size) break;  // above all triangles: weight 0
    const double i = static_cast<double>(filter), left = corner(i), right = corner(i + 1.0);
    const double height = (hertz - left) / (right - left);
    bank[k] = {filter, (1.0 - height) * 2.0 / (right - corner(i - 1.0)),
               height * 2.0 / (corner(i + 2.0) - left)};
  }
  return bank;
}

Tensor log_mel_spectrogram(const TensorView& samples, const LogMelConfig& config) {
  check(samples, config);
  const std::vector<double> signal = mirrored(samples, config);
  const std::size_t frames = (signal.size() - config.n_fft) / config.hop_length;  // T
  Tensor spectrogram({config.feature_size, frames});                              // (M, T)
  const std::vector<double> window = hann_window(config.n_fft);
  const std::vector<MelWeights> bank = mel_filter_bank(config);
  FourierTransform transform(config.n_fft);
  std::vector<double> frame(config.n_fft), powers(transform.bins());
  // Filter m is at index m + 1; the first and the last element take weights that belong to no filter.
  std::vector<double> mels(config.feature_size + 2);
  for (std::size_t t = 0; t < frames; ++t) {
    const double* from = signal.data() + t * config.hop_length;
    for (std::size_t j = 0; j < frame.size(); ++j) frame[j] = window[j] * from[j];
    transform.power(frame.data(), powers.data());
    std::fill(mels.begin(), mels.end(), 0.0);
    for (std::size_t k = 0; k < bank.size(); ++k) {
      mels[bank[k].filter] += bank[k].falling * powers[k];
      mels[bank[k].filter + 1] += bank[k].rising * powers[k];
    }
    for (std::size_t m = 0; m < config.feature_size; ++m) {
      spectrogram.f32()[m * frames + t] =
          static_cast<float>(portable_log(std::max(mels[m + 1], kFloor)) * std::numbers::log10e);
    }
  }
  compress(spectrogram);
  return spectrogram;
}

}  // namespace clearformer
