// MPT: pre-norm decoder with ALiBi, without any bias.
// Source: MosaicML 2023, github.com/mosaicml/llm-foundry; transformers' MptForCausalLM.

#include "clearformer/architectures/gpt_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

constexpr KeyTable kMptAttentionKeys{.fields = R"("clip_qkv":null,"softmax_scale":null)"};

namespace mpt {

constexpr std::string_view kRules = R"(
embed wte
ln1 norm_1
q_proj Wqkv 0/3
k_proj Wqkv 1/3
v_proj Wqkv 2/3
o_proj out_proj
ln2 norm_2
mlp ffn
ln_final norm_f
unembed /lm_head
)";
constexpr std::string_view kPrefixes = "transformer.";

// transformers' model reads no other key of the class: neither "expansion_ratio", "learned_pos_emb", "logit_scale" nor,
// in "attn_config", "alibi", "alibi_bias_max", "attn_type" and "qk_ln".
constexpr KeyTable kKeys{
    .fields = R"("d_model":2048,"n_heads":16,"n_layers":24,"max_seq_len":2048,"vocab_size":50368,
"layer_norm_epsilon":1e-5,"attn_config":null,"tie_word_embeddings":true,"pad_token_id":null,
"bos_token_id":null,"eos_token_id":null)",
    .since_5_2 = R"("is_causal":true)",
    .other_names = R"("num_attention_heads":"n_heads","hidden_size":"d_model",
"num_hidden_layers":"n_layers")"};

void read_attention(const ConfigReader& config, AttentionConfig& attention) {
  const std::optional<ConfigReader> own = config.object("attn_config");
  if (!own) return;
  const ConfigReader keys = declared(*own, kMptAttentionKeys);
  attention.clip = static_cast<float>(keys.number("clip_qkv", 0.0));
  if (attention.clip < 0.0f) keys.refuse_must("clip_qkv", "be >= 0");
  if (keys.is_set("softmax_scale")) attention.scale = keys.number("softmax_scale");
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_gpt_like(config, task,
                                    {.d_model = "d_model",
                                     .layers = "n_layers",
                                     .heads = "n_heads",
                                     .hidden = "",
                                     .positions = "max_seq_len",
                                     .activation = "",
                                     .fixed_activation = "gelu"});
  TowerConfig& tower = model.tower;
  tower.alibi.emplace();
  tower.ends_at_max_positions = true;
  tower.stack.block.norm.bias = false;
  tower.stack.block.feed_forward.bias = Bias::none;
  read_attention(config, tower.stack.block.attention);
  return model;
}

}  // namespace mpt

const Architecture kMpt{"mpt", mpt::kKeys, mpt::read_config, mpt::kPrefixes, mpt::kRules};

}  // namespace clearformer
