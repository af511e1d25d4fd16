// Time since an object was made.
#pragma once

namespace clearformer {

/// Seconds since it was made.
class Stopwatch {
 public:
  double seconds() const { return now() - start_; }

 private:
  static double now();  // in seconds, from any moment on
  double start_ = now();
};

}  // namespace clearformer
