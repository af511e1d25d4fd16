// A pass in progress: its inputs, and what is read and edited in it.
#pragma once

#include "bindings/inputs.h"
#include "bindings/observation.h"

namespace clearformer::bindings {

struct OpenPass {
  /// Reads the arguments; `pass` is left to the caller.
  OpenPass(const Arguments& arguments, OpenModel& open)
      : given(arguments), observation(arguments, *open.model), counted(open.passes) {
    if (arguments.has("stop_at_layer")) {
      given.inputs.stop_at_layer = static_cast<std::size_t>(arguments.count("stop_at_layer"));
    }
    given.inputs.logits_to_keep = arguments.integer_list("logits_to_keep");
    if (arguments.has("start_at_layer")) {
      given.inputs.start_at_layer = static_cast<std::size_t>(arguments.count("start_at_layer"));
    }
  }
  OpenPass(const OpenPass&) = delete;

  /// The outputs under their names.
  emscripten::val outputs() const;

  // Weights are not edited while it exists.
  struct Counted {
    explicit Counted(std::size_t& passes) : count(passes) { ++count; }
    Counted(const Counted&) = delete;
    ~Counted() { --count; }
    std::size_t& count;
  };
  GivenInputs given;
  Observation observation;
  Counted counted;
  std::unique_ptr<ForwardPass> pass;
};

}  // namespace clearformer::bindings
