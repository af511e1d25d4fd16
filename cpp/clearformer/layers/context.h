// Context: what a layer's forward pass needs besides its inputs.
#pragma once

#include <string_view>

#include "clearformer/layers/trace.h"
#include "clearformer/tensor/arena.h"

namespace clearformer {

/// What a layer's forward pass needs besides its inputs.
struct Context {
  Arena& arena;      // allocates activations
  TraceScope trace;  // this layer's node in the tree of hook names

  Context operator/(std::string_view child) const { return {arena, trace / child}; }
};

}  // namespace clearformer
