// Log-mel spectrogram: the front end of Whisper, from sound to what the encoder reads.
//   P(t, k) = |Σ_{j=0}^{n-1} w_j·x_{t·hop + j - n/2}·e^{-2πi·jk/n}|²,  w_j = ½ - ½·cos(2πj/n),  edges mirrored
//   L(m, t) = log10(max(Σ_k F(m, k)·P(t, k), 1e-10))
//   output(m, t) = (max(L(m, t), max L - 8) + 4) / 4
// The last frame, centred on the end of the sound, is left out. F: triangles on Slaney's mel scale (linear below 1 kHz,
// logarithmic above) from 0 to 8 kHz, each of area 1 in hertz.
// Sources: Radford et al. 2022, arXiv 2212.04356, section 2.2; transformers' WhisperFeatureExtractor and mel_filter_bank
// (scale and norm "slaney"), computed there in float64.
// Shapes: N samples, n samples a frame, M mel filters, K = n/2 + 1 frequencies, T = ⌊N/hop⌋ frames.
#pragma once

#include <optional>
#include <vector>

#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// As preprocessor_config.json names them; the defaults are Whisper's.
struct LogMelConfig {
  std::size_t feature_size = 80;      // M; 128 in large-v3
  std::size_t sampling_rate = 16000;  // Hz
  std::size_t hop_length = 160;       // samples from frame to frame
  std::size_t n_fft = 400;            // n, samples
  /// Samples that longer sounds are cut to and shorter ones filled up to: chunk_length seconds.
  /// Absent: the samples as they are.
  std::optional<std::size_t> num_samples = 480000;
  float padding_value = 0.0f;
};

/// Mono samples (N) of float32, in [-1, 1] by custom -> (M, T). Computed in double, the logarithms
/// rounded to float32. Throws invalid_argument for sizes of 0 and for fewer samples than a hop or
/// than mirrored edges need (n/2 + 1), shape_mismatch for samples of another rank.
Tensor log_mel_spectrogram(const TensorView& samples, const LogMelConfig& config);

/// What a frequency counts for: it lies between the peaks of two neighbouring triangles, on the
/// falling side of number `filter` - 1 and on the rising side of number `filter`, counted from 0.
struct MelWeights {
  std::size_t filter = 0;  // 0 … M: the first has no filter before it, the last none after it
  double falling = 0.0;
  double rising = 0.0;
};

/// F for K = n_fft/2 + 1 frequencies: all that is not 0.
std::vector<MelWeights> mel_filter_bank(const LogMelConfig& config);

}  // namespace clearformer
