#include "clearformer/models/model.h"

#include <algorithm>
#include <iterator>

#include "clearformer/models/cost.h"
#include "clearformer/models/lens_weights.h"
#include "clearformer/tensor/memory_budget.h"
#include "clearformer/tensor/pattern.h"
#include "clearformer/tensor/typed_memory.h"

namespace clearformer {

bool ModelInputs::has_source() const {
  return input_ids || inputs_embeds || input_features || (cache != nullptr && cache->has_memory());
}

bool ModelInputs::has_target() const {
  return decoder_input_ids || decoder_inputs_embeds || (residual && has_source());
}

Tensor* ModelOutputs::find(std::string_view name) {
  for (auto& [key, tensor] : tensors) {
    if (key == name) return &tensor;
  }
  return nullptr;
}

Tensor& ModelOutputs::at(std::string_view name) {
  if (Tensor* tensor = find(name)) return *tensor;
  fail(ErrorCode::invalid_argument, "model: there is no output \"", name, "\"");
}

std::vector<std::string> Model::synonyms(std::string_view path) const {
  std::vector<std::string> names;
  for (const NameMap& map : synonyms_) names.push_back(map.stored(path).name);
  return names;
}

ModelOutputs Model::forward(const ModelInputs& inputs, Trace* trace) {
  return typed_memory([&] {
    const std::unique_ptr<ForwardPass> pass = start(inputs, trace);
    while (pass->step()) continue;
    return std::move(pass->outputs());
  });
}

KeyValueCache Model::make_cache() const {
  fail(ErrorCode::unsupported, config_.model_type, " for the task ", to_string(config_.task),
       " generates no tokens: it keeps no keys and values");
}

std::unique_ptr<ForwardPass> Model::start_encoding(const ModelInputs&, Trace*) { return nullptr; }

std::unique_ptr<ForwardPass> Model::start_step(const ModelInputs&, Trace*) {
  fail(ErrorCode::unsupported, config_.model_type, " for the task ", to_string(config_.task),
       " generates no tokens");
}

const std::vector<HookPoint>& Model::hooks() {
  if (!hooks_.empty()) return hooks_;
  Trace trace;
  for (const char* pattern : {"*", "*hook_result", "*_input", "*hook_mlp_in"}) {
    trace.capture(pattern);
  }
  probe(trace);
  for (Trace::Captured& entry : trace.captured()) {
    hooks_.push_back({std::move(entry.name), std::move(entry.legend), entry.value.shape()});
  }
  return hooks_;
}

namespace {

// Number of elements of a hook point in a pass of that size.
std::size_t elements_of(const HookPoint& hook, PassSize size) {
  const bool pools = hook.name.find("pooler.") != std::string::npos;
  const bool cross = pools || hook.name.find("cross_attn") != std::string::npos;
  if (pools) {  // one query, and all positions as its memory
    size.memory = size.positions;
    size.positions = 1;
  }
  Shape shape = hook.shape;
  const std::vector<std::string_view> axes = split(hook.legend);
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    const std::string_view word = axes[axis];
    if (word == "batch") shape[axis] = size.batch;
    if (word == "pos" || word == "query_pos") shape[axis] = size.positions;
    if (word == "frame") shape[axis] = 2 * size.positions;
    if (word != "key_pos") continue;
    const bool of_scores = axis == 3;
    shape[axis] = cross ? size.memory : (of_scores ? size.past : 0) + size.positions;
  }
  return shape.elements();
}

}  // namespace

std::uint64_t Model::capture_bytes(const ModelInputs& inputs, const Trace& trace) {
  std::uint64_t kept = 0, scores = 0;  // may exceed the address space
  const std::vector<PassSize> passes = sizes(inputs);
  for (const HookPoint& hook : hooks()) {
    if (!trace.captures(hook.name)) continue;
    for (const PassSize& pass : passes) {
      // A classifier behind two stacks reads the last one.
      const bool behind = &pass == &passes.back() && hook.name.starts_with("classifier.");
      if (!behind && !hook.name.starts_with(pass.scope)) continue;
      const std::uint64_t elements = elements_of(hook, pass);
      // What a part keeps is known in the pass only; it is usually little.
      if (trace.captures_whole(hook.name)) kept += elements;
      // While traced, attention materialises one whole matrix of scores.
      if (hook.legend.find("query_pos") != std::string::npos) scores = std::max(scores, elements);
    }
  }
  return (kept + scores) * sizeof(float);
}

const TowerConfig& Model::tower_of(const PassSize& pass) const {
  const bool second = pass.scope == "decoder" || pass.scope == "vision_model";
  return second ? *config_.second : config_.tower;
}

std::uint64_t Model::pass_bytes(const std::vector<PassSize>& passes, const ModelInputs& inputs,
                                bool with_logits) {
  std::uint64_t activations = 0;
  for (const PassSize& pass : passes) {
    activations = std::max(activations, activation_bytes(tower_of(pass), pass));
  }
  const PassSize& last = passes.back();
  const std::uint64_t positions = bounded_product(last.batch, last.positions);
  const bool words = with_logits && word_output().output != nullptr && !inputs.stop_at_layer;
  const std::uint64_t logits = words ? config_.d_vocab() * sizeof(float) : 0;
  const std::size_t few = inputs.logits_to_keep.size();
  const std::uint64_t outputs =
      bounded_product(few == 0 ? positions : bounded_product(last.batch, few), logits);
  const CacheBytes cache = inputs.cache != nullptr ? cache_bytes(config_) : CacheBytes();
  const std::uint64_t kept = bounded_sum(cache.per_position, cache.per_last_position);
  // The arena's memory from earlier passes is reused.
  const std::uint64_t fresh = activations - std::min<std::uint64_t>(activations, arena_.bytes());
  return bounded_sum(bounded_sum(fresh, bounded_product(last.batch, cache.per_sequence)),
                     bounded_sum(outputs, bounded_product(positions, kept)));
}

void Model::expect_memory(const ModelInputs& inputs, const Trace* trace) {
  const std::vector<PassSize> passes = sizes(inputs);
  if (passes.empty()) return;
  if (trace != nullptr) {
    clearformer::expect_memory(capture_bytes(inputs, *trace), "capturing what was asked for takes");
  }
  const PassSize& last = passes.back();
  clearformer::expect_memory(pass_bytes(passes, inputs, true),
                             concat("forward: ", last.batch, " sequences of ", last.positions,
                                    " positions take at least"));
}

Tensor Model::unembed(const TensorView& residual, Normalize normalize) {
  const auto [tower, output, head] = word_output();
  if (output == nullptr) {
    fail(ErrorCode::unsupported, config_.model_type, " for the task ", to_string(config_.task),
         " has no output layer");
  }
  Arena::Frame frame(arena_);
  const MutableTensorView x = tower->finished(residual, normalize == Normalize::yes, arena_);
  Tensor logits({x.dim(0), x.dim(1), config_.d_vocab()});
  if (head == nullptr) {
    output->forward(x, logits);
  } else {
    output->forward(head->forward(x, {arena_, TraceScope()}), logits);
  }
  return logits;
}

Directions Model::logit_directions(const TensorView& tokens) const {
  const auto [tower, output, head] = word_output();
  if (output == nullptr) refuse_words();
  if (head != nullptr) {
    fail(ErrorCode::unsupported,
         "logits are no sum of shares here: an activation comes before the output layer");
  }
  return clearformer::logit_directions(*tower, *output, tokens);
}

Directions Model::head_directions(std::size_t layer, KeyRole keys,
                                  const TensorView& directions) const {
  const WordOutput words = word_output();
  if (words.output == nullptr) refuse_words();
  return clearformer::head_directions(*words.tower, layer, keys, directions);
}

ParameterView Model::parameter(std::string_view name) const {
  if (auto view = parameters_.stored(name)) return *std::move(view);
  return lens_weight(config_, parameters_, name);
}

void Model::edit_parameter(std::string_view name, const ParameterEdit& edit) {
  parameters_.edit(parameter(name), edit);
}

void Model::refuse_words() const {
  fail(ErrorCode::unsupported, config_.model_type, " for the task ", to_string(config_.task),
       " predicts no words");
}

void Model::expect_logits(const ModelInputs& inputs) const {
  if (word_output().output == nullptr) {
    fail(ErrorCode::unsupported, "forward: ", config_.model_type, " for the task ",
         to_string(config_.task), " takes no logits_to_keep");
  }
  const bool encodes = config_.kind == ModelKind::encoder_decoder && !inputs.has_target();
  if (!inputs.stop_at_layer && !encodes) return;
  fail(ErrorCode::invalid_argument, "forward: logits_to_keep in a pass that computes no logits");
}

// The input whose place the residual stream takes: the first one needed, except that a source needs a target.
std::string_view Model::replaced_input(const ModelInputs& inputs,
                                       std::initializer_list<std::string_view> needed) const {
  if (config_.kind == ModelKind::encoder_decoder && inputs.has_source()) return "decoder_input_ids";
  return needed.size() == 0 ? std::string_view() : *needed.begin();
}

void Model::expect_inputs(const ModelInputs& inputs, std::initializer_list<std::string_view> needed,
                          std::initializer_list<std::string_view> optional) const {
  const std::string_view replaced = replaced_input(inputs, needed);
  const auto place_of = [&](const InputName& entry) {
    return entry.name == "residual" ? replaced : entry.in_place_of;
  };
  const auto in = [](std::initializer_list<std::string_view> list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  // The name under which an input, or what takes its place, is given; empty: not at all.
  const auto given = [&](std::string_view name) {
    for (const InputName& entry : kInputNames) {
      if (inputs.*entry.member && (entry.name == name || place_of(entry) == name)) {
        return entry.name;
      }
    }
    return std::string_view();
  };
  for (const InputName& entry : kInputNames) {
    const ModelInputs::Input& input = inputs.*entry.member;
    if (!input) {
      if (!in(needed, entry.name) || !given(entry.name).empty()) continue;
      fail(ErrorCode::invalid_argument, "forward: ", config_.model_type, " needs ", entry.name);
    }
    // Of frames: ignored, as in transformers.
    if (&input == &inputs.attention_mask && inputs.input_features) continue;
    const std::string_view place = place_of(entry);
    if (!in(needed, place) && !in(optional, place)) {
      fail(ErrorCode::unsupported, "forward: ", config_.model_type, " takes no ", entry.name);
    }
    if (input->dtype() != entry.dtype) {
      fail(ErrorCode::dtype_mismatch, "forward: ", entry.name, " holds ", to_string(input->dtype()),
           ", expected ", to_string(entry.dtype));
    }
    if (place != entry.name && given(place) != entry.name) {
      fail(ErrorCode::invalid_argument, "forward: ", given(place), " and ", entry.name,
           " exclude each other");
    }
    const bool of_samples = config_.tower.waveform && entry.about != entry.name;
    const std::string_view about = of_samples ? "input_values" : entry.about;
    if (about != entry.name && given(about).empty()) {
      fail(ErrorCode::invalid_argument, "forward: ", entry.name, " needs ", about);
    }
  }
  if (!inputs.logits_to_keep.empty()) expect_logits(inputs);
  if (inputs.start_at_layer.has_value() != inputs.residual.has_value()) {
    fail(ErrorCode::invalid_argument,
         "forward: start_at_layer needs residual, and residual needs it");
  }
  if (inputs.interpolate_pos_encoding && !inputs.pixel_values) {
    fail(ErrorCode::invalid_argument, "forward: interpolate_pos_encoding needs pixel_values");
  }
  if (inputs.cache != nullptr) expect_cache(inputs);
}

void Model::expect_cache(const ModelInputs& inputs) const {
  if (!config_.decodes()) {
    fail(ErrorCode::unsupported, "forward: ", config_.model_type, " keeps no keys and values");
  }
  const KeyValueCache& cache = *inputs.cache;
  const StackConfig& stack = config_.main().stack;
  const AttentionConfig& attention = stack.block.attention;
  const std::size_t groups = attention.num_key_value_heads;
  const bool encodes = config_.kind == ModelKind::encoder_decoder;
  const bool is_like = cache.has_memory() ? encodes : !encodes || cache.length() == 0;
  if (is_like && cache.fits(config_.n_layers(), groups == 0 ? attention.num_heads : groups,
                            attention.d_head, inputs.start_at_layer.value_or(0), &stack)) {
    return;
  }
  fail(ErrorCode::invalid_argument,
       "forward: past_key_values are not those of this model, or of a pass from another layer on");
}

}  // namespace clearformer
