// Nemotron and Minitron: Llama with LayerNorm whose weights are stored minus one, rotary positions on half of each head,
// and a feed-forward network without gate, of squared ReLU.
// Source: Parmar et al. 2024, arXiv 2402.16819; transformers' NemotronForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace nemotron {

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":256000,"hidden_size":6144,"intermediate_size":24576,
"num_hidden_layers":32,"num_attention_heads":48,"head_dim":null,"num_key_value_heads":null,
"hidden_act":"relu2","max_position_embeddings":4096,"norm_eps":1e-5,"pad_token_id":null,
"bos_token_id":2,"eos_token_id":3,"tie_word_embeddings":false,"rope_parameters":null,
"attention_bias":false,"mlp_bias":false)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":0.5,
"original_max_position_embeddings":null)",
    .since_5_2 = R"("is_causal":true)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task, {});
  BlockConfig& block = model.tower.stack.block;
  block.norm = layer_norm(model.d_model(), read_epsilon(config, "norm_eps"));
  block.norm.weight_offset = 1.0f;
  block.feed_forward.gate = Gate::none;
  return model;
}

}  // namespace nemotron

const Architecture kNemotron{"nemotron",     nemotron::kKeys, nemotron::read_config,
                             kLlamaPrefixes, kLlamaRules,     {},
                             kLlamaIgnored};

}  // namespace clearformer
