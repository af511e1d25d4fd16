#include "clearformer/layers/fourier_transform.h"

#include <cmath>
#include <numbers>

#include "clearformer/tensor/portable_math.h"
#include "clearformer/tensor/tensor.h"

namespace clearformer {

namespace {

// operator* of std::complex checks for infinities, which costs more than the product.
Complex times(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

std::size_t smallest_factor(std::size_t number) {
  for (std::size_t factor = 2; factor * factor <= number; ++factor) {
    if (number % factor == 0) return factor;
  }
  return number;
}

}  // namespace

FourierTransform::FourierTransform(std::size_t length)
    : roots_(room_for(length)), size_(length % 2 == 0 ? length / 2 : length), memory_(3 * size_) {
  if (length == 0) fail(ErrorCode::invalid_argument, "Fourier transform: the length must be > 0");
  for (std::size_t k = 0; k < length; ++k) {
    const auto [sine, cosine] = portable_sine_cosine(
        -2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length));
    roots_[k] = {cosine, sine};
  }
}

void FourierTransform::transform(const Complex* input, Complex* output, std::size_t size,
                                 std::size_t stride) {
  if (size < 2) {
    *output = *input;
    return;
  }
  const std::size_t p = smallest_factor(size), m = size / p;
  for (std::size_t b = 0; b < p; ++b) {
    transform(input + b * stride, output + b * m, m, stride * p);
  }
  combine(output, p, m);
}

// Combines p transforms Y_b of length m, consecutive in `output`, to one of length p·m: for k = r + m·q,
// X_k = Σ_b (e^{-2πi·b·r/(p·m)}·Y_b(r))·e^{-2πi·b·q/p}.
void FourierTransform::combine(Complex* output, std::size_t p, std::size_t m) {
  const std::size_t n = roots_.size();
  const std::size_t step = n / (p * m), turn = n / p;  // strides in roots_, of r and of q
  Complex* const terms = memory_.data() + 2 * size_;
  for (std::size_t r = 0; r < m; ++r) {
    for (std::size_t b = 0; b < p; ++b) terms[b] = times(output[b * m + r], roots_[step * b * r]);
    for (std::size_t q = 0; q < p; ++q) {
      Complex sum;
      for (std::size_t b = 0, at = 0; b < p; ++b, at = (at + turn * q) % n) {
        const Complex term = times(terms[b], roots_[at]);
        sum = {sum.re + term.re, sum.im + term.im};
      }
      output[q * m + r] = sum;
    }
  }
}

void FourierTransform::power(const double* signal, double* powers) {
  Complex* const input = memory_.data();
  Complex* const output = input + size_;
  const bool even = size_ != roots_.size();
  for (std::size_t j = 0; j < size_; ++j) {
    input[j] = even ? Complex{signal[2 * j], signal[2 * j + 1]} : Complex{signal[j], 0.0};
  }
  transform(input, output, size_, 1);
  for (std::size_t k = 0; k < bins(); ++k) {
    Complex x = output[k % size_];
    if (even) {
      // Z_k and the conjugate of Z_{size-k} give the transforms of the even and the odd inputs.
      const Complex z = x, other = output[(size_ - k) % size_];
      const Complex odd = times({z.im + other.im, other.re - z.re}, roots_[k]);
      x = {0.5 * (z.re + other.re + odd.re), 0.5 * (z.im - other.im + odd.im)};
    }
    powers[k] = x.re * x.re + x.im * x.im;
  }
}

}  // namespace clearformer
