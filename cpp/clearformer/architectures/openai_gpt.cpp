// GPT (1): GPT-2 with post-norm and without a final norm.
// Source: Radford et al. 2018, "Improving Language Understanding by Generative Pre-Training"; transformers'
// OpenAIGPTLMHeadModel.

#include "clearformer/architectures/gpt_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace openai_gpt {

constexpr std::string_view kRules = R"(
embed tokens_embed
pos_embed positions_embed
blocks h
ln1 ln_1
q_proj c_attn 0/3 turned
k_proj c_attn 1/3 turned
v_proj c_attn 2/3 turned
o_proj c_proj turned
ln2 ln_2
up_proj c_fc turned
down_proj c_proj turned
unembed /lm_head
)";
constexpr std::string_view kPrefixes = "transformer.";
constexpr std::string_view kIgnored = "*.attn.bias";

// Attention is causal by a mask of its own, regardless of "is_causal".
constexpr KeyTable kKeys{
    .fields = R"("vocab_size":40478,"n_positions":512,"n_embd":768,"n_layer":12,"n_head":12,
"afn":"gelu","layer_norm_epsilon":1e-5,"pad_token_id":null,"bos_token_id":null,
"eos_token_id":null,"tie_word_embeddings":true)",
    .other_names = R"("hidden_size":"n_embd","max_position_embeddings":"n_positions",
"num_attention_heads":"n_head","num_hidden_layers":"n_layer")"};

// Its own table of functions, in which "gelu" is the tanh approximation.
void read_function(const ConfigReader& config, ModelConfig& model, Activation& function) {
  switch (function) {
    case Activation::gelu_erf:
      function = Activation::gelu_tanh;
      model.activation = "gelu_new";
      return;
    case Activation::relu:
    case Activation::silu: return;
    default: config.refuse(ErrorCode::unsupported, "afn", "is \"", model.activation, "\"");
  }
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_gpt_like(config, task, {.hidden = "", .activation = "afn"});
  TowerConfig& tower = model.tower;
  tower.text = read_learned_text(config, tower.d_model(), tower.max_positions);
  tower.stack.final_norm = FinalNorm::none;
  BlockConfig& block = tower.stack.block;
  block.order = NormOrder::post;
  block.attention.bias = Bias::present;
  read_function(config, model, block.feed_forward.activation);
  return model;
}

}  // namespace openai_gpt

const Architecture kOpenAiGpt{"openai-gpt",          openai_gpt::kKeys,  openai_gpt::read_config,
                              openai_gpt::kPrefixes, openai_gpt::kRules, {},
                              openai_gpt::kIgnored};

}  // namespace clearformer
