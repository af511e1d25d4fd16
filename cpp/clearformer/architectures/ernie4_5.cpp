// ERNIE 4.5 (dense) and Helium: Llama with interleaved rotary positions.
// Source: Baidu ERNIE Team 2025, "ERNIE 4.5 Technical Report"; Kyutai 2025, "Helium 1"; transformers'
// Ernie4_5ForCausalLM, HeliumForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace ernie4_5 {

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":103424,"hidden_size":1024,"intermediate_size":3072,
"num_hidden_layers":18,"num_attention_heads":16,"num_key_value_heads":2,"hidden_act":"silu",
"max_position_embeddings":131072,"rms_norm_eps":1e-5,"pad_token_id":0,"bos_token_id":1,
"eos_token_id":2,"tie_word_embeddings":true,"rope_parameters":null,"use_bias":false,
"head_dim":128)",
    .others = R"("rope_theta":500000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null)",
    .since_5_2 = R"("is_causal":true)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task);
  BlockConfig& block = model.tower.stack.block;
  block.attention.bias = block.feed_forward.bias = read_bias(config, "use_bias");
  model.tower.rotary->layout = RotaryLayout::interleaved;
  return model;
}

constexpr KeyTable kHeliumKeys{
    .fields = R"("vocab_size":48000,"hidden_size":2560,"intermediate_size":7040,
"num_hidden_layers":24,"num_attention_heads":20,"num_key_value_heads":20,"head_dim":128,
"hidden_act":"silu","max_position_embeddings":4096,"rms_norm_eps":1e-8,
"tie_word_embeddings":false,"rope_parameters":null,"pad_token_id":3,"eos_token_id":2,
"bos_token_id":1,"attention_bias":false,"mlp_bias":false)",
    .others = R"("rope_theta":100000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null)",
    .since_5_2 = R"("is_causal":true)"};

ModelConfig read_helium(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task);
  AttentionConfig& attention = model.tower.stack.block.attention;
  if (attention.num_heads * attention.d_head != model.d_model()) {
    config.refuse_value("head_dim", "is ", attention.d_head,
                        " and num_attention_heads times as much is not hidden_size ",
                        model.d_model());
  }
  attention.bias.output = Bias::none;
  model.tower.rotary->layout = RotaryLayout::interleaved;
  return model;
}

}  // namespace ernie4_5

const Architecture kErnie45{"ernie4_5",     ernie4_5::kKeys, ernie4_5::read_config,
                            kLlamaPrefixes, kLlamaRules,     {},
                            kLlamaIgnored};
const Architecture kHelium{"helium",       ernie4_5::kHeliumKeys, ernie4_5::read_helium,
                           kLlamaPrefixes, kLlamaRules,           {},
                           kLlamaIgnored};

}  // namespace clearformer
