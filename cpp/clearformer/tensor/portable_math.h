// exp, log, pow, sine and cosine in double, built from additions, multiplications and divisions only: the same bits
// on every platform, where C libraries differ in the last bit. Sampling from a seed and the choice of the best beam
// must not depend on the platform.
#pragma once

namespace clearformer {

/// e^x with a relative error of at most 1e-15; 0 below x = -700 and for NaN, infinity above 709.
double portable_exp(double x);
/// Natural logarithm of a normal number x > 0, with a relative error of at most 1e-15 (absolute where |log x| < 1).
double portable_log(double x);
/// base^exponent for base > 0.
double portable_pow(double base, double exponent);

struct SineCosine {
  double sine, cosine;
};
/// Sine and cosine of an angle in radians, each with an error of at most 3e-16 for |x| <= 2^31; larger angles are
/// first reduced modulo the double nearest to 2 pi. NaN for non-finite x.
SineCosine portable_sine_cosine(double x);

}  // namespace clearformer
