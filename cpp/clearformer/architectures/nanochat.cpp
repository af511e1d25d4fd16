// nanochat: Llama with RMSNorms without weights, of the embeddings, too, and of each head's queries and keys behind the
// rotation, which turns backwards; a feed-forward network without gate, of squared ReLU; capped logits.
// Source: Karpathy 2025, "nanochat: the best ChatGPT that $100 can buy"; transformers' NanoChatForCausalLM.

#include "clearformer/architectures/gemma_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace nanochat {

constexpr std::string_view kRules = R"(
embed embed_tokens
blocks layers
attn self_attn
up_proj fc1
down_proj fc2
unembed /lm_head
)";
constexpr KeyTable kKeys{
    .fields = R"("vocab_size":50304,"hidden_size":768,"intermediate_size":8192,
"num_hidden_layers":12,"num_attention_heads":6,"num_key_value_heads":null,"hidden_act":"relu2",
"max_position_embeddings":2048,"rms_norm_eps":1e-6,"pad_token_id":1,"bos_token_id":0,
"eos_token_id":1,"tie_word_embeddings":false,"rope_parameters":null,"attention_bias":false,
"final_logit_softcapping":15)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null,"head_dim":null)",
    .since_5_2 = R"("is_causal":true)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task);
  TowerConfig& tower = model.tower;
  BlockConfig& block = tower.stack.block;
  block.norm.weight = false;
  tower.text->norm = block.norm;
  tower.rotary->backwards = true;
  block.attention.head_norm = rms_norm(block.attention.d_head, block.norm.eps);
  block.attention.head_norm->weight = false;
  block.attention.norm_after_rotation = true;
  block.feed_forward.gate = Gate::none;
  model.output.softcap = read_softcap(config, "final_logit_softcapping");
  return model;
}

}  // namespace nanochat

const Architecture kNanoChat{"nanochat",     nanochat::kKeys,  nanochat::read_config,
                             kLlamaPrefixes, nanochat::kRules, {},
                             kLlamaIgnored};

}  // namespace clearformer
