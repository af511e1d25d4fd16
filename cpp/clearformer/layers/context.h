// Context: what every layer's forward pass is handed besides its inputs.
#pragma once

#include <string_view>

#include "clearformer/layers/trace.h"
#include "clearformer/tensor/arena.h"

namespace clearformer {

/// What a layer's forward pass is handed besides its inputs.
struct Context {
  Arena& arena;      // where activations live
  TraceScope trace;  // where this layer stands in the tree of hook names

  Context operator/(std::string_view child) const { return {arena, trace / child}; }
};

}  // namespace clearformer
