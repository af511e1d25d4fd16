// Llama (1, 2, 3, 3.2): pre-norm decoder with RMSNorm, rotary positions, grouped queries, SwiGLU.
// Source: Touvron et al. 2023, arXiv 2302.13971; transformers' LlamaForCausalLM.

#include "clearformer/models/config.h"
#include "clearformer/models/rotary_config.h"
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
  model.rotary = read_rotary(config, model.block.attention.d_head, model.n_ctx);
  model.n_ctx = reachable_positions(model.rotary, model.n_ctx);
  return model;
}

}  // namespace

const Architecture kLlama{"llama", read_config, names};

}  // namespace clearformer
