// Arcee (AFM): Llama with a feed-forward network without gate, of squared ReLU.
// Source: Arcee AI 2025, "Arcee Foundation Models"; transformers' ArceeForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace arcee {

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":32000,"hidden_size":2560,"intermediate_size":18432,
"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":null,"hidden_act":"relu2",
"max_position_embeddings":4096,"rms_norm_eps":1e-5,"pad_token_id":null,"bos_token_id":128000,
"eos_token_id":128001,"tie_word_embeddings":false,"rope_parameters":null,"attention_bias":false,
"mlp_bias":false,"head_dim":null)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null)",
    .since_5_2 = R"("is_causal":true)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task);
  model.tower.stack.block.feed_forward.gate = Gate::none;
  return model;
}

}  // namespace arcee

const Architecture kArcee{"arcee",     arcee::kKeys, arcee::read_config, kLlamaPrefixes,
                          kLlamaRules, {},           kLlamaIgnored};

}  // namespace clearformer
