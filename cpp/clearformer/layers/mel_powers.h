// The powers of a frame of sound in mel filters, which all log-mel features begin with:
//   M(m) = Σ_k F(m, k)·|Σ_{j=0}^{l-1} w_j·x_j·e^{-2πi·jk/n}|²
// w: Hann's window; F: triangular filters, whose corners lie evenly on a mel scale.
// Shapes: l samples per frame, n ≥ l points of the transform, K = n/2 + 1 frequencies, M filters.
#pragma once

#include <cstddef>
#include <vector>

#include "clearformer/layers/fourier_transform.h"

namespace clearformer {

/// The weights of a frequency: it lies between the peaks of two adjacent triangles, on the falling side of number
/// `filter` - 1 and on the rising side of number `filter`, counted from 0.
struct MelWeights {
  std::size_t filter = 0;  // 0 … M: at 0 there is no filter before it, at M none after it
  double falling = 0.0;
  double rising = 0.0;
};

/// F in sparse form. Triangle m of height 1 has its corners at number m, m + 1 and m + 2 of `corners` (M + 2); these and
/// `frequencies` (K) ascend, in the same unit.
std::vector<MelWeights> mel_triangles(const std::vector<double>& corners,
                                      const std::vector<double>& frequencies);

/// The computation for frames of one length, in double.
class MelPowers {
 public:
  struct Sizes {
    std::size_t filters, frame_length, n_fft;  // M, l, n
  };

  /// A periodic window is ½ - ½·cos(2πj/l), one that is not ½ - ½·cos(2πj/(l - 1)).
  MelPowers(std::vector<MelWeights> bank, const Sizes& sizes, bool periodic);

  /// Where the samples of a frame (l) are to be written.
  double* frame() { return memory_.data() + sizes_.frame_length; }
  /// The powers (M) of that frame, whose samples it multiplies by the window.
  const double* compute();

 private:
  std::vector<MelWeights> bank_;
  Sizes sizes_;
  FourierTransform transform_;
  std::vector<double> memory_;  // window (l), frame (n), powers (K), mels (M + 2)
};

}  // namespace clearformer
