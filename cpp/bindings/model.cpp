// Border functions: models, their forward pass, their hook points, key/value caches.

#include "bindings/functions.h"

namespace clearformer::bindings {

using emscripten::val;

namespace {

std::shared_ptr<OpenModel> model_of(const Arguments& arguments) {
  return handles().get<OpenModel>(arguments.handle("model"), "model");
}

template <class T>
val or_null(const std::optional<T>& value) {
  return value ? val(*value) : val::null();
}

// model.cfg, in TransformerLens' words.
val cfg_of(const ModelConfig& config) {
  const AttentionConfig& attention = config.block.attention;
  val cfg = val::object();
  cfg.set("model_type", config.model_type);
  cfg.set("n_layers", config.n_layers);
  cfg.set("d_model", config.d_model);
  cfg.set("n_heads", attention.num_heads);
  cfg.set("n_key_value_heads", attention.num_key_value_heads);
  cfg.set("d_head", attention.d_head);
  cfg.set("d_mlp", config.block.feed_forward.d_hidden);
  cfg.set("d_vocab", config.d_vocab);
  cfg.set("n_ctx", config.n_ctx);
  cfg.set("act_fn", config.activation);
  cfg.set("normalization_type",
          std::string(config.block.norm.kind == NormKind::rms ? "RMS" : "LN"));
  cfg.set("eps", config.block.norm.eps);
  cfg.set("positional_embedding_type", std::string("rotary"));
  cfg.set("rotary_base", config.rotary.base);
  cfg.set("gated_mlp", config.block.feed_forward.gate == Gate::present);
  cfg.set("tie_word_embeddings", config.tied);
  cfg.set("bos_token_id", or_null(config.bos_token_id));
  cfg.set("eos_token_id", to_value(config.eos_token_ids));
  cfg.set("pad_token_id", or_null(config.pad_token_id));
  return cfg;
}

// generation_config.json over what config.json says.
GenerationConfig defaults_of(const Arguments& arguments, const ModelConfig& config) {
  GenerationConfig defaults;
  defaults.eos_token_ids = config.eos_token_ids;
  defaults.pad_token_id = config.pad_token_id;
  if (arguments.has("generation_config")) {
    const ConfigReader file(arguments.text("generation_config"), "generation_config.json");
    defaults.update(file, GenerationConfig::Unknown::ignore);
  }
  return defaults;
}

}  // namespace

Observation::Observation(const Arguments& arguments)
    : attentions_(arguments.flag("output_attentions")),
      hidden_states_(arguments.flag("output_hidden_states")),
      names_(arguments.texts("names")) {
  wanted_ = attentions_ || hidden_states_ || !names_.empty();
  if (attentions_) trace_.capture("blocks.*.attn.hook_pattern");
  if (hidden_states_) {
    trace_.capture("blocks.*.hook_resid_pre");
    trace_.capture("ln_final.hook_out");
  }
  for (const std::string& name : names_) trace_.capture(name);
}

void Observation::report(val& result) const {
  const auto collect = [&](const char* key, std::initializer_list<std::string_view> patterns) {
    val list = val::array();
    for (const Trace::Captured& entry : trace_.captured()) {
      for (const std::string_view pattern : patterns) {
        if (matches_pattern(entry.name, pattern)) list.call<void>("push", to_value(entry.value));
      }
    }
    result.set(key, list);
  };
  if (attentions_) collect("attentions", {"blocks.*.attn.hook_pattern"});
  if (hidden_states_) collect("hidden_states", {"blocks.*.hook_resid_pre", "ln_final.hook_out"});
  if (names_.empty()) return;
  val captured = val::object();
  for (const Trace::Captured& entry : trace_.captured()) {
    for (const std::string& name : names_) {
      if (matches_pattern(entry.name, name)) captured.set(entry.name, to_value(entry.value));
    }
  }
  result.set("captured", captured);
}

val model_create(const Arguments& arguments) {
  const int handle = arguments.handle("checkpoint");
  const auto reader = handles().get<CheckpointReader>(handle, "checkpoint");
  handles().release(handle);
  const std::string task = arguments.text("task");
  if (task != "causal-lm") {
    fail(ErrorCode::unsupported, "task \"", task, "\" is not supported; supported: causal-lm");
  }
  const double bytes = static_cast<double>(reader->weight_bytes());
  DecoderOnlyModel model = DecoderOnlyModel::load(reader->finish(), arguments.text("config"),
                                                  arguments.text("config_name"));
  GenerationConfig defaults = defaults_of(arguments, model.config());
  val result = val::object();
  result.set("cfg", cfg_of(model.config()));
  result.set("unexpected_tensors", to_value(model.unexpected_tensors()));
  result.set("weights_bytes", bytes);
  result.set(
      "model",
      handles().add(std::make_shared<OpenModel>(OpenModel{std::move(model), std::move(defaults)})));
  return result;
}

val model_forward(const Arguments& arguments) {
  const auto open = model_of(arguments);
  const Tensor ids = arguments.integers("input_ids");
  Tensor mask, positions;
  TensorView mask_view, positions_view;
  DecoderOnlyModel::Request request;
  request.input_ids = ids;
  if (arguments.has("attention_mask")) {
    mask = arguments.flags("attention_mask");
    mask_view = mask;
    request.attention_mask = &mask_view;
  }
  if (arguments.has("position_ids")) {
    positions = arguments.integers("position_ids");
    positions_view = positions;
    request.position_ids = &positions_view;
  }
  std::shared_ptr<KeyValueCache> cache;
  const bool given = arguments.has("past_key_values");
  if (given) {
    cache = handles().get<KeyValueCache>(arguments.handle("past_key_values"), "past_key_values");
  } else if (arguments.flag("use_cache")) {
    cache = std::make_shared<KeyValueCache>(open->model.make_cache());
  }
  request.cache = cache.get();
  Observation observation(arguments);
  const Tensor logits = open->model.forward(request, observation.trace());
  val result = val::object();
  result.set("logits", to_value(logits));
  observation.report(result);
  if (given) {
    result.set("past_key_values", arguments.handle("past_key_values"));
  } else if (cache) {
    result.set("past_key_values", handles().add(std::move(cache)));
  }
  return result;
}

// Every hook point there is, from a pass over one token that records what the layers offer.
val model_hooks(const Arguments& arguments) {
  const auto open = model_of(arguments);
  const std::int32_t token = 0;
  DecoderOnlyModel::Request request;
  request.input_ids = TensorView(&token, DType::i32, {1, 1});
  Trace trace;
  trace.capture("*");
  open->model.forward(request, &trace);
  val hooks = val::array();
  for (const Trace::Captured& entry : trace.captured()) {
    val dims = val::array();
    std::size_t axis = 0;
    for (std::size_t at = 0; at < entry.legend.size(); ++axis) {
      const std::size_t end = std::min(entry.legend.find(' ', at), entry.legend.size());
      const std::string word = entry.legend.substr(at, end - at);
      const bool varies =
          word == "batch" || word == "pos" || word == "query_pos" || word == "key_pos";
      if (varies) {
        dims.call<void>("push", word);
      } else {
        dims.call<void>("push", entry.value.dim(axis));
      }
      at = end + 1;
    }
    val hook = val::object();
    hook.set("name", entry.name);
    hook.set("dims", dims);
    hook.set("dtype", std::string(to_string(entry.value.dtype())));
    hooks.call<void>("push", hook);
  }
  val result = val::object();
  result.set("hooks", hooks);
  return result;
}

val cache_info(const Arguments& arguments) {
  const auto cache = handles().get<KeyValueCache>(arguments.handle("cache"), "past_key_values");
  val result = val::object();
  result.set("batch", cache->batch());
  result.set("length", cache->length());
  result.set("capacity", cache->capacity());
  result.set("bytes", cache->bytes());
  return result;
}

val cache_crop(const Arguments& arguments) {
  handles()
      .get<KeyValueCache>(arguments.handle("cache"), "past_key_values")
      ->crop(static_cast<std::size_t>(arguments.count("length")));
  return val::object();
}

}  // namespace clearformer::bindings
