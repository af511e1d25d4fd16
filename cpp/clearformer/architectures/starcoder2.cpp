// StarCoder2: Llama with LayerNorms, a feed-forward network without gate, biases, and an optional window.
// Source: Lozhkov et al. 2024, arXiv 2402.19173; transformers' Starcoder2ForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace starcoder2 {

constexpr std::string_view kFeedForward = R"(
up_proj c_fc
down_proj c_proj
)";
constexpr KeyScheme kSchemes[] = {{"", kFeedForward}};

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":49152,"hidden_size":3072,"intermediate_size":12288,
"num_hidden_layers":30,"num_attention_heads":24,"num_key_value_heads":2,
"hidden_act":"gelu_pytorch_tanh","max_position_embeddings":4096,"norm_epsilon":1e-5,
"bos_token_id":50256,"eos_token_id":50256,"pad_token_id":null,"rope_parameters":null,
"sliding_window":null,"use_bias":true,"tie_word_embeddings":true)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null,"head_dim":null)",
    .since_5_2 = R"("is_causal":true)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task);
  TowerConfig& tower = model.tower;
  BlockConfig& block = tower.stack.block;
  block.norm = layer_norm(model.d_model(), read_epsilon(config, "norm_epsilon"));
  block.attention.bias = read_bias(config, "use_bias");
  block.feed_forward.gate = Gate::none;
  block.feed_forward.bias = read_bias(config, "use_bias");
  if (read_sliding_window(config, tower)) {
    tower.stack.mixers.assign(tower.stack.layers, Mixer::local);
  }
  return model;
}

}  // namespace starcoder2

const Architecture kStarcoder2{"starcoder2",   starcoder2::kKeys, starcoder2::read_config,
                               kLlamaPrefixes, kLlamaRules,       starcoder2::kSchemes,
                               kLlamaIgnored};

}  // namespace clearformer
