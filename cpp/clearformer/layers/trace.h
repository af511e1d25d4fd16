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

class Trace {
 public:
  using Edit = std::function<void(std::string_view name, MutableTensorView value)>;

  /// Keeps a copy of every hook point whose name matches; '*' stands for any run of characters.
  void capture(std::string pattern) { captures_.push_back(std::move(pattern)); }

  /// Calls `edit` with every hook point that matches; what it writes there the model goes on with.
  /// Edits run in the order they were added, before the value is captured.
  void edit(std::string pattern, Edit edit) {
    edits_.emplace_back(std::move(pattern), std::move(edit));
  }

  struct Captured {
    std::string name;
    std::string legend;  // the axes in words: "batch head query_pos key_pos"
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
  void visit(const std::string& name, MutableTensorView value, std::string_view legend);

 private:
  std::vector<std::string> captures_;
  std::vector<std::pair<std::string, Edit>> edits_;
  std::vector<Captured> captured_;
};

/// A place in the model's tree of hook names; empty when nobody traces.
class TraceScope {
 public:
  TraceScope() = default;
  explicit TraceScope(Trace* trace, std::string path = "")
      : trace_(trace), path_(std::move(path)) {}

  explicit operator bool() const { return trace_ != nullptr; }
  TraceScope operator/(std::string_view child) const {
    return trace_ == nullptr ? TraceScope() : TraceScope(trace_, name(child));
  }
  bool edits(std::string_view leaf) const { return trace_ != nullptr && trace_->edits(name(leaf)); }
  bool wants(std::string_view leaf) const { return trace_ != nullptr && trace_->wants(name(leaf)); }
  /// Offers a value: it is edited in place and copied where the trace asks for it.
  void operator()(std::string_view leaf, MutableTensorView value, std::string_view legend) const {
    if (trace_ != nullptr) trace_->visit(name(leaf), value, legend);
  }

 private:
  std::string name(std::string_view leaf) const {
    return path_.empty() ? std::string(leaf) : path_ + "." + std::string(leaf);
  }
  Trace* trace_ = nullptr;
  std::string path_;
};

}  // namespace clearformer
