// Target: passes with edits and captures of any hook points. Each is refused with a typed error or gives the same numbers
// twice, an edit without a selection has its effect, and afterwards the model computes what it did before. Input: a
// byte for the model, then edits and captures, in bytes as Script reads them.
#include <algorithm>
#include <cmath>
#include <map>

#include "targets.h"
#include "tiny.h"

namespace clearformer::fuzz {

namespace {

constexpr std::size_t kMostChanges = 4;
constexpr float kNumbers[] = {0.0f, 1.0f, -1.0f, 0.5f, -2.25f, 3e38f, 1e-40f, INFINITY, NAN};
constexpr const char* kOps[] = {"zero",    "mean",  "scale",       "add",
                                "replace", "noise", "project_out", "clamp"};
constexpr const char* kReductions[] = {"none", "mean", "max", "norm", "top_k"};
constexpr const char* kAxes[] = {"row", "head", "pos", "key_pos", "feature", "other"};

// Reads numbers from bytes, zeros behind their end.
class Script {
 public:
  explicit Script(std::string_view bytes) : rest_(bytes) {}

  bool more() const { return !rest_.empty(); }
  std::size_t below(std::size_t count) { return count == 0 ? 0 : byte() % count; }

  // An edit of one of the hooks, or of several by a pattern.
  Edit edit(const std::vector<HookPoint>& hooks) {
    Edit edit;
    edit.hook = hook(hooks);
    edit.op = op_named(kOps[below(std::size(kOps))]);
    select(edit);
    const bool has_limits = edit.op == Edit::Op::clamp;
    if (has_limits || below(8) == 0) edit.min = tensor();
    if (has_limits && below(2) == 0) edit.max = tensor();
    const bool needs_value = edit.op != Edit::Op::zero && edit.op != Edit::Op::mean && !has_limits;
    if (needs_value != (below(16) == 0)) edit.value = tensor();
    if (edit.op == Edit::Op::noise && below(2) == 0) edit.seed = byte();
    return edit;
  }

  Capture capture(const std::vector<HookPoint>& hooks) {
    Capture capture;
    capture.hook = hook(hooks);
    select(capture);
    capture.reduction = reduction_named(kReductions[below(std::size(kReductions))]);
    if (capture.reduction == Capture::Reduction::none) return capture;
    for (std::size_t i = below(3); i != 0; --i) {
      capture.over.push_back(kAxes[below(std::size(kAxes))]);
    }
    if (capture.reduction == Capture::Reduction::top_k) capture.k = below(9);
    return capture;
  }

 private:
  std::size_t byte() {
    if (rest_.empty()) return 0;
    const auto first = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return first;
  }
  std::string hook(const std::vector<HookPoint>& hooks) {
    const std::size_t at = byte() | byte() << 8;
    const std::string& name = hooks[at % hooks.size()].name;
    return below(8) == 0 ? concat("*", name.substr(name.rfind('.') + 1)) : name;
  }
  template <class Selecting>
  void select(Selecting& selecting) {
    for (auto* list : {&selecting.rows, &selecting.heads, &selecting.positions,
                       &selecting.key_positions, &selecting.features}) {
      const std::size_t count = below(8);  // mostly none
      for (std::size_t i = 0; count < 3 && i < count; ++i) {
        list->push_back(static_cast<signed char>(byte() % 16) - 6);
      }
    }
  }
  Tensor tensor() {
    Shape shape;
    for (std::size_t rank = below(6) % 3; rank != 0; --rank) shape.append(1 + below(40));
    Tensor numbers(shape);
    for (std::size_t i = 0; i < numbers.elements(); ++i) {
      numbers.f32()[i] = kNumbers[below(std::size(kNumbers))];
    }
    return numbers;
  }

  std::string_view rest_;
};

// A model, and what it computes by itself.
struct Watched {
  explicit Watched(const Tiny& checkpoint)
      : tiny(checkpoint),
        model(load_tiny(checkpoint, checkpoint.config, checkpoint.weights, MatrixFormat::f32)),
        plain(model->forward(tiny.given.inputs)) {}

  const Tiny& tiny;
  std::unique_ptr<Model> model;
  ModelOutputs plain;
};

Watched& watched(std::size_t index) {
  static std::map<std::size_t, std::unique_ptr<Watched>> all;
  auto& found = all[index];
  if (!found) found = std::make_unique<Watched>(tiny(index));
  return *found;
}

bool selects_all(const Edit& edit) {
  return edit.rows.empty() && edit.heads.empty() && edit.positions.empty() &&
         edit.key_positions.empty() && edit.features.empty();
}

// The effect of the last edit of a hook, where it is known without the value before.
void expect_effect(const Edit& edit, const Tensor& captured) {
  const bool one = edit.op == Edit::Op::replace && edit.value.elements() == 1;
  if (!selects_all(edit) || (edit.op != Edit::Op::zero && !one)) return;
  const float wanted = one ? edit.value.f32()[0] : 0.0f;
  for (std::size_t i = 0; i < captured.elements(); ++i) {
    const float found = captured.f32()[i];
    promise(found == wanted || (std::isnan(found) && std::isnan(wanted)), "an edit had no effect");
  }
}

// What a script asks for, and what it led to.
struct Observed {
  ModelOutputs outputs;
  std::vector<Trace::Captured> captured;
  std::size_t edits = 0;
};

Observed observe(Watched& watched, Script script) {
  const std::vector<HookPoint>& hooks = watched.model->hooks();
  Trace trace;
  Observed seen;
  for (std::size_t i = 0; i < kMostChanges && script.more(); ++i) {
    if (script.below(4) == 0) {
      trace.capture(script.capture(hooks));
      continue;
    }
    Edit edit = script.edit(hooks);
    trace.capture(edit.hook);
    trace.edit(std::move(edit));
    ++seen.edits;
  }
  seen.outputs = watched.model->forward(watched.tiny.given.inputs, &trace);
  trace.check_all_met();
  seen.captured = std::move(trace.captured());
  return seen;
}

// The first edit of a script.
Edit first_edit(Watched& watched, Script script) {
  while (script.below(4) == 0) script.capture(watched.model->hooks());
  return script.edit(watched.model->hooks());
}

void run(Watched& watched, Script script) {
  const Observed first = observe(watched, script), second = observe(watched, script);
  expect_same(first.outputs, second.outputs, "the same edits have another result");
  promise(first.captured.size() == second.captured.size(), "another number of captures");
  for (std::size_t i = 0; i < first.captured.size(); ++i) {
    const Trace::Captured &one = first.captured[i], &other = second.captured[i];
    promise(one.name == other.name && same(one.value, other.value), "a capture differs");
    if (one.selected || first.edits != 1) continue;
    const Edit edit = first_edit(watched, script);
    if (edit.hook == one.name) expect_effect(edit, one.value);
  }
}

}  // namespace

void run_interventions(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t index = static_cast<unsigned char>(bytes[0]) % tiny_folders().size();
  Watched& model = watched(index);
  try {
    run(model, Script(bytes.substr(1)));
  } catch (const Error& error) {
    promise(*error.what() != '\0', "a refusal says nothing");
  }
  expect_same(model.model->forward(model.tiny.given.inputs), model.plain,
              "a pass left something behind");
}

std::vector<std::string> interventions_seeds() {
  std::vector<std::string> seeds;
  for (std::size_t folder = 0; folder < tiny_folders().size(); ++folder) {
    for (std::size_t op = 0; op < std::size(kOps); ++op) {
      // Not a capture; the hook by two bytes, not a pattern; the operation; no selections; a number.
      const std::size_t hook = 5 * folder + 7 * op;
      std::string seed{static_cast<char>(folder),
                       1,
                       static_cast<char>(hook),
                       0,
                       1,
                       static_cast<char>(op),
                       7,
                       7,
                       7,
                       7,
                       7};
      seed += std::string("\1\1\1\0\3\3\0\3", 8);
      seeds.push_back(seed + seed.substr(1));
    }
    seeds.push_back(
        std::string{static_cast<char>(folder), 0, 3, 0, 1, 1, 0, 7, 7, 7, 7, 4, 1, 4, 3});
  }
  return seeds;
}

}  // namespace clearformer::fuzz
