// Memory cost in bytes, known before any work is done: the key/value cache, and the activations of a forward pass.
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
  // Of the positions of the latest call, or of the last of a text (see PastRows): the inputs of convolutions.
  std::uint64_t per_last_position = 0;
  // Whatever its length: the states of delta rules, as they are and as they were (see DeltaState).
  std::uint64_t per_sequence = 0;

  bool any() const { return (per_position | per_last_position | per_sequence) != 0; }
};

/// For a model that generates tokens; zeros for others.
CacheBytes cache_bytes(const ModelConfig& config, CacheFormat format);
/// The same in the config's format.
inline CacheBytes cache_bytes(const ModelConfig& config) {
  return cache_bytes(config, config.cache_format);
}

/// What one stack's pass takes from the arena, but for some kilobytes: the residual stream, rotary tables, and a block's
/// hidden layer or its queries, keys and values, or the patches or frames that are embedded.
std::uint64_t arena_bytes(const TowerConfig& tower, const PassSize& pass);

/// What one stack's pass holds at the same time: its part of the arena, and the biases of relative positions.
std::uint64_t activation_bytes(const TowerConfig& tower, const PassSize& pass);

/// What a call needs beside the weights, in bytes: of one sequence of `positions` (for a model that generates, followed by
/// as many as the cache allocates ahead), or of one image or recording. `format` is that of the weights.
std::uint64_t call_bytes(const ModelConfig& config, std::size_t positions, MatrixFormat format);

}  // namespace clearformer
