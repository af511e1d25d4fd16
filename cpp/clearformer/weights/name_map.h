// NameMap: how an architecture's checkpoint spells the names of the shared layers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clearformer {

/// "blocks.{i}.attn.q_proj" -> "model.layers.{i}.self_attn.q_proj": module names, without
/// ".weight" and ".bias"; {i} stands for one number.
struct NameRule {
  std::string_view ours;
  std::string_view theirs;
};

class NameMap {
 public:
  /// Without rules every name stands for itself. `prefix` is put before each result.
  explicit NameMap(std::vector<NameRule> rules = {}, std::string prefix = "")
      : rules_(std::move(rules)), prefix_(std::move(prefix)) {}

  /// The checkpoint's name of the module `ours`.
  std::string theirs(std::string_view ours) const;

 private:
  std::vector<NameRule> rules_;
  std::string prefix_;
};

}  // namespace clearformer
