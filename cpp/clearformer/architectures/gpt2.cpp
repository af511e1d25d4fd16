// GPT-2: pre-norm decoder with learned positions and weights stored (in, out).
// Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners"; transformers'
// GPT2LMHeadModel.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/values.h"

namespace clearformer {

namespace {

constexpr NameRule kRules[] = {
    {"embed", "wte"},
    {"pos_embed", "wpe"},
    {"blocks", "h"},
    {"ln1", "ln_1"},
    {"q_proj", "c_attn", 0, 3, Layout::in_out},
    {"k_proj", "c_attn", 1, 3, Layout::in_out},
    {"v_proj", "c_attn", 2, 3, Layout::in_out},
    {"o_proj", "c_proj", 0, 1, Layout::in_out},
    {"ln2", "ln_2"},
    {"up_proj", "c_fc", 0, 1, Layout::in_out},
    {"down_proj", "c_proj", 0, 1, Layout::in_out},
    {"ln_final", "ln_f"},
    {"unembed", "/lm_head"},
};
constexpr std::string_view kPrefixes[] = {"transformer."};
constexpr std::string_view kIgnored[] = {"*.attn.bias", "*.attn.masked_bias", "lm_head.weight"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  require_flag(config, "add_cross_attention", false);
  ModelConfig model = language_model(config, task);
  model.tied = config.flag("tie_word_embeddings", true);
  const std::size_t d_model = config.size("n_embd");
  TowerConfig& tower = model.tower;
  tower.max_positions = config.size("n_positions", 1024);
  tower.stack.layers = read_layers(config, "n_layer");
  tower.stack.scale_by_depth = config.flag("scale_attn_by_inverse_layer_idx", false);
  BlockConfig& block = tower.stack.block;
  block.norm = layer_norm(d_model, config.number("layer_norm_epsilon", 1e-5));
  block.attention = read_heads(config, "n_head", d_model);
  block.attention.bias = Bias::present;
  if (!config.flag("scale_attn_weights", true)) block.attention.scale = 1.0;
  block.feed_forward = {d_model, config.size("n_inner", 4 * d_model),
                        read_activation(config, "activation_function", "gelu_new", model)};
  TextEmbeddingConfig text;
  text.vocabulary = config.size("vocab_size");
  text.d_model = d_model;
  text.positions = TextEmbeddingConfig::Positions::learned;
  text.position_rows = tower.max_positions;
  tower.text = text;
  model.output = {d_model, text.vocabulary};
  return model;
}

}  // namespace

const Architecture kGpt2{"gpt2", read_config, kPrefixes, kRules, {}, kIgnored};

}  // namespace clearformer
