// Log-mel filter bank features as Kaldi computes them ("fbank"): the feature extractor of audio spectrogram transformers,
// from audio samples to input_values.
//   x_j = s_{160t+j} - mean of the frame's samples s,  y_j = x_j - 0.97·x_{j-1},  y_0 = 0.03·x_0
//   P(t, k) = |Σ_{j=0}^{399} w_j·y_j·e^{-2πi·jk/512}|²,  w_j = ½ - ½·cos(2πj/399)
//   L(t, m) = ln(max(Σ_k F(m, k)·P(t, k), 1.192092955·10^-7));  0 in frames after the end of the sound
//   output(t, m) = (L(t, m) - mean) / (2·std)
// F: triangles of height 1 on the scale mel = 1127·ln(1 + hertz/700), from 20 Hz to half the sampling rate.
// Sources: Gong, Chung and Glass 2021, arXiv 2104.01778, section 2.1; transformers' ASTFeatureExtractor without
// torchaudio, which computes the powers in float64. With torchaudio it differs in rounding, as all is float32 there, and at
// other sampling rates than 16 kHz, where frames are 25 ms long there, 10 ms apart.
// Shapes: N samples, M mel filters, T = max_length frames.
#pragma once

#include <cstddef>
#include <utility>

#include "clearformer/layers/mel_powers.h"
#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// Named as in preprocessor_config.json; the defaults are those of models of AudioSet.
struct LogMelFbankConfig {
  std::size_t num_mel_bins = 128;     // M
  std::size_t sampling_rate = 16000;  // Hz
  /// Frames of longer sounds are left out, those of shorter ones followed by zeros up to this number: T.
  std::size_t max_length = 1024;
  bool do_normalize = true;  // otherwise the output is L
  float mean = -4.2677393f;
  float standard_deviation = 4.5689974f;  // "std"
};

/// The computation in steps. The samples must outlive it.
class LogMelFbank {
 public:
  /// Mono samples (N) of float32, conventionally in [-1, 1]. Throws invalid_argument for sizes of 0, for a sampling rate
  /// below 42 Hz, whose half leaves no frequency above 20 Hz, and for fewer samples than a frame (400), shape_mismatch for
  /// samples of another rank.
  LogMelFbank(const TensorView& samples, const LogMelFbankConfig& config);

  /// Computes the next frame; false when there is none, also in later calls. Throws invalid_argument once the result has
  /// been taken.
  bool step();
  /// (T, M), once step() has returned false.
  Tensor result() { return std::move(features_); }

 private:
  float normalized(float value) const;

  TensorView samples_;
  LogMelFbankConfig config_;
  std::size_t frames_;  // of the sound, at most T
  MelPowers powers_;
  Tensor features_;
  std::size_t next_frame_ = 0;
};

/// Mono samples (N) -> (T, M), all steps at once. Computed in double up to the logarithms, which are rounded to float32.
/// Throws as LogMelFbank.
Tensor log_mel_fbank(const TensorView& samples, const LogMelFbankConfig& config);

}  // namespace clearformer
