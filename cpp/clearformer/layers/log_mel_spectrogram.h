// Log-mel spectrogram: Whisper's feature extractor, from audio samples to the encoder's input.
//   P(t, k) = |Σ_{j=0}^{n-1} w_j·x_{t·hop + j - n/2}·e^{-2πi·jk/n}|²,  w_j = ½ - ½·cos(2πj/n),  edges reflected
//   L(m, t) = log10(max(Σ_k F(m, k)·P(t, k), 1e-10))
//   output(m, t) = (max(L(m, t), max L - 8) + 4) / 4
// The last frame, centred on the end of the signal, is dropped. F: triangles on Slaney's mel scale (linear below 1 kHz,
// logarithmic above) from 0 to 8 kHz, each of area 1 in hertz.
// Sources: Radford et al. 2022, arXiv 2212.04356, section 2.2; transformers' WhisperFeatureExtractor and mel_filter_bank
// (scale and norm "slaney"), computed there in float64.
// Shapes: N samples, n samples per frame, M mel filters, K = n/2 + 1 frequencies, T = ⌊N/hop⌋ frames (for odd n
// ⌊(N - 1)/hop⌋).
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "clearformer/layers/mel_powers.h"
#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// Named as in preprocessor_config.json; the defaults are Whisper's.
struct LogMelConfig {
  std::size_t feature_size = 80;      // M; 128 in large-v3
  std::size_t sampling_rate = 16000;  // Hz
  std::size_t hop_length = 160;       // samples from frame to frame
  std::size_t n_fft = 400;            // n, samples
  /// Longer signals are truncated and shorter ones padded to this number of samples (chunk_length seconds).
  /// Absent: no change.
  std::optional<std::size_t> num_samples = 480000;
  float padding_value = 0.0f;
};

/// F for K = n_fft/2 + 1 frequencies, in sparse form. Throws invalid_argument for sizes of 0.
std::vector<MelWeights> mel_filter_bank(const LogMelConfig& config);

/// The computation in steps. The samples must outlive it.
class LogMelSpectrogram {
 public:
  /// Mono samples (N) of float32, conventionally in [-1, 1]. Throws invalid_argument for sizes of 0 and for fewer samples
  /// than a hop or than reflection needs (n/2 + 1), shape_mismatch for samples of another rank.
  LogMelSpectrogram(const TensorView& samples, const LogMelConfig& config);

  /// Computes the next frame or, after the last, rescales all: then false, also in later calls. Throws invalid_argument
  /// once the result has been taken.
  bool step();
  /// (M, T), once step() has returned false.
  Tensor result() { return std::move(spectrogram_); }

 private:
  double sample(std::ptrdiff_t i) const;
  void add_frame();

  TensorView samples_;
  LogMelConfig config_;
  std::size_t count_, given_, frames_;  // samples in all, of them not padding; T
  Tensor spectrogram_;
  MelPowers powers_;
  std::size_t next_frame_ = 0;
  float loudest_;
};

/// Mono samples (N) -> (M, T), all steps at once. Computed in double; the logarithms are rounded to float32. Throws as
/// LogMelSpectrogram.
Tensor log_mel_spectrogram(const TensorView& samples, const LogMelConfig& config);

}  // namespace clearformer
