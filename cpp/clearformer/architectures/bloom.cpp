// BLOOM: pre-norm decoder with ALiBi, a norm on the embeddings, q, k and v stacked head by head.
// Source: BigScience 2022, arXiv 2211.05100; transformers' BloomForCausalLM.

#include "clearformer/architectures/gpt_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace bloom {

constexpr std::string_view kRules = R"(
embed.ln word_embeddings_layernorm
embed word_embeddings
blocks h
ln1 input_layernorm
attn self_attention
q_proj query_key_value 0/3/n
k_proj query_key_value 1/3/n
v_proj query_key_value 2/3/n
o_proj dense
ln2 post_attention_layernorm
up_proj dense_h_to_4h
down_proj dense_4h_to_h
ln_final ln_f
unembed /lm_head
)";
constexpr std::string_view kPrefixes = "transformer.";

// "slow_but_exact" computes without some biases.
constexpr KeyTable kKeys{
    .fields = R"("vocab_size":250880,"hidden_size":64,"n_layer":2,"n_head":8,
"layer_norm_epsilon":1e-5,"bos_token_id":1,"eos_token_id":2,"pad_token_id":null,
"tie_word_embeddings":true)",
    .others = R"("n_embed":null)",
    .since_5_2 = R"("is_causal":true)",
    .neutral = R"("apply_residual_connection_post_layernorm":false,"slow_but_exact":false)",
    .other_names = R"("num_hidden_layers":"n_layer","num_attention_heads":"n_head")"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  constexpr std::size_t kTrainedPositions = 2048;  // not in the config: ALiBi has no limit
  ModelConfig model =
      read_gpt_like(config, task,
                    {.d_model = config.is_set("n_embed") ? "n_embed" : "hidden_size",
                     .hidden = "",
                     .positions = "",
                     .activation = "",
                     .fixed_activation = "gelu_new"});
  TowerConfig& tower = model.tower;
  tower.max_positions = kTrainedPositions;
  tower.alibi = {.counts = AlibiConfig::Counts::tokens};
  tower.stack.block.attention.bias = Bias::present;
  tower.text->norm = tower.stack.block.norm;
  return model;
}

}  // namespace bloom

const Architecture kBloom{"bloom", bloom::kKeys, bloom::read_config, bloom::kPrefixes,
                          bloom::kRules};

}  // namespace clearformer
