// Exponential, logarithm, power, sine and cosine in double, of additions, multiplications and divisions only: the
// same bits on every platform, where the functions of C libraries differ in the last one. What is
// drawn from a seed and which beam wins must not depend on that.
#pragma once

namespace clearformer {

/// e^x within 1e-15 of it; 0 below x = -700 and for NaN, infinity above 709.
double portable_exp(double x);
/// Natural logarithm of a normal number x > 0, within 1e-15 of it (absolute below 1).
double portable_log(double x);
/// base^exponent for base > 0.
double portable_pow(double base, double exponent);

struct SineCosine {
  double sine, cosine;
};
/// Both of an angle in radians, each within 3e-16 of it for |x| <= 2^31, beyond that of the angle less
/// whole turns of the double nearest to 2 pi; NaN for what is not finite.
SineCosine portable_sine_cosine(double x);

}  // namespace clearformer
