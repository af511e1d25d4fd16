// What the files of d2l.ai's classes have in common.
#pragma once

#include "clearformer/modules/factories.h"

namespace clearformer::modules {

/// Columns of a weight in the checkpoint; `fallback` if it is missing, which loading reports.
std::size_t columns_of(const WeightScope& scope, std::size_t fallback);

/// A (B, T, D) input; with `features` 0 any D is accepted.
TensorView sequence(std::string_view what, const TensorView& x, std::size_t features);

/// Heads of num_hiddens / num_heads; `bias` is the option's name.
AttentionConfig d2l_attention(const ConfigReader& options, std::string_view bias);

std::unique_ptr<Module> additive_attention(const ConfigReader& options, const WeightScope& scope);
std::unique_ptr<Module> multi_head_attention(const ConfigReader& options, const WeightScope& scope);

}  // namespace clearformer::modules
