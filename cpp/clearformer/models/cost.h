// Memory cost in bytes, known before any work is done: the key/value cache, and a lower bound of a forward pass.
// inspect reports the same numbers.
#pragma once

#include <cstdint>

#include "clearformer/models/config.h"
#include "clearformer/models/tower.h"

namespace clearformer {

/// Keys and values of one sequence, in bytes, without padding to vector width.
struct CacheBytes {
  std::uint64_t per_position = 0;         // of the generated text
  std::uint64_t per_source_position = 0;  // of the encoder's input
};

/// For a model that generates tokens; zeros for others.
CacheBytes cache_bytes(const ModelConfig& config, CacheFormat format);
/// The same in the config's format.
inline CacheBytes cache_bytes(const ModelConfig& config) {
  return cache_bytes(config, config.cache_format);
}

/// A lower bound of what one stack's pass holds at the same time: the residual stream, and a block's hidden layer or
/// its queries, keys and values.
std::uint64_t activation_bytes(const TowerConfig& tower, const PassSize& pass);

}  // namespace clearformer
