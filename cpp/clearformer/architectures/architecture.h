// Architecture: a supported "model_type". One file each reads its config.json and maps the names of
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

/// One of several naming schemes; `marker` occurs in the tensor names of files that use it.
struct KeyScheme {
  std::string_view marker;
  std::string_view rules;  // applied before the architecture's own
  /// Whether transformers gives these names to a model of that config; null: whenever the marker occurs in them.
  bool (*saved)(const ConfigReader&, const ModelConfig&) = nullptr;
};
/// A KeyScheme::saved: feed-forward networks with a gate.
bool is_gated(const ConfigReader& config, const ModelConfig& model);

/// A KeyScheme::saved: names that transformers' modules have, and that it reads, but not those that it writes.
bool never_saved(const ConfigReader& config, const ModelConfig& model);

/// A supported architecture: its "model_type", the keys of its config and their meaning, and the tensor names of its
/// checkpoints.
struct Architecture {
  std::string_view model_type;
  const KeyTable& keys;
  ModelConfig (*read_config)(const ConfigReader&, Task);
  std::string_view prefixes;  // of the trunk, optional in files: "bert."
  std::string_view rules;     // see NameMap
  std::span<const KeyScheme> schemes = {};
  std::string_view ignored = "";      // patterns of tensors that transformers ignores
  Task usual_task = Task::causal_lm;  // if config.json names none
  bool prefixes_classifiers = false;  // whether transformers gives the prefix to these alone

  /// The name map for this checkpoint of a model with `config`.
  NameMap names(const Weights& weights, const ModelConfig& config) const;
  /// The name map with a scheme's rules (or none) and the prefix that transformers writes.
  NameMap saved_names(const ModelConfig& config, std::string_view scheme) const;
  /// Throws malformed_file for a weight that is stored twice, with and without a prefix of the trunk.
  void expect_one_prefix(const Weights& weights) const;
  /// The name maps of all schemes, for use before the weights are read.
  std::vector<NameMap> spellings() const;
  /// Other names of the same weights: those of several schemes that do not depend on the config, else of the prefixes,
  /// without what only some files or configs have.
  std::vector<NameMap> synonyms() const;
};

/// The architecture named by `config`; throws unsupported, listing the supported ones.
const Architecture& architecture_of(const ConfigReader& config);
/// The task of the config's "architectures"; the architecture's usual task if there is none.
Task task_of(const ConfigReader& config);

/// Reads the whole config for `task`, by default the one it names. Throws malformed_config or unsupported, also for
/// weights that are stored quantised.
ModelConfig read_model_config(const ConfigReader& config, std::optional<Task> task);

/// Throws unsupported: the model_type of `config` has no head for `task`.
[[noreturn]] void refuse_task(const ConfigReader& config, std::string_view task);
[[noreturn]] void refuse_task(const ConfigReader& config, Task task);

}  // namespace clearformer
