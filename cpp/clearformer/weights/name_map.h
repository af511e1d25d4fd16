// NameMap: maps our names of tensors to a checkpoint's.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clearformer {

/// Layout of a matrix in the file: (out, in) as in torch.nn.Linear, or (in, out) as in GPT-2's Conv1D.
enum class Layout { out_in, in_out };

/// Replaces a run of segments of a name, wherever it occurs: {"attn", "self_attn"} turns
/// "blocks.0.attn.q_proj.weight" into "blocks.0.self_attn.q_proj.weight". One segment of `ours` may be '*', which
/// matches any segment and stands for it in `theirs`. An empty `theirs` removes the run; one that begins with '/' is
/// the whole name, without the prefix. With parts > 1 the stored tensor holds that many of ours, stacked along its
/// outputs: {"q_proj.weight", "in_proj_weight", 0, 3}. With parts 0 they may differ in size: part 0 is the first,
/// part k begins k times its own size before the end. A tensor of several groups is stacked in this way group by group:
/// {"q_proj", "query_key_value", 0, 3, Layout::out_in, kGroupPerHead} for rows q, k, v of head 0, then of head 1, …
struct NameRule {
  std::string_view ours;
  std::string_view theirs;
  std::size_t part = 0;
  std::size_t parts = 1;
  Layout layout = Layout::out_in;
  std::size_t groups = 1;
};

/// The groups of a NameRule: as many as there are key/value heads.
inline constexpr std::size_t kGroupPerHead = 0;

/// A tensor as stored in the checkpoint.
struct StoredName {
  std::string name;
  std::size_t part = 0;
  std::size_t parts = 1;
  Layout layout = Layout::out_in;
  std::size_t groups = 1;
};

/// Maps our names of tensors to those of a checkpoint.
class NameMap {
 public:
  /// At each segment the first matching rule applies; segments that no rule matches are kept. `prefix` is prepended
  /// to each result.
  explicit NameMap(std::vector<NameRule> rules = {}, std::string prefix = "")
      : rules_(std::move(rules)), prefix_(std::move(prefix)) {}

  /// Appends rules.
  void add(std::span<const NameRule> rules) {
    rules_.insert(rules_.end(), rules.begin(), rules.end());
  }

  /// The groups of rules with kGroupPerHead.
  void set_key_value_heads(std::size_t heads) { key_value_heads_ = heads; }

  /// The stored form of our tensor `path`, such as "blocks.0.attn.q_proj.weight".
  StoredName stored(std::string_view path) const;

 private:
  std::vector<NameRule> rules_;
  std::string prefix_;
  std::size_t key_value_heads_ = 1;
};

}  // namespace clearformer
