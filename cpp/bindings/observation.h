// What a caller captures and edits in a forward pass (ObservationRequest in web/src/runtime/border.ts).
#pragma once

#include "bindings/functions.h"

namespace clearformer::bindings {

/// Wraps a JavaScript function that takes the values at a hook point and returns the edited ones, or null if it failed.
Trace::Function function_of(const emscripten::val& call);

/// What a pass is differentiated with respect to, and functions of gradients.
void read_wanted(const Arguments& arguments, Gradient& gradient);
/// Adds `grad` and `edits`, the gradients of hook points and of edits' values.
void report_gradient(const Arguments& arguments, const Gradient& gradient, emscripten::val& result);

/// The lists of outputs that are asked for.
std::vector<OutputList> lists_in(const Arguments& arguments, const Model& model);

// Most passes are observed in nothing, and run without the functions of this class that are not in this header
// (scripts/build/split.ts).
class Observation {
 public:
  explicit Observation(const Arguments& arguments, std::vector<OutputList> lists = {});
  Observation(const Observation&) = delete;  // the trace's edits point to it
  Observation& operator=(const Observation&) = delete;

  /// Null if nothing is requested.
  Trace* trace() { return asked_ ? &trace_ : nullptr; }
  /// The trace of a pass that needs one.
  Trace& needed_trace() { return trace_; }
  /// Adds `lists` (hidden_states, attentions, …) and `captured` to `result`, and clears them here.
  void report(emscripten::val& result) {
    if (asked_) tell(result);
  }
  void forget() { trace_.captured().clear(); }

 private:
  [[gnu::noinline]] void read(const Arguments& arguments, std::vector<OutputList> lists);
  void read_captures(const Arguments& arguments);
  void read_edits(const Arguments& arguments);
  [[gnu::noinline]] void tell(emscripten::val& result);

  std::vector<OutputList> lists_;
  std::vector<std::string> names_;
  bool asks_ = false;  // for captures
  bool asked_;         // for anything
  Trace trace_;
};

}  // namespace clearformer::bindings
