#include <algorithm>
#include <limits>

#include "clearformer/models/model.h"
#include "clearformer/models/tower.h"
#include "clearformer/tensor/memory_budget.h"
#include "clearformer/tensor/pattern.h"
#include "clearformer/tensor/typed_memory.h"

namespace clearformer {

namespace {

// Token embeddings are sought in the scope of their tower, also where ids are given.
constexpr std::string_view kInputsSought[] = {"pixel_values",
                                              "input_features",
                                              "input_values",
                                              "inputs_embeds",
                                              "encoder.inputs_embeds",
                                              "decoder.inputs_embeds",
                                              "text_model.inputs_embeds",
                                              "residual",
                                              "encoder.residual",
                                              "decoder.residual"};

std::uint64_t numbers_of(const Parameter& parameter) {
  return std::uint64_t{parameter.rows->outputs()} * parameter.rows->inputs();
}

}  // namespace

bool ForwardPass::step_back() {
  fail(ErrorCode::unsupported, "gradient: this kind of model has none");
}

// The hook points, inputs and weights whose gradients are sought.
std::vector<std::string> Model::sought_places(const Trace& trace, const Gradient& gradient,
                                              std::vector<const Parameter*>& weights) {
  std::vector<std::string> places;
  const auto want_weight = [&](const Parameter& parameter) {
    weights.push_back(&parameter);
    places.push_back(parameter.path);
  };
  for (const std::size_t edit : gradient.wanted_edits()) {
    const std::string& pattern = trace.edit_with_value(edit).hook;
    for (const HookPoint& hook : hooks()) {
      if (selects(pattern, hook.name)) places.push_back(hook.name);
    }
  }
  for (const HookPoint& hook : hooks()) {
    if (gradient.seeks(hook.name)) places.push_back(hook.name);
  }
  for (const std::string_view input : kInputsSought) {
    if (gradient.seeks(input)) places.emplace_back(input);
  }
  for (const std::string& name : gradient.wanted_adapters()) {
    for (const Parameter& matrix : adapters_.parameters(name).all()) weights.push_back(&matrix);
    for (const std::string& path : adapters_.layers(name)) places.push_back(path);
  }
  for (const std::string& name : gradient.wanted_weights()) {
    if (name.find('*') == std::string::npos) {
      for (const ParameterView::Piece& piece : parameter(name).pieces) {
        want_weight(*piece.parameter);
      }
      continue;
    }
    for (const Parameter& parameter : parameters_.all()) {
      if (matches_pattern(parameter.stored.name, name)) want_weight(parameter);
    }
  }
  return places;
}

std::unique_ptr<ForwardPass> Model::start_gradient(const ModelInputs& inputs, Trace& trace,
                                                   Gradient& gradient) {
  if (inputs.cache != nullptr) {
    fail(ErrorCode::unsupported,
         "gradient: past_key_values are not differentiated; give the whole ", "sequence");
  }
  std::vector<const Parameter*> weights;
  gradient.begin(sought_places(trace, gradient, weights));
  std::uint64_t sums = 0;
  for (const Parameter* parameter : weights) sums += numbers_of(*parameter) * sizeof(float);
  sums -= std::min<std::uint64_t>(sums, gradient.weights().bytes());  // an optimiser holds them
  choose_memory(inputs, trace, gradient, sums);
  for (const Parameter* parameter : weights) gradient.weights().want(*parameter);
  trace.differentiate(&gradient);
  Trace::Differentiation differentiation = trace.differentiation();
  std::unique_ptr<ForwardPass> pass = start(inputs, &trace);
  pass->differentiation_ = std::move(differentiation);
  return pass;
}

std::uint64_t Model::kept_bytes(const ModelInputs& inputs, const Trace& trace,
                                const Gradient& gradient, bool recomputed) {
  const bool of_weights = !gradient.wanted_weights().empty() || !gradient.wanted_adapters().empty();
  std::optional<Gradient>& one = kept_of_one_[of_weights ? 1 : 0];
  Gradient sample;
  bool of_all_experts = false;  // in the layers where a pass keeps the values of all
  for (const HookPoint& hook : hooks()) {
    if (!hook.name.ends_with("hook_expert_weights")) continue;
    if (!trace.edits(hook.name) && !gradient.concerns(hook.name)) continue;
    sample.want(hook.name);
    of_all_experts = true;
  }
  if (!one || of_all_experts) {
    sample.begin_layers();
    const std::vector<Parameter>& all = parameters_.all();
    const auto smallest = std::min_element(
        all.begin(), all.end(),
        [](const Parameter& a, const Parameter& b) { return numbers_of(a) < numbers_of(b); });
    if (of_weights && smallest != all.end()) sample.weights().want(*smallest);
    Trace sampled;
    sampled.differentiate(&sample);
    probe(sampled);
    one = std::move(sample);
  }
  std::uint64_t bytes = 0;
  std::size_t source = std::numeric_limits<std::size_t>::max();  // the encoder's lowest step
  for (const PassSize& pass : sizes(inputs)) {
    const StackConfig& stack = tower_of(pass).stack;
    std::size_t first = first_sought(pass.scope, gradient.places(), stack);
    if (pass.scope == "encoder") source = first;
    if (pass.scope == "decoder" && source <= tower_of(pass).stack.layers) {
      first = std::min<std::size_t>(first, 1);
    }
    const std::uint64_t rows = bounded_product(pass.batch, pass.positions);
    std::uint64_t most = 0, all = 0;
    for (std::size_t step = first; step <= stack.layers; ++step) {
      const std::uint64_t of_step = one->kept_bytes(
          [&](const std::string& name) { return step_in(pass.scope, name, stack) == step; });
      const bool again = recomputed && step > 0;
      most = std::max(most, again ? of_step : 0);
      all += again ? tower_of(pass).d_model() * sizeof(float) : of_step;
    }
    bytes = bounded_sum(bytes, bounded_product(rows, all + most));
  }
  if (of_all_experts) one.reset();
  return bytes;
}

void Model::choose_memory(const ModelInputs& inputs, const Trace& trace, Gradient& gradient,
                          std::uint64_t sums) {
  using Memory = Gradient::Memory;
  gradient.set_recomputing(gradient.memory() == Memory::recompute);
  const std::vector<PassSize> passes = sizes(inputs);
  if (passes.empty()) return;
  const PassSize& last = passes.back();
  const std::uint64_t pass = bounded_sum(capture_bytes(inputs, trace),
                                         pass_bytes(passes, inputs, gradient.returns_logits()));
  const auto needed = [&](bool recomputed) {
    return bounded_sum(bounded_sum(pass, sums), kept_bytes(inputs, trace, gradient, recomputed));
  };
  const std::uint64_t left = memory_budget().left(), again = needed(true);
  std::uint64_t bytes = gradient.recomputes() ? again : needed(false);
  if (gradient.memory() == Memory::automatic && bytes > left) {
    gradient.set_recomputing(true);
    bytes = again;
  }
  if (bytes <= left) return;
  const std::uint64_t each = (bytes - sums) / std::max<std::size_t>(last.positions, 1) + 1;
  const std::uint64_t fit = left < sums ? 0 : (left - sums) / each;
  const std::string recomputed =
      gradient.recomputes() ? "" : concat("; computing layers twice, ", size_text(again));
  clearformer::expect_memory(bytes,
                             concat("gradient: ", last.batch, " sequences of ", last.positions,
                                    " positions take at least"),
                             concat(recomputed, "; ", fit, " positions fit"));
}

ModelOutputs Model::gradient(const ModelInputs& inputs, Trace& trace, Gradient& gradient) {
  return typed_memory([&] {
    const std::unique_ptr<ForwardPass> pass = start_gradient(inputs, trace, gradient);
    while (pass->step()) continue;
    while (pass->step_back()) continue;
    gradient.check_all_met();
    return std::move(pass->outputs());
  });
}

Tensor Model::weight_gradient(const Gradient& gradient, std::string_view name) const {
  ParameterView view = parameter(name);
  std::vector<Parameter> sums;
  sums.reserve(view.pieces.size());
  for (ParameterView::Piece& piece : view.pieces) {
    sums.push_back(*piece.parameter);
    sums.back().rows = gradient.weights().rows(*piece.parameter);
    if (sums.back().rows == nullptr) {
      fail(ErrorCode::invalid_argument, "gradient: that of \"", name, "\" was not asked for");
    }
    piece.parameter = &sums.back();
    piece.scale = 1.0f / piece.scale;
    piece.shift = 0.0f;
  }
  return Parameters::read(view);
}

}  // namespace clearformer
