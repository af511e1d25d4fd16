// Gradient: reverse mode over a traced pass. Beside the Trace it says what is differentiated (the metric) and with
// respect to what; the forward pass keeps in it what the backward pass needs; the backward pass leaves its results here.
//   metric = Σ losses + Σ weight · logit + Σ weights ⊙ output + Σ weights ⊙ hook
// Edits of the trace are part of the differentiated function.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clearformer/layers/trace.h"
#include "clearformer/layers/weight_gradients.h"

namespace clearformer {

/// A term of a metric: the loss that transformers computes of the model's outputs and these labels.
struct LabelLoss {
  /// As transformers expects them for the model's task. int32, of a token, class or position, -100: not counted; of
  /// question answering (B, 2). float32 for sequences with one output (regression) or several labels.
  Tensor labels;
  float label_smoothing = 0.0f;  // 0 … 1; only of classes or tokens
  float weight = 1.0f;
};

/// A term of a metric: one logit (row of the batch, position, token), multiplied by a weight. Negative positions count
/// from the end.
struct LogitTerm {
  std::size_t row = 0;
  std::int64_t position = -1;
  std::size_t token = 0;
  float weight = 1.0f;
};

/// A term of a metric: Σ weights ⊙ value, of an output of the model or of a hook point; the weights are broadcast to it.
struct ReadOut {
  std::string name;
  Tensor weights;  // float32
};

/// What a pass differentiates, with respect to what, and what it found. For one pass at a time.
class Gradient {
 public:
  using Function = Trace::Function;

  /// Adds a term to the metric.
  void add(LabelLoss loss) { losses_.push_back(std::move(loss)); }
  void add(LogitTerm term) { logits_.push_back(term); }
  void add_output(ReadOut term) { outputs_.push_back(std::move(term)); }
  void add_hook(ReadOut term) { hooks_.push_back(std::move(term)); }

  /// Asks for the gradient of all hook points whose name matches ('*' matches any run of characters), and of the inputs
  /// "pixel_values", "input_features", "inputs_embeds" and "residual" under these names, the last two in the scope of their
  /// stack ("decoder.residual"). It is that of the value after its edits.
  void want(std::string pattern) { wanted_.push_back(std::move(pattern)); }
  /// Asks for the gradients of the weights whose name in the checkpoint matches, or of the one that TransformerLens calls
  /// so; they are read with Model::weight_gradient().
  void want_weights(std::string pattern) { wanted_weights_.push_back(std::move(pattern)); }
  /// Asks for the gradients of the matrices of an adapter of that name, which is in force.
  void want_adapter(std::string name) { wanted_adapters_.push_back(std::move(name)); }
  /// Asks for the gradient of the value of an edit: of the trace's edit number `index`, in the order they were added.
  /// That is one of data, not a function, and has a value.
  void want_edit(std::size_t index);
  /// Calls the function with the gradient of every matching hook point; what it writes is propagated and found. While it
  /// runs, edits are refused, those of the trace as well. Throws invalid_argument for an empty function.
  void edit(std::string pattern, Function function);

  /// What the forward pass keeps: what the backward pass reads, or the residual stream before each layer, which is then
  /// computed once more, with the same bits. Functions are not called again.
  enum class Memory {
    automatic,  // keep, if that certainly does not exceed the memory
    keep,
    recompute,
  };
  void set_memory(Memory memory) { memory_ = memory; }
  Memory memory() const { return memory_; }

  /// The pass does not return the logits of a language model (an empty tensor in their place): they are computed in blocks
  /// of rows and never in memory as a whole.
  void omit_logits() { omits_logits_ = true; }
  bool returns_logits() const { return !omits_logits_; }

  /// The metric's value, once the pass is complete.
  double value() const { return value_; }
  /// The gradients of hook points, the last computed value first.
  const std::vector<Trace::Captured>& found() const { return found_; }
  std::vector<Trace::Captured>& found() { return found_; }
  /// The gradient of a hook point or input; throws invalid_argument if it was not found.
  const Tensor& at(std::string_view name) const;
  /// The gradient of an edit's value, of its shape; throws invalid_argument if it was not asked for.
  const Tensor& edit_value(std::size_t index) const;
  /// The sums of the weights' gradients.
  WeightGradients& weights() { return weights_; }
  const WeightGradients& weights() const { return weights_; }

  // --- For models and layers ---------------------------------------------------------------------------------------

  const std::vector<LabelLoss>& losses() const { return losses_; }
  const std::vector<LogitTerm>& logits() const { return logits_; }
  const std::vector<ReadOut>& outputs() const { return outputs_; }
  const std::vector<std::string>& wanted_weights() const { return wanted_weights_; }
  const std::vector<std::string>& wanted_adapters() const { return wanted_adapters_; }
  void add_to_value(double term) { value_ += term; }

  /// Begins a pass. `places`: the names of all hook points and weights' paths with which it is concerned; throws
  /// invalid_argument if the metric is empty.
  void begin(std::vector<std::string> places);
  /// Begins a pass of layers outside of a model, whose caller gives the gradient of its result: everything is kept.
  void begin_layers();
  const std::vector<std::string>& places() const { return places_; }
  /// Whether a hook point's gradient is wanted, or read or changed by a function.
  bool seeks(std::string_view name) const;
  /// Whether the value of a hook point belongs to the metric or its gradient is sought.
  bool concerns(std::string_view name) const;
  /// Whether back() may change the gradient of a hook point.
  bool changes(std::string_view name) const;
  bool wants_edit(std::size_t index) const;
  const std::vector<std::size_t>& wanted_edits() const { return edits_; }
  /// Throws invalid_argument for a hook point of the metric, or one wanted or edited, that the pass did not have.
  void check_all_met() const;

  /// Whether layers are computed once more, see Memory.
  bool recomputes() const { return recomputes_; }
  void set_recomputing(bool recomputes) { recomputes_ = recomputes; }
  /// What is done with values for the backward pass: nothing, or they are kept; or what functions wrote is recorded, for a
  /// layer that is computed once more, and then it is replayed, and values are kept.
  enum class Keeping { nothing, values, records, replayed };
  bool keeping() const { return keeping_ == Keeping::values || replays(); }
  bool records() const { return keeping_ == Keeping::records; }
  bool replays() const { return keeping_ == Keeping::replayed; }
  void set_keeping(Keeping keeping) { keeping_ = keeping; }
  void keep(std::string name, const TensorView& value);
  /// A value kept under that name, the last one; null if there is none.
  const Tensor* kept(std::string_view name) const;
  /// The number of values kept so far; release() frees all later ones.
  std::size_t kept_values() const { return kept_.size(); }
  void release(std::size_t first);
  /// Their bytes: of those that the predicate accepts by their names.
  template <class Predicate>
  std::size_t kept_bytes(const Predicate& counts) const {
    std::size_t bytes = 0;
    for (const auto& [name, value] : kept_) bytes += counts(name) ? value.view().bytes() : 0;
    return bytes;
  }
  std::size_t kept_bytes() const {
    return kept_bytes([](const std::string&) { return true; });
  }

  /// Forward: adds a hook point's share to the metric.
  void read(const Offered& offered);
  /// Backward: adds the metric's cotangent, calls the functions, copies the gradient if it is wanted, and propagates it
  /// through the trace's edits, the last one first.
  void back(const Trace& trace, const Offered& gradient);
  /// Adds to the gradient of an edit's value.
  void add_to_edit(std::size_t index, const Tensor& gradient);

 private:
  struct Change {
    std::string pattern;
    Function function;
    bool met = false;
  };

  // Whether a function is called with a hook point's gradient.
  bool calls_at(std::string_view name) const;

  std::vector<LabelLoss> losses_;
  std::vector<LogitTerm> logits_;
  std::vector<ReadOut> outputs_, hooks_;
  std::vector<std::string> wanted_, wanted_weights_, wanted_adapters_, places_;
  std::vector<std::string> met_;  // of hooks_
  std::vector<std::size_t> edits_;
  std::vector<std::pair<std::string, Tensor>> edit_sums_;  // by the edit's number
  std::vector<Change> changes_;
  Running running_;
  WeightGradients weights_;
  std::vector<std::pair<std::string, Tensor>> kept_;
  std::vector<Trace::Captured> found_;
  double value_ = 0.0;
  Memory memory_ = Memory::automatic;
  Keeping keeping_ = Keeping::nothing;
  bool omits_logits_ = false, recomputes_ = false;
};

/// A gradient in the shape of the value it is of, whose elements and last axis it must have; throws shape_mismatch.
TensorView expect_gradient(const TensorView& gradient, const Shape& shape);

}  // namespace clearformer
