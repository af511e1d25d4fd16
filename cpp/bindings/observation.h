// What the caller wants to see and to change inside a forward pass:
//   output_attentions?, output_hidden_states?   Hugging Face's lists
//   names?                                      hook points to capture
//   edits?: [{ hook, op, heads?, positions?, value? }]        see trace.h
//   fwd_hooks?: [{ hook, call(name, tensor) }]  functions that answer with the new data as a
//                                               Float32Array, or null when they failed
#pragma once

#include "bindings/functions.h"

namespace clearformer::bindings {

class Observation {
 public:
  Observation(const Arguments& arguments, const Model& model);
  /// Of a module, which has no lists of Hugging Face's.
  explicit Observation(const Arguments& arguments);
  Observation(const Observation&) = delete;  // the trace's edits point to it
  Observation& operator=(const Observation&) = delete;

  /// Null when nothing is asked for.
  Trace* trace() { return asked_ ? &trace_ : nullptr; }
  /// Throws out_of_memory, with the sizes, when what is captured in a pass over these inputs does not
  /// fit beside what is held already.
  void check_fits(Model& model, const ModelInputs& inputs) const;
  /// Adds `lists`, hidden_states, attentions and the like, and `captured` to `result`, and forgets
  /// them here.
  void report(emscripten::val& result);
  void forget() { trace_.captured().clear(); }

 private:
  void read_edits(const Arguments& arguments);

  std::vector<OutputList> lists_;
  std::vector<std::string> names_;
  bool asked_ = false;
  Trace trace_;
};

}  // namespace clearformer::bindings
