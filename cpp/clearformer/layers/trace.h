// Trace: reads and edits the activations of a running model at its hook points.
//
// A layer offers each intermediate tensor once, under its TransformerLens name
// ("blocks.0.attn.hook_pattern"). Without a trace that costs one branch.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clearformer/tensor/pattern.h"
#include "clearformer/tensor/tensor.h"

namespace clearformer {

class Gradient;
class WeightGradients;

/// A hook point's value, as offered by a layer.
struct Offered {
  std::string_view name;
  std::string_view legend;  // the names of the axes: "batch head query_pos key_pos"
  MutableTensorView value;
  std::size_t past = 0;  // number of cached positions before the value's first one
};

/// Whether the value of a hook point is computed only for patterns that name it: one with an axis of heads that the model
/// does without (hook_result, hook_q_input, hook_k_input, hook_v_input), and hook_mlp_in; also inputs_embeds and residual,
/// which have a gradient and no hook point.
bool is_on_request(std::string_view name);

/// Whether a pattern selects a hook point. One that is computed on request must be named: the pattern would not match
/// another leaf of the same scope, so that "*" and "blocks.0.*" do not select it, "*.hook_result" does.
bool selects(std::string_view pattern, std::string_view name);

/// An edit of activations, given as data. The lists of indices select a region of the tensor, to which the value is
/// broadcast as by NumPy. An empty list selects all, negative indices count from the end; none may be selected twice.
struct Edit {
  enum class Op {
    zero,
    mean,     // each feature: its mean over batch and positions, or the value if given
    scale,    // multiplied by the value
    add,      // plus the value
    replace,  // replaced by the value
    noise,    // plus normal noise, whose standard deviation is the value
    project_out,  // minus its projection onto the span of the value's rows, [feature] or [direction, feature]
    clamp,  // at least `min`, at most `max`
  };
  std::string hook;  // its name; '*' matches any run of characters
  Op op = Op::zero;
  std::vector<std::int64_t> rows = {};  // of the batch; in a generation, of the prompts
  std::vector<std::int64_t> heads = {};
  std::vector<std::int64_t> positions =
      {};  // in the whole sequence; of scores and patterns, the queries'
  std::vector<std::int64_t> key_positions = {};  // of scores and patterns
  std::vector<std::int64_t> features = {};       // of the last axis: neurons, dimensions of a head
  Tensor value = {};                             // float32; empty: none
  Tensor min = {}, max = {};                     // of clamp: at least one; broadcast like the value
  std::optional<std::uint64_t> seed = {};        // of noise; default 0
};

/// "zero", "mean", …; throws invalid_argument for any other name.
Edit::Op op_named(std::string_view name);

/// What is captured of hook points: the part that the lists of indices select, as in Edit, then reduced.
struct Capture {
  enum class Reduction { none, mean, max, norm, top_k };
  std::string hook;  // its name; '*' matches any run of characters
  std::vector<std::int64_t> rows = {}, heads = {}, positions = {}, key_positions = {},
                            features = {};
  Reduction reduction = Reduction::none;
  std::vector<std::string> over =
      {};             // axes: "row", "head", "pos", "key_pos", "feature"; top_k: one
  std::size_t k = 0;  // of top_k
};

/// "none", "mean", "max", "norm", "top_k"; throws invalid_argument for any other name.
Capture::Reduction reduction_named(std::string_view name);
/// Throws invalid_argument for a reduction without axes and the reverse, and for top_k without its number.
void check(const Capture& capture);

/// Whether a function of the user is running, to which edits cannot be added meanwhile.
class Running {
 public:
  /// One runs until the end of the scope.
  class Scope {
   public:
    explicit Scope(const Running& of) : of_(of), before_(std::exchange(of.running_, true)) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { of_.running_ = before_; }

   private:
    const Running& of_;
    bool before_;
  };
  /// Throws invalid_argument if one is running.
  void refuse_edit(std::string_view pattern) const;

 private:
  mutable bool running_ = false;
};

/// The steps of a generation from that many prompts (0: a pass by itself). Together they compute the positions from
/// `first`, before which the cache has them, to before `end` at most.
struct Steps {
  std::size_t prompts = 0;
  std::size_t first = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
};

/// Which values of a pass are captured or edited, and the captured copies.
class Trace {
 public:
  using Function = std::function<void(std::string_view name, const MutableTensorView& value)>;

  /// Copies the value of every hook point that the pattern selects; '*' matches any run of characters.
  void capture(std::string pattern) { captures_.push_back(std::move(pattern)); }
  /// Captures a part only. Throws as check(). During the pass: invalid_argument for indices and axes that do not exist.
  void capture(Capture capture);

  /// Calls the function at every matching hook point; the model continues with what it writes. Edits run in the order
  /// they were added, before the value is captured. `backward` is called with the gradient of what the function wrote
  /// and writes that of what it was given; without it, a differentiated pass refuses functions that change a value.
  /// While one of them runs, edit() throws invalid_argument: layers have asked for the edits of a pass before.
  void edit(std::string pattern, Function function, Function backward = {});
  /// Throws invalid_argument for an op whose value is missing or superfluous.
  /// During the pass: invalid_argument for rows, heads, positions and features that do not exist, shape_mismatch for
  /// a value that does not fit the region.
  void edit(Edit edit);

  /// The following passes are the steps of a generation: a selected position may be absent if another step may have it (a
  /// part of which all are is not captured), and each prompt may be several rows of the batch.
  void watch_steps(const Steps& steps) { steps_ = steps; }
  /// Throws invalid_argument for an edit that matched no hook point in the passes so far.
  void check_all_met() const;

  /// A captured value, with its hook's name and the names of its axes.
  struct Captured {
    std::string name;
    std::string legend;
    Tensor value;
    Tensor indices =
        {};  // int32, of top_k: in the whole activation, positions in the whole sequence
    bool selected = false;  // by a Capture
  };
  /// In the order they were computed; those of another pass are appended.
  std::vector<Captured>& captured() { return captured_; }
  const std::vector<Captured>& captured() const { return captured_; }
  /// The captured tensor of that name, of the first pass that has one; throws invalid_argument if there is none.
  const Tensor& at(std::string_view name) const;

  /// Passes are differentiated from now on, see gradient.h; null: they are not.
  void differentiate(Gradient* gradient) { gradient_ = gradient; }
  Gradient* gradient() const { return gradient_; }
  /// Ends that when it is destroyed.
  struct End {
    void operator()(Trace* trace) const { trace->differentiate(nullptr); }
  };
  using Differentiation = std::unique_ptr<Trace, End>;
  Differentiation differentiation() { return Differentiation(this); }

  bool wants(std::string_view name) const;
  /// Whether a value is captured, whole or in part.
  bool captures(std::string_view name) const;
  bool captures_whole(std::string_view name) const;
  bool edits(std::string_view name) const;
  void visit(const Offered& offered);
  /// Propagates the gradient of a hook point through its edits, the last one first.
  void visit_back(const Offered& gradient) const;
  /// An edit, in the order they were added; throws invalid_argument unless it has a value.
  const Edit& edit_with_value(std::size_t index) const;
  const Running& running() const { return running_; }

 private:
  struct Change {
    std::string pattern;
    std::shared_ptr<const Edit> data;  // or
    Function function, backward;
    bool met = false;
  };
  void add(Change change);
  // Apart from visit(), which passes with names of hook points alone run: they do without the functions below.
  [[gnu::noinline]] void run_edits(const Offered& offered);
  [[gnu::noinline]] void capture_parts(const Offered& offered);
  void apply(const Change& change, const Offered& offered) const;
  void apply_kept(const Change& change, const Offered& offered) const;
  std::vector<std::string> captures_;
  std::vector<Capture> parts_;
  std::vector<Change> changes_;
  Running running_;
  std::vector<Captured> captured_;
  Steps steps_;
  Gradient* gradient_ = nullptr;
};

/// A node in the tree of hook names; empty without a trace.
class TraceScope {
 public:
  TraceScope() = default;
  explicit TraceScope(Trace* trace, std::string path = "", std::size_t past = 0)
      : trace_(trace), path_(std::move(path)), past_(past) {}

  explicit operator bool() const { return trace_ != nullptr; }
  TraceScope operator/(std::string_view child) const {
    return trace_ == nullptr ? TraceScope() : TraceScope(trace_, name(child), past_);
  }
  /// The same node; the values it offers begin at position `past`.
  TraceScope after(std::size_t past) const { return TraceScope(trace_, path_, past); }

  bool edits(std::string_view leaf) const { return trace_ != nullptr && trace_->edits(name(leaf)); }
  bool wants(std::string_view leaf) const { return trace_ != nullptr && trace_->wants(name(leaf)); }
  /// Offers a value, which is edited in place and copied if the trace requests it.
  void operator()(std::string_view leaf, const MutableTensorView& value,
                  std::string_view legend) const {
    if (trace_ != nullptr) trace_->visit({name(leaf), legend, value, past_});
  }

  // Of a differentiated pass, see gradient.h.

  /// Whether the forward pass keeps values for the backward pass.
  bool keeps() const { return trace_ != nullptr && trace_->gradient() != nullptr && keeping(); }
  /// Keeps a copy of a value for the backward pass, if there is one.
  void keep(std::string_view leaf, const TensorView& value) const {
    if (keeps()) keep_copy(leaf, value);
  }
  /// The same for a value that only gradients of weights need.
  bool keeps_inputs() const { return keeps() && weights() != nullptr; }
  /// Whether the pass returns the logits of a language model.
  bool returns_logits() const;
  /// A value that the forward pass kept.
  TensorView kept(std::string_view leaf) const;
  bool has_kept(std::string_view leaf) const;
  /// Whether back() may change the gradient of a hook point, whose memory must then be its own.
  bool changes_back(std::string_view leaf) const;
  /// The mirror of operator(): completes the gradient of a hook point's value, offers it, and turns it in place into
  /// that of the value before its edits.
  void back(std::string_view leaf, const MutableTensorView& gradient,
            std::string_view legend) const;
  /// Offers the gradient of an input of the model.
  void input_back(std::string_view input, const MutableTensorView& gradient,
                  std::string_view legend) const;
  /// Whether the gradient of a hook point is sought or changed: layers that fuse it then compute it.
  bool concerns_back(std::string_view leaf) const;
  /// The sums of the weights' gradients; null if none are wanted.
  WeightGradients* weights() const;
  /// Null if the pass is not differentiated.
  Gradient* gradient() const { return trace_ == nullptr ? nullptr : trace_->gradient(); }
  /// The name of this node.
  const std::string& path() const { return path_; }

 private:
  bool keeping() const;
  void keep_copy(std::string_view leaf, const TensorView& value) const;
  std::string name(std::string_view leaf) const {
    return path_.empty() ? std::string(leaf) : path_ + "." + std::string(leaf);
  }
  Trace* trace_ = nullptr;
  std::string path_;
  std::size_t past_ = 0;
};

}  // namespace clearformer
