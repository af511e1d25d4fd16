// GPT-J: attention and feed-forward in parallel after one norm, interleaved rotary positions on part of each head, a
// bias in the output layer.
// Source: Wang & Komatsuzaki 2021, github.com/kingoflolz/mesh-transformer-jax; transformers' GPTJForCausalLM.

#include "clearformer/architectures/gptj_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace gptj {

constexpr std::string_view kRules = R"(
embed wte
blocks h
ln1 ln_1
o_proj out_proj
up_proj fc_in
down_proj fc_out
ln_final ln_f
unembed /lm_head
)";

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":50400,"n_positions":2048,"n_embd":4096,"n_layer":28,"n_head":16,
"rotary_dim":64,"n_inner":null,"activation_function":"gelu_new","layer_norm_epsilon":1e-5,
"bos_token_id":50256,"eos_token_id":50256,"pad_token_id":null,"tie_word_embeddings":false)",
    .since_5_2 = R"("is_causal":true)",
    .other_names = R"("max_position_embeddings":"n_positions","hidden_size":"n_embd",
"num_attention_heads":"n_head","num_hidden_layers":"n_layer")"};

}  // namespace gptj

// Its tables of sines end at n_positions.
ModelConfig read_gptj_like(const ConfigReader& config, Task task) {
  ModelConfig model = read_gpt_like(config, task);
  TowerConfig& tower = model.tower;
  tower.stack.block.order = NormOrder::parallel;
  RotaryConfig rotary;
  rotary.d_head = tower.stack.block.attention.d_head;
  rotary.rotary_dim = config.size("rotary_dim");
  rotary.layout = RotaryLayout::interleaved;
  if (rotary.rotary_dim % 2 != 0 || rotary.rotary_dim > rotary.d_head) {
    config.refuse_value("rotary_dim", "is ", rotary.rotary_dim,
                        " and must be even, up to the size of a head, ", rotary.d_head);
  }
  tower.rotary = rotary;
  tower.ends_at_max_positions = true;
  model.output.bias = Bias::present;
  return model;
}

const Architecture kGptJ{"gptj",       gptj::kKeys, read_gptj_like, kGptjPrefixes,
                         gptj::kRules, {},          kGptjIgnored};

}  // namespace clearformer
