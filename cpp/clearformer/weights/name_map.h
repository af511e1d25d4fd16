// NameMap: how a checkpoint spells the names of the shared layers.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clearformer {

/// How a matrix lies in the file: torch.nn.Linear's (out, in), or (in, out) as GPT-2's Conv1D.
enum class Layout { out_in, in_out };

/// Rewrites a run of segments of a name, wherever it stands: {"attn", "self_attn"} turns
/// "blocks.0.attn.q_proj.weight" into "blocks.0.self_attn.q_proj.weight". One segment of
/// `ours` may be '*', which fits any and stands for it in `theirs`. An empty `theirs` drops the run; one that
/// begins with '/' is the whole name from its start, without the prefix. With parts > 1 the stored tensor holds as many of ours, stacked along its outputs:
/// {"q_proj.weight", "in_proj_weight", 0, 3}. With parts 0 they may differ in size: part 0 is the
/// first, part k the k-th from the end among those of its own size.
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

/// Our names of tensors to those of a checkpoint.
class NameMap {
 public:
  /// The first rule that fits at a segment wins; segments no rule fits stay. `prefix` is put before
  /// each result.
  explicit NameMap(std::vector<NameRule> rules = {}, std::string prefix = "")
      : rules_(std::move(rules)), prefix_(std::move(prefix)) {}

  /// Puts further rules behind those there are.
  void add(std::span<const NameRule> rules) {
    rules_.insert(rules_.end(), rules.begin(), rules.end());
  }

  /// The stored form of our tensor `path`, such as "blocks.0.attn.q_proj.weight".
  StoredName stored(std::string_view path) const;

 private:
  std::vector<NameRule> rules_;
  std::string prefix_;
};

}  // namespace clearformer
