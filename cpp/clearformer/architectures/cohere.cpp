// Cohere (Command R) and Cohere 2: attention and gated feed-forward in parallel after one LayerNorm without bias,
// interleaved rotary positions, scaled logits. In Cohere 2 layers that attend to everything have no positions.
// Source: transformers' CohereForCausalLM, Cohere2ForCausalLM; Cohere 2025, arXiv 2504.00698.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace cohere {

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":256000,"hidden_size":8192,"intermediate_size":22528,
"logit_scale":0.0625,"num_hidden_layers":40,"num_attention_heads":64,"num_key_value_heads":null,
"hidden_act":"silu","max_position_embeddings":8192,"layer_norm_eps":1e-5,"pad_token_id":0,
"bos_token_id":5,"eos_token_id":255001,"tie_word_embeddings":true,"rope_parameters":null,
"attention_bias":false,"use_qk_norm":false)",
    .others = R"("rope_theta":500000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null,"head_dim":null)",
    .since_5_2 = R"("is_causal":true)"};

constexpr KeyTable kKeys2{
    .fields = R"("vocab_size":256000,"hidden_size":8192,"intermediate_size":22528,
"logit_scale":0.0625,"num_hidden_layers":40,"num_attention_heads":64,"num_key_value_heads":null,
"hidden_act":"silu","max_position_embeddings":8192,"layer_norm_eps":1e-5,"pad_token_id":0,
"bos_token_id":5,"eos_token_id":255001,"tie_word_embeddings":true,"rope_parameters":null,
"attention_bias":false,"sliding_window":4096,"layer_types":null)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null,"head_dim":null,"sliding_window_pattern":4)",
    .since_5_2 = R"("is_causal":true)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task);
  BlockConfig& block = model.tower.stack.block;
  block.order = NormOrder::parallel;
  block.norm.bias = false;
  block.feed_forward.bias = Bias::none;
  if (config.knows("use_qk_norm") && config.flag("use_qk_norm")) {
    block.attention.head_norm = layer_norm(block.attention.d_head, block.norm.eps);
    block.attention.head_norm->bias = false;
    block.attention.norm_per_head = true;
  }
  model.tower.rotary->layout = RotaryLayout::interleaved;
  model.output.scale = static_cast<float>(config.number("logit_scale"));
  return model;
}

Mixer usual_mixer(const ConfigReader& config, std::size_t layer) {
  return (layer + 1) % config.size("sliding_window_pattern") == 0 ? Mixer::full : Mixer::local;
}

ModelConfig read_config2(const ConfigReader& config, Task task) {
  ModelConfig model = read_config(config, task);
  StackConfig& stack = model.tower.stack;
  read_windowed_layers(config, model.tower, usual_mixer);
  for (const Mixer mixer : stack.mixers) stack.rotated.push_back(mixer == Mixer::local);
  return model;
}

}  // namespace cohere

const Architecture kCohere{
    "cohere", cohere::kKeys, cohere::read_config, kLlamaPrefixes, kLlamaRules, {}, kLlamaIgnored};
const Architecture kCohere2{"cohere2",      cohere::kKeys2, cohere::read_config2,
                            kLlamaPrefixes, kLlamaRules,    {},
                            kLlamaIgnored};

}  // namespace clearformer
