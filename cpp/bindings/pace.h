// Pace: long calls of the border return between two layers, so that JavaScript's event loop runs and
// an abort is seen. Such a call answers { pending: true } and is made again with the same arguments,
// or with abandon: true.
#pragma once

#include "bindings/marshal.h"
#include "clearformer/tensor/stopwatch.h"

namespace clearformer::bindings {

class Pace {
 public:
  /// Reads yield_after_ms; without it the call runs to its end.
  explicit Pace(const Arguments& arguments) : limit_(arguments.optional_number("yield_after_ms")) {}

  /// Whether it is time to leave.
  bool over() const { return limit_ && time_.seconds() * 1e3 >= *limit_; }

  /// The answer of a call that left.
  static emscripten::val pending() {
    emscripten::val answer = emscripten::val::object();
    answer.set("pending", true);
    return answer;
  }

 private:
  Stopwatch time_;
  std::optional<double> limit_;
};

}  // namespace clearformer::bindings
