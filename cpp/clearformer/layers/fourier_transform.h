// Discrete Fourier transform of real signals of any length:
//   X_k = Σ_{j=0}^{n-1} x_j·e^{-2πi·jk/n},  k = 0 … ⌊n/2⌋; the others are their conjugates
// by mixed-radix factorisation: with n = p·m and j = p·a + b, X_k = Σ_b e^{-2πi·bk/n}·DFT_m(x_{p·a + b})_k, which
// reduces n² products to n times the sum of n's prime factors (400 = 2⁴·5²). An even length uses a complex transform
// of half the length, over x_{2j} + i·x_{2j+1}.
// Source: Cooley and Tukey 1965, doi 10.1090/S0025-5718-1965-0178586-1.
#pragma once

#include <cstddef>
#include <vector>

namespace clearformer {

/// A complex number.
struct Complex {
  double re = 0.0;
  double im = 0.0;
};

/// The transform of one length, in double, with precomputed roots of unity.
class FourierTransform {
 public:
  /// Throws invalid_argument for length 0.
  explicit FourierTransform(std::size_t length);

  /// ⌊n/2⌋ + 1
  std::size_t bins() const { return roots_.size() / 2 + 1; }

  /// signal (n) -> |X_k|² (bins), unnormalised: numpy's abs(fft.rfft(signal))².
  /// Uses buffers of this object: one thread at a time.
  void power(const double* signal, double* powers);

 private:
  // The transform of `size` inputs, `stride` apart.
  void transform(const Complex* input, Complex* output, std::size_t size, std::size_t stride);
  void combine(Complex* output, std::size_t factor, std::size_t part);

  std::vector<Complex> roots_;   // e^{-2πi·k/n}
  std::size_t size_;             // of the complex transform: n/2 for even n, otherwise n
  std::vector<Complex> memory_;  // inputs, outputs, and the terms of one sum: 3·size
};

}  // namespace clearformer
