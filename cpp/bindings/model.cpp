// Bindings: models, their forward pass, hook points, pooling, key/value caches.

#include <algorithm>
#include <limits>

#include "bindings/functions.h"
#include "bindings/open_pass.h"
#include "bindings/pace.h"
#include "clearformer/architectures/architecture.h"
#include "clearformer/loading/load_model.h"
#include "clearformer/models/sentence_pooling.h"
#include "clearformer/tensor/pattern.h"
#include "clearformer/weights/json_writer.h"

namespace clearformer::bindings {

using emscripten::val;

val OpenPass::outputs() const {
  val outputs = val::object();
  for (const auto& [name, tensor] : pass->outputs().tensors) {
    if (tensor.empty()) continue;
    outputs.set(to_value(name), to_value(tensor));
  }
  return outputs;
}

std::shared_ptr<OpenModel> model_of(const Arguments& arguments) {
  return handles().get<OpenModel>(arguments.handle("model"), "model");
}

namespace {

template <class T>
val or_null(const std::optional<T>& value) {
  return value ? val(*value) : val::null();
}

const char* position_kind(const TowerConfig& tower) {
  if (tower.rotary) return "rotary";
  if (tower.alibi) return "alibi";
  if (tower.relative) return "relative_positional_bias";
  const bool sinusoidal =
      tower.text && tower.text->positions == TextEmbeddingConfig::Positions::sinusoidal;
  return sinusoidal ? "sinusoidal" : "standard";
}

void set_tower(val& cfg, const TowerConfig& tower) {
  const BlockConfig& block = tower.stack.block;
  put(cfg, "n_layers", tower.stack.layers);
  put(cfg, "d_model", tower.d_model());
  put(cfg, "n_heads", block.attention.num_heads);
  put(cfg, "n_key_value_heads", block.attention.num_key_value_heads);
  put(cfg, "d_head", block.attention.d_head);
  put(cfg, "d_mlp", block.feed_forward.d_hidden);
  put(cfg, "d_vocab", tower.text ? tower.text->vocabulary : 0);
  put(cfg, "n_ctx", tower.max_positions);
  put(cfg, "normalization_type", to_value(block.norm.kind == NormKind::rms ? "RMS" : "LN"));
  put(cfg, "eps", block.norm.eps);
  put(cfg, "positional_embedding_type", to_value(position_kind(tower)));
  put(cfg, "rotary_base", tower.rotary ? val(tower.rotary->base) : val::null());
  put(cfg, "gated_mlp", block.feed_forward.gate == Gate::present);
}

// As JSON: hundreds of points would be thousands of calls of JavaScript. Of the axes, variable ones have their name as
// extent.
std::string json_of(const std::vector<HookPoint>& hooks) {
  JsonWriter json;
  json.open('[');
  for (const HookPoint& hook : hooks) {
    const std::vector<std::string_view> axes = split(hook.legend);
    json.open('{');
    json.key("name").text(hook.name);
    json.key("dims").open('[');
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      const std::string_view word = axes[axis];
      if (word == "batch" || word == "frame" || word.ends_with("pos")) {
        json.text(word);
      } else {
        json.count(hook.shape[axis]);
      }
    }
    json.close(']');
    json.key("axes").texts(axes);
    json.key("dtype").text(to_string(DType::f32));
    if (hook.on_request()) json.key("on_request").yes();
    json.close('}');
  }
  json.close(']');
  return json.json();
}

val directions_value(const Directions& directions) {
  val result = val::object();
  put(result, "vectors", to_value(directions.vectors));
  put(result, "bias", to_value(directions.bias));
  return result;
}

// The special tokens of a ModelConfig or a GenerationConfig.
template <class Config>
void put_tokens(val& result, const Config& config) {
  put(result, "bos_token_id", or_null(config.bos_token_id));
  put(result, "eos_token_id", to_value(config.eos_token_ids));
  put(result, "pad_token_id", or_null(config.pad_token_id));
  put(result, "decoder_start_token_id", or_null(config.decoder_start_token_id));
}

// As transformers: only what generation_config.json says; without that file what config.json itself says, as older
// checkpoints do, and its text_config where it says nothing.
GenerationConfig defaults_of(const Arguments& arguments) {
  GenerationConfig defaults;
  const bool own = arguments.has("generation_config");
  const ConfigReader file(arguments.text(own ? "generation_config" : "config"),
                          own ? "generation_config.json" : arguments.text("config_name"));
  if (const auto text = own ? std::nullopt : file.object("text_config")) {
    defaults.update(*text, GenerationConfig::Unknown::ignore);
  }
  defaults.update(file, GenerationConfig::Unknown::ignore);
  if (!own && file.flag("force_bos_token_to_be_generated")) {  // BART's before transformers 4.2
    defaults.forced_bos_token_id = defaults.bos_token_id;
  }
  return defaults;
}

}  // namespace

// model.cfg, with TransformerLens' names; the second tower (CLIP's vision tower, an encoder-decoder's
// encoder) under a key of its own.
val cfg_of(const ModelConfig& config) {
  val cfg = val::object();
  put(cfg, "model_type", to_value(config.model_type));
  put(cfg, "kind", to_value(to_string(config.kind)));
  put(cfg, "task", to_value(to_string(config.task)));
  set_tower(cfg, config.main());
  if (config.second) {
    const bool encoder = config.kind == ModelKind::encoder_decoder;
    val other = val::object();
    set_tower(other, encoder ? config.tower : *config.second);
    put(cfg, encoder ? "encoder" : "vision", other);
  }
  put(cfg, "act_fn", to_value(config.activation));
  put(cfg, "tie_word_embeddings", config.tied);
  put_tokens(cfg, config);
  return cfg;
}

std::optional<Task> task_in(const Arguments& arguments) {
  if (!arguments.has("task")) return std::nullopt;
  return task_named(arguments.text("task"));
}

val model_check(const Arguments& arguments) {
  const ConfigReader reader(arguments.text("config"), arguments.text("config_name"));
  const ModelConfig config = read_model_config(reader, task_in(arguments));
  if (arguments.has("task")) {
    const std::string name = arguments.text("task");
    if (!serves(config, name)) refuse_task(reader, name);
  }
  return val::object();
}

val model_create(const Arguments& arguments) {
  const int handle = arguments.handle("checkpoint");
  const auto reader = handles().get<CheckpointReader>(handle, "checkpoint");
  handles().release(handle);
  const std::string cache_dtype = arguments.text("cache_dtype");
  const auto cache = cache_format_named(cache_dtype);
  if (!cache) {
    fail(ErrorCode::unsupported, "cache_dtype \"", cache_dtype,
         "\" is not supported; supported: fp32, fp16, q8");
  }
  auto open = std::make_shared<OpenModel>();
  open->model = load_model(reader->finish(), arguments.text("config"), task_in(arguments),
                           arguments.text("config_name"), *cache);
  open->defaults = defaults_of(arguments);
  val result = val::object();
  val tokens = val::object();
  put_tokens(tokens, open->defaults);
  put(result, "cfg", cfg_of(open->model->config()));
  put(result, "special_tokens", tokens);
  put(result, "unexpected_tensors", to_value(open->model->unexpected_tensors()));
  put(result, "hooks", to_value(json_of(open->model->hooks())));
  put(result, "model", handles().add(std::move(open)));
  return result;
}

namespace {

std::shared_ptr<OpenPass> begun(const Arguments& arguments, OpenModel& open) {
  auto pass = std::make_shared<OpenPass>(arguments, open);
  if (!pass->given.cache && arguments.flag("use_cache")) {
    pass->given.cache = std::make_shared<KeyValueCache>(open.model->make_cache());
    pass->given.inputs.cache = pass->given.cache.get();
  }
  Trace* const trace = pass->observation.trace();
  open.model->expect_memory(pass->given.inputs, trace);
  pass->pass = open.model->start(pass->given.inputs, trace);
  return pass;
}

}  // namespace

val model_forward(const Arguments& arguments) {
  const auto open = model_of(arguments);
  if (arguments.flag("abandon")) {
    open->pass.reset();
    return val::object();
  }
  const Pace pace(arguments);
  // Any exception from here on ends the pass.
  const std::shared_ptr<OpenPass> pass =
      open->pass ? std::move(open->pass) : begun(arguments, *open);
  open->pass.reset();
  while (pass->pass->step()) {
    if (!pace.over()) continue;
    open->pass = pass;
    return Pace::pending();
  }
  val result = val::object();
  put(result, "outputs", pass->outputs());
  if (const Trace* trace = pass->observation.trace()) trace->check_all_met();
  pass->observation.report(result);
  if (arguments.has("past_key_values")) {
    put(result, "past_key_values", arguments.handle("past_key_values"));
  } else if (pass->given.cache) {
    put(result, "past_key_values", handles().add(pass->given.cache));
  }
  handles().note_peak();
  return result;
}

val model_unembed(const Arguments& arguments) {
  const auto normalize = arguments.flag("normalize") ? Model::Normalize::yes : Model::Normalize::no;
  return to_value(model_of(arguments)->model->unembed(arguments.floats("x"), normalize));
}

val model_logit_directions(const Arguments& arguments) {
  return directions_value(
      model_of(arguments)->model->logit_directions(arguments.integers("tokens")));
}

val model_head_directions(const Arguments& arguments) {
  const std::size_t layer = arguments.count("layer");
  const KeyRole keys = arguments.flag("cross") ? KeyRole::memory : KeyRole::sequence;
  return directions_value(
      model_of(arguments)->model->head_directions(layer, keys, arguments.floats("directions")));
}

namespace {

std::vector<PoolingMode> pooling_modes(const Arguments& arguments) {
  std::vector<PoolingMode> modes;
  for (const std::string& name : arguments.texts("modes")) {
    const auto mode = pooling_mode_named(name);
    if (!mode) fail(ErrorCode::invalid_argument, "pooling: \"", name, "\" is not known");
    modes.push_back(*mode);
  }
  return modes;
}

}  // namespace

val sentence_pooling(const Arguments& arguments) {
  const Tensor mask = arguments.flags("mask");
  return to_value(
      clearformer::sentence_pooling(arguments.floats("x"), mask.view(), pooling_modes(arguments)));
}

val sentence_pooling_backward(const Arguments& arguments) {
  const Tensor mask = arguments.flags("mask");
  return to_value(clearformer::sentence_pooling_backward(arguments.floats("x"), mask.view(),
                                                         pooling_modes(arguments),
                                                         arguments.floats("grad_output")));
}

val unit_vectors(const Arguments& arguments) {
  return to_value(clearformer::unit_vectors(arguments.floats("x")));
}

val unit_vectors_backward(const Arguments& arguments) {
  return to_value(
      clearformer::unit_vectors_backward(arguments.floats("x"), arguments.floats("grad_output")));
}

val cache_info(const Arguments& arguments) {
  const auto cache = handles().get<KeyValueCache>(arguments.handle("cache"), "past_key_values");
  val result = val::object();
  put(result, "batch", cache->batch());
  put(result, "length", cache->length());
  put(result, "capacity", cache->capacity());
  put(result, "bytes", cache->bytes());
  return result;
}

val cache_crop(const Arguments& arguments) {
  handles()
      .get<KeyValueCache>(arguments.handle("cache"), "past_key_values")
      ->crop(arguments.count("length"));
  return val::object();
}

val cache_copy(const Arguments& arguments) {
  const auto count = [&](const char* key) { return arguments.count(key); };
  const auto cache = handles().get<KeyValueCache>(arguments.handle("cache"), "past_key_values");
  KeyValueCache::Part part{{}, count("length"), count("first_layer")};
  constexpr std::uint64_t kMost = std::numeric_limits<std::size_t>::max();
  for (const std::int64_t row : arguments.integer_list("rows")) {
    part.rows.push_back(static_cast<std::size_t>(std::min(static_cast<std::uint64_t>(row), kMost)));
  }
  val result = val::object();
  put(result, "cache",
      handles().add(std::make_shared<KeyValueCache>(cache->copy(part, count("more")))));
  return result;
}

}  // namespace clearformer::bindings
