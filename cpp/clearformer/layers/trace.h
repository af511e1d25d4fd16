// Trace: reads and edits the numbers of a running model at its hook points.
//
// A layer offers each intermediate tensor once, under the name TransformerLens gives it
// ("blocks.0.attn.hook_pattern"). Without a trace that costs one branch.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clearformer/tensor/pattern.h"
#include "clearformer/tensor/tensor.h"

namespace clearformer {

/// A hook point as a layer offers it.
struct Offered {
  std::string_view name;
  std::string_view legend;  // the axes in words: "batch head query_pos key_pos"
  MutableTensorView value;
  std::size_t past = 0;  // positions before the first one of the value (those a cache holds)
};

/// The words of a legend, one for each axis.
std::vector<std::string_view> axes_of(std::string_view legend);

/// A change of activations, said as data. `heads` and `positions` pick a region of the tensor, the
/// value is broadcast to it as NumPy does.
struct Edit {
  enum class Op {
    zero,
    mean,  // each feature becomes its mean over batch and positions, or the value where there is one
    scale,    // times the value
    add,      // plus the value
    replace,  // the value
  };
  std::string hook;  // its name; '*' stands for any run of characters
  Op op = Op::zero;
  std::vector<std::int64_t> heads = {};      // empty: all; negative: from the end
  std::vector<std::int64_t> positions = {};  // the queries' of scores and patterns; as heads
  Tensor value = {};                         // float32; empty: none
};

/// "zero", "mean", …; throws invalid_argument for any other name.
Edit::Op op_named(std::string_view name);

/// Which values of a pass are copied or changed, and the copies.
class Trace {
 public:
  using Function = std::function<void(std::string_view name, const MutableTensorView& value)>;

  /// Keeps a copy of every hook point whose name matches; '*' stands for any run of characters.
  void capture(std::string pattern) { captures_.push_back(std::move(pattern)); }

  /// Calls the function with every hook point that matches; what it writes there the model goes on
  /// with. Edits run in the order they were added, before the value is captured.
  void edit(std::string pattern, Function function);
  /// Throws invalid_argument for an op without the value it needs or with one it has no use for.
  /// During the pass: invalid_argument for heads and positions that are not there, shape_mismatch for
  /// a value that does not fit the region.
  void edit(Edit edit);

  /// The passes that follow are the steps of a generation: positions may lie outside of each.
  void watch_steps() { in_steps_ = true; }
  /// Throws invalid_argument for an edit that met no hook point in the passes so far.
  void check_all_met() const;

  /// The copy of a value, with its hook's name and its axes in words.
  struct Captured {
    std::string name;
    std::string legend;
    Tensor value;
  };
  /// In the order of computation.
  std::vector<Captured>& captured() { return captured_; }
  const std::vector<Captured>& captured() const { return captured_; }
  /// The captured tensor of that name; throws invalid_argument when there is none.
  const Tensor& at(std::string_view name) const;

  bool wants(std::string_view name) const { return captures(name) || edits(name); }
  bool captures(std::string_view name) const;
  bool edits(std::string_view name) const;
  void visit(const Offered& offered);

 private:
  struct Change {
    std::string pattern;
    std::function<void(const Offered&, bool in_steps)> apply;
    bool met = false;
  };
  std::vector<std::string> captures_;
  std::vector<Change> changes_;
  std::vector<Captured> captured_;
  bool in_steps_ = false;
};

/// A place in the model's tree of hook names; empty when nobody traces.
class TraceScope {
 public:
  TraceScope() = default;
  explicit TraceScope(Trace* trace, std::string path = "", std::size_t past = 0)
      : trace_(trace), path_(std::move(path)), past_(past) {}

  explicit operator bool() const { return trace_ != nullptr; }
  TraceScope operator/(std::string_view child) const {
    return trace_ == nullptr ? TraceScope() : TraceScope(trace_, name(child), past_);
  }
  /// The same place; what it offers begins at position `past`.
  TraceScope after(std::size_t past) const { return TraceScope(trace_, path_, past); }

  bool edits(std::string_view leaf) const { return trace_ != nullptr && trace_->edits(name(leaf)); }
  bool wants(std::string_view leaf) const { return trace_ != nullptr && trace_->wants(name(leaf)); }
  /// Offers a value: it is edited in place and copied where the trace asks for it.
  void operator()(std::string_view leaf, const MutableTensorView& value,
                  std::string_view legend) const {
    if (trace_ != nullptr) trace_->visit({name(leaf), legend, value, past_});
  }

 private:
  std::string name(std::string_view leaf) const {
    return path_.empty() ? std::string(leaf) : path_ + "." + std::string(leaf);
  }
  Trace* trace_ = nullptr;
  std::string path_;
  std::size_t past_ = 0;
};

}  // namespace clearformer
