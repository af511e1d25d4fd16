// Time elapsed since construction.
#pragma once

namespace clearformer {

/// Seconds since construction.
class Stopwatch {
 public:
  double seconds() const { return now() - start_; }

 private:
  static double now();  // in seconds, from an arbitrary origin
  double start_ = now();
};

}  // namespace clearformer
