// BioGPT: pre-norm decoder with scaled embeddings and learned positions that begin at row 2.
// Source: Luo et al. 2022, arXiv 2210.10341; transformers' BioGptForCausalLM.

#include "clearformer/architectures/fairseq_like.h"
#include "clearformer/architectures/gpt_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace biogpt {

constexpr std::string_view kRules = R"(
ln_final layer_norm
unembed /output_projection
)";
constexpr std::string_view kPrefixes = "biogpt.";
constexpr std::size_t kUnusedPositions = 2;

constexpr KeyTable kKeys{.fields = R"("vocab_size":42384,"hidden_size":1024,"num_hidden_layers":24,
"num_attention_heads":16,"intermediate_size":4096,"hidden_act":"gelu",
"max_position_embeddings":1024,"layer_norm_eps":1e-12,"scale_embedding":true,"pad_token_id":1,
"bos_token_id":0,"eos_token_id":2,"tie_word_embeddings":true)",
                         .since_5_2 = R"("is_causal":true)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  read_epsilon(config, "layer_norm_eps");  // which no norm has: theirs is torch's
  ModelConfig model = read_gpt_like(config, task,
                                    {.d_model = "hidden_size",
                                     .layers = "num_hidden_layers",
                                     .heads = "num_attention_heads",
                                     .hidden = "intermediate_size",
                                     .epsilon = "",
                                     .positions = "max_position_embeddings",
                                     .activation = "hidden_act"});
  TowerConfig& tower = model.tower;
  tower.stack.block.attention.bias = Bias::present;
  tower.text = read_learned_text(config, tower.d_model(), tower.max_positions + kUnusedPositions);
  TextEmbeddingConfig& text = *tower.text;
  read_padding(config, text);
  text.scale = embedding_scale(config, text.d_model);
  text.position_offset = kUnusedPositions;
  return model;
}

}  // namespace biogpt

const Architecture kBioGpt{"biogpt",          biogpt::kKeys,  biogpt::read_config,
                           biogpt::kPrefixes, biogpt::kRules, kFairseqNames};

}  // namespace clearformer
