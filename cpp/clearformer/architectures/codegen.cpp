// CodeGen: GPT-J with q, v and k stacked in four groups, each of a quarter of the heads.
// Source: Nijkamp et al. 2022, arXiv 2203.13474; transformers' CodeGenForCausalLM.

#include "clearformer/architectures/gptj_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace codegen {

constexpr std::size_t kGroups = 4;

constexpr std::string_view kRules = R"(
embed wte
blocks h
ln1 ln_1
q_proj qkv_proj 0/3/4
v_proj qkv_proj 1/3/4
k_proj qkv_proj 2/3/4
o_proj out_proj
up_proj fc_in
down_proj fc_out
ln_final ln_f
unembed /lm_head
)";

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":50400,"n_positions":2048,"n_embd":4096,"n_layer":28,"n_head":16,
"rotary_dim":64,"n_inner":null,"activation_function":"gelu_new","layer_norm_epsilon":1e-5,
"bos_token_id":50256,"eos_token_id":50256,"tie_word_embeddings":false)",
    .others = R"("pad_token_id":null)",
    .since_5_2 = R"("is_causal":true)",
    .other_names = R"("max_position_embeddings":"n_positions","hidden_size":"n_embd",
"num_attention_heads":"n_head","num_hidden_layers":"n_layer")"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_gptj_like(config, task);
  const std::size_t heads = model.tower.stack.block.attention.num_heads;
  if (heads % kGroups != 0) {
    config.refuse_value("n_head", "is ", heads, " and must be a multiple of ", kGroups);
  }
  return model;
}

}  // namespace codegen

const Architecture kCodeGen{"codegen",     codegen::kKeys,  codegen::read_config,
                            kGptjPrefixes, codegen::kRules, {},
                            kGptjIgnored};

}  // namespace clearformer
