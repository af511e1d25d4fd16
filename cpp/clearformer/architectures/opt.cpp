// OPT: decoder with learned positions that count unmasked tokens and begin at row 2; OPT-350m with post-norm, and
// embeddings of another size than the residual stream.
// Source: Zhang et al. 2022, arXiv 2205.01068; transformers' OPTForCausalLM.

#include "clearformer/architectures/fairseq_like.h"
#include "clearformer/architectures/known.h"
#include "clearformer/architectures/values.h"

namespace clearformer {

namespace opt {

constexpr double kNormEps = 1e-5;
constexpr std::size_t kUnusedPositions = 2;

constexpr std::string_view kRules = R"(
ln_final final_layer_norm
unembed /lm_head
)";
constexpr std::string_view kPrefixes = "model.decoder. decoder.";

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":50272,"hidden_size":768,"num_hidden_layers":12,"ffn_dim":3072,
"max_position_embeddings":2048,"do_layer_norm_before":true,"word_embed_proj_dim":null,
"num_attention_heads":12,"activation_function":"relu","pad_token_id":1,"bos_token_id":2,
"eos_token_id":2,"enable_bias":true,"layer_norm_elementwise_affine":true,
"tie_word_embeddings":true)",
    .others = R"("_remove_final_layer_norm":false)",
    .since_5_2 = R"("is_causal":true)"};

TextEmbeddingConfig read_embedding(const ConfigReader& config, std::size_t d_model,
                                   std::size_t positions) {
  TextEmbeddingConfig text = read_learned_text(config, d_model, positions + kUnusedPositions);
  read_padding(config, text);
  const std::size_t d_words = config.size("word_embed_proj_dim", d_model);
  if (d_words != d_model) {
    text.d_words = d_words;
    text.projected = TextEmbeddingConfig::Projected::words;
  }
  text.position_offset = kUnusedPositions;
  text.counts_unmasked = true;
  return text;
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = language_model(config, task);
  const std::size_t d_model = config.size("hidden_size");
  const Bias bias = read_bias(config, "enable_bias");
  const bool before = config.flag("do_layer_norm_before");
  TowerConfig& tower = model.tower;
  tower.max_positions = config.size("max_position_embeddings");
  tower.stack.layers = read_layers(config, "num_hidden_layers");
  const bool normalized_end = before && !config.flag("_remove_final_layer_norm");
  tower.stack.final_norm = normalized_end ? FinalNorm::present : FinalNorm::none;
  BlockConfig& block = tower.stack.block;
  block.order = before ? NormOrder::pre : NormOrder::post;
  block.norm = config.flag("layer_norm_elementwise_affine") ? layer_norm(d_model, kNormEps)
                                                            : plain_layer_norm(d_model, kNormEps);
  block.attention = read_heads(config, "num_attention_heads", d_model);
  block.attention.bias = bias;
  block.feed_forward = {d_model, config.size("ffn_dim"),
                        read_activation(config, "activation_function", model), Gate::none, bias};
  tower.text = read_embedding(config, d_model, tower.max_positions);
  tower.d_out = tower.text->d_words;
  model.output = {tower.text->word_width(), tower.text->vocabulary};
  return model;
}

}  // namespace opt

const Architecture kOpt{"opt",          opt::kKeys,  opt::read_config,
                        opt::kPrefixes, opt::kRules, kFairseqNames};

}  // namespace clearformer
