// StableLM: Llama with LayerNorm, rotary positions on part of each head, optionally with attention and feed-forward in
// parallel, and norms of queries and keys with a weight for each head.
// Source: Bellagente et al. 2024, arXiv 2402.17834; transformers' StableLmForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace stablelm {

constexpr std::string_view kRules = R"(
embed embed_tokens
blocks layers
ln1 input_layernorm
attn self_attn
q_norm q_layernorm.norms
k_norm k_layernorm.norms
ln2 post_attention_layernorm
ln_final norm
unembed /lm_head
)";

// Rotary positions would use "head_dim", heads would not.
constexpr KeyTable kKeys{
    .fields = R"("vocab_size":50304,"intermediate_size":6912,"hidden_size":2560,
"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,"hidden_act":"silu",
"max_position_embeddings":4096,"layer_norm_eps":1e-5,"tie_word_embeddings":false,
"rope_parameters":null,"use_qkv_bias":false,"qk_layernorm":false,"use_parallel_residual":false,
"bos_token_id":0,"eos_token_id":0,"pad_token_id":null)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":0.25,
"original_max_position_embeddings":null)",
    .since_5_2 = R"("is_causal":true)",
    .neutral = R"("head_dim":null)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task, {});
  BlockConfig& block = model.tower.stack.block;
  if (config.flag("use_parallel_residual")) block.order = NormOrder::parallel;
  AttentionConfig& attention = block.attention;
  attention.bias = read_bias(config, "use_qkv_bias");
  attention.bias.output = Bias::none;
  if (config.flag("qk_layernorm")) {
    constexpr std::size_t kMost = 10000;  // tensors of one layer
    if (attention.num_heads > kMost) {
      config.refuse_value("num_attention_heads", "is ", attention.num_heads, ", more than ", kMost);
    }
    attention.head_norm = layer_norm(attention.d_head, block.norm.eps);
    attention.head_norm->bias = false;
    attention.head_norm->heads_apart = true;
    attention.norm_per_head = true;
  }
  block.feed_forward.bias = Bias::none;
  return model;
}

}  // namespace stablelm

const Architecture kStableLm{"stablelm",     stablelm::kKeys,  stablelm::read_config,
                             kLlamaPrefixes, stablelm::kRules, {},
                             kLlamaIgnored};

}  // namespace clearformer
