// Falcon: rotary positions or ALiBi, q, k and v stacked by key/value head. Three kinds of block: attention and
// feed-forward in parallel after one norm (7B), after a norm each (40B, 11B), or one after the other (RW).
// Source: Almazrouei et al. 2023, arXiv 2311.16867; transformers' FalconForCausalLM.

#include "clearformer/architectures/gpt_like.h"
#include "clearformer/architectures/known.h"
#include "clearformer/architectures/rotary_config.h"

namespace clearformer {

namespace falcon {

constexpr std::string_view kRules = R"(
embed word_embeddings
blocks h
ln1 input_layernorm
attn self_attention
q_proj query_key_value 0/0/n
k_proj query_key_value 2/0/n
v_proj query_key_value 1/0/n
o_proj dense
ln2 post_attention_layernorm
up_proj dense_h_to_4h
down_proj dense_4h_to_h
ln_final ln_f
unembed /lm_head
)";
constexpr std::string_view kTwoNorms = R"(
ln1 ln_attn
ln2 ln_mlp
)";
bool has_two_norms(const ConfigReader&, const ModelConfig& model) {
  return model.tower.stack.block.order == NormOrder::parallel_two;
}
constexpr KeyScheme kSchemes[] = {{"ln_mlp", kTwoNorms, has_two_norms}};
constexpr std::string_view kPrefixes = "transformer.";
constexpr std::string_view kIgnored = "*.rotary_emb.inv_freq";

constexpr KeyTable kKeys{.fields = R"("vocab_size":65024,"hidden_size":4544,"num_hidden_layers":32,
"num_attention_heads":71,"num_ln_in_parallel_attn":null,"layer_norm_epsilon":1e-5,
"num_kv_heads":null,"alibi":false,"new_decoder_architecture":false,"multi_query":true,
"parallel_attn":true,"bias":false,"max_position_embeddings":2048,"rope_parameters":null,
"bos_token_id":11,"eos_token_id":11,"pad_token_id":null,"ffn_hidden_size":null,"activation":"gelu",
"tie_word_embeddings":true)",
                         .others = R"("n_embed":null,"rope_theta":10000,"rope_scaling":null,
"partial_rotary_factor":null,"original_max_position_embeddings":null)",
                         .since_5_2 = R"("is_causal":true)"};

NormOrder order_of(const ConfigReader& config) {
  const bool newer = config.flag("new_decoder_architecture"), side = config.flag("parallel_attn");
  const std::size_t norms = config.count("num_ln_in_parallel_attn", newer ? 2 : 1);
  if (newer ? !side || norms < 1 || norms > 2 : side && norms == 2) {
    config.refuse_value("num_ln_in_parallel_attn", "is ", norms,
                        ", which new_decoder_architecture and parallel_attn do not allow");
  }
  return !side ? NormOrder::pre : norms == 2 ? NormOrder::parallel_two : NormOrder::parallel;
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model =
      read_gpt_like(config, task,
                    {config.is_set("n_embed") ? "n_embed" : "hidden_size", "num_hidden_layers",
                     "num_attention_heads", "ffn_hidden_size", "layer_norm_epsilon",
                     "max_position_embeddings", "activation"});
  TowerConfig& tower = model.tower;
  AttentionConfig& attention = tower.stack.block.attention;
  tower.stack.block.order = order_of(config);
  attention.bias = tower.stack.block.feed_forward.bias = read_bias(config, "bias");
  const bool newer = config.flag("new_decoder_architecture");
  if (!newer && config.flag("multi_query")) attention.num_key_value_heads = 1;
  if (newer) read_groups(config, "num_kv_heads", attention);
  if (config.flag("alibi")) {
    tower.alibi = {AlibiConfig::Counts::tokens, attention.usual_scale(), true};
  } else {
    tower.rotary = read_rotary(config, attention.d_head, tower.max_positions,
                               {.partial = RotaryKeys::Partial::ignored});
  }
  return model;
}

}  // namespace falcon

const Architecture kFalcon{"falcon",       falcon::kKeys,    falcon::read_config, falcon::kPrefixes,
                           falcon::kRules, falcon::kSchemes, falcon::kIgnored};

}  // namespace clearformer
