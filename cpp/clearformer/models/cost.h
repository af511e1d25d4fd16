// What a model's work takes, in bytes, told before it begins: keys and values, and a pass's least need. inspect tells the
// same numbers.
#pragma once

#include <cstdint>

#include "clearformer/models/config.h"
#include "clearformer/models/tower.h"

namespace clearformer {

/// Keys and values, in bytes of one sequence, without what fills rows up to the machine's vectors.
struct CacheBytes {
  std::uint64_t per_position = 0;         // of the text that is generated
  std::uint64_t per_source_position = 0;  // that the encoder read
};

/// Of a model that generates tokens; zeros for others.
CacheBytes cache_bytes(const ModelConfig& config);

/// The least that one stack's pass holds at once: the residual stream, and beside it the hidden layer of a block or its
/// queries, keys and values.
std::uint64_t activation_bytes(const TowerConfig& tower, const PassSize& pass);

}  // namespace clearformer
