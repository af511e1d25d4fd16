// Architecture: a known "model_type", with one file that reads its config.json and spells the names of
// its tensors (see llama.cpp).
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "clearformer/architectures/key_table.h"
#include "clearformer/models/config.h"
#include "clearformer/weights/config_reader.h"
#include "clearformer/weights/name_map.h"
#include "clearformer/weights/weights.h"

namespace clearformer {

/// One way of spelling names among several; `marker` occurs in the names of files that use it.
struct KeyScheme {
  std::string_view marker;
  std::span<const NameRule> rules;  // tried before the architecture's own
};

/// A known architecture: its "model_type", the keys of its config, what they
/// mean, how its checkpoint spells names.
struct Architecture {
  std::string_view model_type;
  const KeyTable& keys;
  ModelConfig (*read_config)(const ConfigReader&, Task);
  std::span<const std::string_view> prefixes;  // of the trunk, which files may leave out: "bert."
  std::span<const NameRule> rules;
  std::span<const KeyScheme> schemes = {};
  std::span<const std::string_view> ignored = {};  // patterns of tensors that transformers ignores
  Task usual_task = Task::causal_lm;               // where config.json does not say

  /// How this checkpoint spells the names of the shared layers.
  NameMap names(const Weights& weights) const;
  /// Throws malformed_file for a weight that is there twice, with a prefix of the trunk and without it.
  void expect_one_prefix(const Weights& weights) const;
  /// All the ways a checkpoint may spell them, for when its files are not open yet.
  std::vector<NameMap> spellings() const;
};

/// The architecture that `config` names; throws unsupported, listing the known ones.
const Architecture& architecture_of(const ConfigReader& config);
/// What the config's "architectures" was saved for; the architecture's usual task where it says nothing.
Task task_of(const ConfigReader& config);

/// The whole config, for the task that is asked for or, without one, for the one the config names.
/// Throws malformed_config or unsupported; so it does for weights that are stored quantized.
ModelConfig read_model_config(const ConfigReader& config, std::optional<Task> task);

/// Throws unsupported: `config`'s model_type has no head for `task`.
[[noreturn]] void refuse_task(const ConfigReader& config, Task task);

}  // namespace clearformer
