// NameMap: how a checkpoint spells the names of the shared layers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace clearformer {

/// How a matrix lies in the file: torch.nn.Linear's (out, in), or (in, out) as GPT-2's Conv1D.
enum class Layout { out_in, in_out };

/// Rewrites a run of segments of a name, wherever it stands: {"attn", "self_attn"} turns
/// "blocks.0.attn.q_proj.weight" into "blocks.0.self_attn.q_proj.weight". An empty `theirs` drops
/// the run. With parts > 1 the stored tensor holds as many of ours, stacked along its outputs:
/// {"q_proj.weight", "in_proj_weight", 0, 3}.
struct NameRule {
  std::string_view ours;
  std::string_view theirs;
  std::size_t part = 0;
  std::size_t parts = 1;
  Layout layout = Layout::out_in;
};

/// A tensor as the checkpoint has it.
struct StoredName {
  std::string name;
  std::size_t part = 0;
  std::size_t parts = 1;
  Layout layout = Layout::out_in;
};

class NameMap {
 public:
  /// The first rule that fits at a segment wins; segments no rule fits stay. `prefix` is put before
  /// each result.
  explicit NameMap(std::vector<NameRule> rules = {}, std::string prefix = "")
      : rules_(std::move(rules)), prefix_(std::move(prefix)) {}

  /// The stored form of our tensor `path`, such as "blocks.0.attn.q_proj.weight".
  StoredName stored(std::string_view path) const;

 private:
  std::vector<NameRule> rules_;
  std::string prefix_;
};

}  // namespace clearformer
