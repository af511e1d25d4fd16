// Pace: long calls return between two layers, so that JavaScript's event loop runs and an abort signal is seen. Such a
// call returns { pending: true } and is repeated with the same arguments, or with abandon: true.
#pragma once

#include "bindings/marshal.h"
#include "clearformer/tensor/stopwatch.h"

namespace clearformer::bindings {

class Pace {
 public:
  /// Reads yield_after_ms; without it the call runs to completion.
  explicit Pace(const Arguments& arguments) : limit_(arguments.optional_number("yield_after_ms")) {}

  /// Whether the time slice is used up.
  bool over() const { return limit_ && time_.seconds() * 1e3 >= *limit_; }

  /// The result of a call that is not complete.
  static emscripten::val pending() {
    emscripten::val answer = emscripten::val::object();
    put(answer, "pending", true);
    return answer;
  }

 private:
  Stopwatch time_;
  std::optional<double> limit_;
};

}  // namespace clearformer::bindings
