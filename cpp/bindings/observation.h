// What a caller captures and edits in a forward pass (ObservationRequest in web/src/runtime/border.ts).
#pragma once

#include "bindings/functions.h"

namespace clearformer::bindings {

/// Wraps a JavaScript function that takes the values at a hook point and returns the edited ones, or null if it failed.
Trace::Function function_of(const emscripten::val& call);

class Observation {
 public:
  Observation(const Arguments& arguments, const Model& model);
  /// Captures hook points by name, without edits; for modules.
  explicit Observation(std::vector<std::string> names);
  Observation(const Observation&) = delete;  // the trace's edits point to it
  Observation& operator=(const Observation&) = delete;

  /// Null if nothing is requested.
  Trace* trace() { return asked_ ? &trace_ : nullptr; }
  /// The trace of a pass that needs one.
  Trace& needed_trace() { return trace_; }
  /// Adds `lists` (hidden_states, attentions, …) and `captured` to `result`, and clears them here.
  void report(emscripten::val& result);
  void forget() { trace_.captured().clear(); }

 private:
  void read_captures(const Arguments& arguments);
  void read_edits(const Arguments& arguments);

  std::vector<OutputList> lists_;
  std::vector<std::string> names_;
  bool asks_ = false;   // for captures
  bool asked_ = false;  // for anything
  Trace trace_;
};

}  // namespace clearformer::bindings
