// NameMap: maps our names of tensors to a checkpoint's.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace clearformer {

/// Layout of a matrix in the file: (out, in) as in torch.nn.Linear, or (in, out) as in GPT-2's Conv1D.
enum class Layout { out_in, in_out };

/// A tensor as stored in the checkpoint.
struct StoredName {
  std::string name;
  std::size_t part = 0;
  std::size_t parts = 1;
  Layout layout = Layout::out_in;
  std::size_t groups = 1;
  std::size_t expert = 0;
  std::size_t experts =
      0;  // extent of a leading axis, of which it is in one place; 0: there is none

  bool is_whole() const { return parts == 1 && experts == 0; }
};

/// Maps our names of tensors to those of a checkpoint, by rules, one a line.
///
/// "attn self_attn" replaces a run of segments of our name, wherever it occurs: "blocks.0.attn.q_proj.weight" becomes
/// "blocks.0.self_attn.q_proj.weight". One segment of ours may be '*', which matches any segment and stands for it in
/// theirs. A run alone is removed; one of theirs that begins with '/' is the whole name, without the prefix.
///
/// "q_proj.weight in_proj_weight 0/3": the stored tensor holds 3 of ours, stacked along its outputs, of which this is
/// part 0. With 0 parts they may differ in size: part 0 is the first, part k begins k times its own size before the end.
/// A tensor of several groups is stacked in this way group by group: "q_proj query_key_value 0/3/n" for rows q, k, v of
/// head 0, then of head 1, … (n: as many groups as there are key/value heads, else their number).
///
/// "experts.*.up_proj.weight experts.gate_up_proj 1/2/e": the stored tensor has an axis of experts in front, [E, 2F, D], and
/// ours is part 1 of 2 at the place that '*' stands for.
///
/// "o_proj c_proj turned": the matrix is stored as Layout::in_out.
class NameMap {
 public:
  /// At each segment the first matching rule applies; segments that no rule matches are kept. `prefix` is prepended
  /// to each result. The rules' text has to outlive the map.
  explicit NameMap(std::string_view rules = "", std::string prefix = "")
      : prefix_(std::move(prefix)) {
    add(rules);
  }

  /// Appends rules.
  void add(std::string_view rules);

  /// The groups of rules with n.
  void set_key_value_heads(std::size_t heads) { key_value_heads_ = heads; }
  /// The number of experts of rules with e.
  void set_experts(std::size_t experts) { experts_ = experts; }

  /// The stored form of our tensor `path`, such as "blocks.0.attn.q_proj.weight".
  StoredName stored(std::string_view path) const;

 private:
  std::vector<std::string_view> rules_;
  std::string prefix_;
  std::size_t key_value_heads_ = 1, experts_ = 1;
};

}  // namespace clearformer
