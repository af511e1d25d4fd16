// A pass in progress: its inputs, and what is read and edited in it.
#pragma once

#include "bindings/inputs.h"
#include "bindings/observation.h"
#include "bindings/pace.h"

namespace clearformer::bindings {

/// Counts itself among a model's passes: weights are not edited while it exists.
struct PassCount {
  explicit PassCount(std::size_t& passes) : count(passes) { ++count; }
  PassCount(const PassCount&) = delete;
  ~PassCount() { --count; }
  std::size_t& count;
};

struct OpenPass {
  /// Reads the arguments; `pass` is left to the caller.
  OpenPass(const Arguments& arguments, OpenModel& open)
      : given(arguments),
        observation(arguments, lists_in(arguments, *open.model)),
        counted(open.passes) {
    if (arguments.has("stop_at_layer")) {
      given.inputs.stop_at_layer = arguments.count("stop_at_layer");
    }
    given.inputs.logits_to_keep = arguments.integer_list("logits_to_keep");
    if (arguments.has("start_at_layer")) {
      given.inputs.start_at_layer = arguments.count("start_at_layer");
    }
  }
  OpenPass(const OpenPass&) = delete;

  /// The outputs under their names.
  emscripten::val outputs() const;

  GivenInputs given;
  Observation observation;
  PassCount counted;
  std::unique_ptr<ForwardPass> pass;
};

/// Steps of a differentiated pass, forwards, then `back`: whether it is complete, or else the time slice used up.
bool complete(ForwardPass& pass, bool& back, const Pace& pace);

/// A call that differentiates: goes on with the pass that `held` has, or begins one. Null if that takes more time slices;
/// then it is held. Any exception ends it.
template <class Open, class Begin>
std::shared_ptr<Open> differentiated(std::shared_ptr<Open>& held, const Pace& pace,
                                     const Begin& begin) {
  std::shared_ptr<Open> open = held ? std::move(held) : begin();
  held.reset();
  if (complete(*open->pass, open->back, pace)) return open;
  held = std::move(open);
  return nullptr;
}

}  // namespace clearformer::bindings
