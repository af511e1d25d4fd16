// XGLM: pre-norm decoder with scaled embeddings and sinusoidal positions that begin at 2.
// Source: Lin et al. 2021, arXiv 2112.10668; transformers' XGLMForCausalLM.

#include "clearformer/architectures/fairseq_like.h"
#include "clearformer/architectures/gpt_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace xglm {

constexpr std::string_view kRules = R"(
ln_final layer_norm
unembed /lm_head
)";
constexpr std::string_view kPrefixes = "model.";
constexpr std::string_view kIgnored = "*embed_positions.weights";  // sinusoids

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":256008,"max_position_embeddings":2048,"d_model":1024,"ffn_dim":4096,
"num_layers":24,"attention_heads":16,"activation_function":"gelu","scale_embedding":true,
"pad_token_id":1,"bos_token_id":0,"eos_token_id":2,"decoder_start_token_id":2,
"tie_word_embeddings":true)",
    .since_5_2 = R"("is_causal":true)",
    .neutral = R"("add_cross_attention":false)",
    .other_names = R"("num_attention_heads":"attention_heads","hidden_size":"d_model",
"num_hidden_layers":"num_layers")"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_gpt_like(config, task,
                                    {.d_model = "d_model",
                                     .layers = "num_layers",
                                     .heads = "attention_heads",
                                     .hidden = "ffn_dim",
                                     .epsilon = "",
                                     .positions = "max_position_embeddings"});
  TowerConfig& tower = model.tower;
  tower.stack.block.attention.bias = Bias::present;
  TextEmbeddingConfig& text = *tower.text;
  read_padding(config, text);
  text.scale = embedding_scale(config, text.d_model);
  text.positions = TextEmbeddingConfig::Positions::sinusoidal;
  text.layout = SinusoidLayout::whisper;
  text.position_offset = 2;
  text.blank_row = text.padding_id;
  text.unbounded = true;
  return model;
}

}  // namespace xglm

const Architecture kXglm{"xglm",       xglm::kKeys,   xglm::read_config, xglm::kPrefixes,
                         xglm::kRules, kFairseqNames, xglm::kIgnored};

}  // namespace clearformer
