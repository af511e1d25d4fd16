// Common to tests of models: tokens as tensors, forward passes, generations.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "support/generations.h"

namespace clearformer::test {

/// (1, T) int32
Tensor tokens(const std::vector<std::int32_t>& ids);
/// `count` tokens of row `row` of ids (B, T), starting at `first`, as (1, count).
Tensor columns(const Tensor& ids, std::size_t row, std::size_t first, std::size_t count);
/// Random ids (B, T) in [3, vocabulary).
Tensor random_ids(std::uint64_t seed, std::size_t batch, std::size_t length,
                  std::size_t vocabulary);

/// The logits of a pass.
Tensor logits_of(Model& model, const ModelInputs& inputs, Trace* trace = nullptr);
/// Logits (B, T, V) of a pass without past.
Tensor forward(Model& model, const Tensor& ids, Trace* trace = nullptr);
/// Logits of a pass after the cache's positions; the cache is extended.
Tensor forward(Model& model, const Tensor& ids, KeyValueCache& cache, Trace* trace = nullptr);

/// Our hook name for an upstream output: "hidden_states.1" -> "blocks.0.hook_resid_post".
std::string hook_of_output(const std::string& output, std::size_t layers);

/// Greedy tokens from full forward passes, without cache.
std::vector<std::int32_t> greedy_without_cache(Model& model, Tensor ids, std::size_t count);

}  // namespace clearformer::test
