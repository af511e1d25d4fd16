// What the tests of models share: tokens as tensors, forward passes, generations.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "clearformer/models/generation.h"

namespace clearformer::test {

/// (1, T) int32
Tensor tokens(const std::vector<std::int32_t>& ids);
/// `count` tokens from `first` on of row `row` of ids (B, T), as (1, count).
Tensor columns(const Tensor& ids, std::size_t row, std::size_t first, std::size_t count);
/// Random ids (B, T) in [3, vocabulary).
Tensor random_ids(std::uint64_t seed, std::size_t batch, std::size_t length,
                  std::size_t vocabulary);

/// Logits (B, T, V) of a pass without past.
Tensor forward(DecoderOnlyModel& model, const Tensor& ids, Trace* trace = nullptr);
/// Logits of a pass behind what the cache holds, which it extends.
Tensor forward(DecoderOnlyModel& model, const Tensor& ids, KeyValueCache& cache,
               Trace* trace = nullptr);

/// What the checkpoint's upstream names are here: "hidden_states.1" -> "blocks.0.hook_resid_post".
std::string hook_of_output(const std::string& output, std::size_t layers);

/// Options of generate() as JSON text -> config.
GenerationConfig options(const std::string& json);

/// Steps of a generation up to its end, tokens of each row.
std::vector<std::vector<std::int32_t>> run(Generation& generation);
std::vector<std::vector<std::int32_t>> generate(DecoderOnlyModel& model, const Tensor& ids,
                                                const GenerationConfig& config,
                                                const Tensor* mask = nullptr);
/// Greedy tokens found by whole forward passes, no cache at all.
std::vector<std::int32_t> greedy_without_cache(DecoderOnlyModel& model, Tensor ids,
                                               std::size_t count);

}  // namespace clearformer::test
