// Llama (1, 2, 3, 3.2): pre-norm decoder with RMSNorm, rotary positions, grouped queries, SwiGLU.
// Source: Touvron et al. 2023, arXiv 2302.13971; transformers' LlamaForCausalLM.

#include "clearformer/models/config.h"
#include "clearformer/weights/weights.h"

namespace clearformer {

namespace {

constexpr NameRule kRules[] = {
    {"embed", "model.embed_tokens"},
    {"blocks", "model.layers"},
    {"ln1", "input_layernorm"},
    {"attn", "self_attn"},
    {"ln2", "post_attention_layernorm"},
    {"ln_final", "model.norm"},
    {"unembed", "lm_head"},
};

NameMap names(const Weights&) {
  return NameMap(std::vector<NameRule>(std::begin(kRules), std::end(kRules)));
}

// "rope_parameters" (transformers 5) or "rope_scaling" with "rope_theta" beside it (before).
void read_rotary(const ConfigReader& config, ModelConfig& model) {
  model.rotary_base = config.number("rope_theta", 10000.0);
  auto rope = config.object("rope_parameters");
  if (!rope) rope = config.object("rope_scaling");
  if (!rope) return;
  model.rotary_base = rope->number("rope_theta", model.rotary_base);
  RotaryScaling& scaling = model.rotary_scaling;
  const std::string type = rope->text("rope_type", rope->text("type", "default"));
  if (type == "default") return;
  scaling.factor = rope->number("factor", 1.0);
  if (type == "linear") {
    scaling.kind = RotaryScaling::Kind::linear;
  } else if (type == "llama3") {
    scaling.kind = RotaryScaling::Kind::llama3;
    scaling.low_freq_factor = rope->number("low_freq_factor", 1.0);
    scaling.high_freq_factor = rope->number("high_freq_factor", 4.0);
    scaling.original_max_positions = rope->number("original_max_position_embeddings", 8192.0);
  } else {
    rope->refuse(ErrorCode::unsupported, "rope_type", "is \"", type,
                 "\"; supported: default, linear, llama3");
  }
  if (!(scaling.factor > 0.0)) rope->refuse_value("factor", "must be > 0");
}

AttentionConfig read_attention(const ConfigReader& config, std::size_t d_model) {
  AttentionConfig attention;
  attention.d_model = d_model;
  attention.num_heads = config.size("num_attention_heads");
  attention.num_key_value_heads = config.size("num_key_value_heads", attention.num_heads);
  if (attention.num_heads % attention.num_key_value_heads != 0) {
    config.refuse_value("num_key_value_heads", "is ", attention.num_key_value_heads,
                        " and does not divide num_attention_heads ", attention.num_heads);
  }
  if (config.root().find_set("head_dim") == nullptr && d_model % attention.num_heads != 0) {
    config.refuse_value("num_attention_heads", "is ", attention.num_heads,
                        " and does not divide hidden_size ", d_model);
  }
  attention.d_head = config.size("head_dim", d_model / attention.num_heads);
  if (attention.d_head % 2 != 0) {
    config.refuse_value("head_dim", "must be even for rotary positions, it is ", attention.d_head);
  }
  attention.bias = config.flag("attention_bias", false) ? Bias::present : Bias::none;
  return attention;
}

ModelConfig read_config(const ConfigReader& config) {
  ModelConfig model;
  model.model_type = "llama";
  model.d_model = config.size("hidden_size");
  model.n_layers = config.size("num_hidden_layers");
  model.d_vocab = config.size("vocab_size");
  model.n_ctx = config.size("max_position_embeddings", 2048);
  model.block.attention = read_attention(config, model.d_model);
  model.block.norm = {
      NormKind::rms, {model.d_model}, static_cast<float>(config.number("rms_norm_eps", 1e-6))};
  model.activation = config.text("hidden_act", "silu");
  const auto activation = activation_named(model.activation);
  if (!activation) {
    config.refuse(ErrorCode::unsupported, "hidden_act", "is \"", model.activation, "\"");
  }
  model.block.feed_forward = {model.d_model, config.size("intermediate_size"), *activation,
                              Gate::present,
                              config.flag("mlp_bias", false) ? Bias::present : Bias::none};
  model.tied = config.flag("tie_word_embeddings", false);
  model.eos_token_ids = config.tokens("eos_token_id");
  model.bos_token_id = config.token("bos_token_id");
  model.pad_token_id = config.token("pad_token_id");
  read_rotary(config, model);
  return model;
}

}  // namespace

const Architecture kLlama{"llama", read_config, names};

}  // namespace clearformer
