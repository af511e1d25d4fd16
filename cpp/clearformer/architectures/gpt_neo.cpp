// GPT-Neo: GPT-2 with unscaled scores, local attention in every other layer, ordinary linear weights.
// Source: Black et al. 2021, doi 10.5281/zenodo.5297715; transformers' GPTNeoForCausalLM.

#include "clearformer/architectures/gpt_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace gpt_neo {

constexpr std::string_view kRules = R"(
embed wte
pos_embed wpe
blocks h
ln1 ln_1
attn.o_proj attn.attention.out_proj
attn attn.attention
ln2 ln_2
up_proj c_fc
down_proj c_proj
ln_final ln_f
unembed /lm_head
)";
constexpr std::string_view kPrefixes = "transformer.";
constexpr std::string_view kIgnored = "*.attn.attention.bias *.attn.attention.masked_bias";
// Attention is causal by a mask of its own, regardless of "is_causal".
constexpr KeyTable kKeys{
    .fields = R"("vocab_size":50257,"max_position_embeddings":2048,"hidden_size":2048,
"num_layers":24,"attention_types":null,"num_heads":16,"intermediate_size":null,"window_size":256,
"activation_function":"gelu_new","layer_norm_epsilon":1e-5,"bos_token_id":50256,
"eos_token_id":50256,"pad_token_id":null,"tie_word_embeddings":true)",
    .others = R"("attention_layers":null)",
    .other_names = R"("num_attention_heads":"num_heads","num_hidden_layers":"num_layers")"};

// Reads "attention_layers", or the runs of "attention_types": [[["global", "local"], 12]].
std::vector<std::string> attention_layers(const ConfigReader& config) {
  std::vector<std::string> layers = config.texts("attention_layers");
  const Json* runs = config.find_set("attention_types");
  if (!layers.empty() || runs == nullptr) return layers;
  const auto refuse = [&] { config.refuse_must("attention_types", "be [[[name, …], n], …]"); };
  if (!runs->is_array()) refuse();
  for (const Json& run : runs->array()) {
    const bool pair = run.is_array() && run.array().size() == 2 && run.array()[0].is_array();
    const auto times = pair ? run.array()[1].unsigned_integer() : std::nullopt;
    if (!times || *times > 10000) refuse();
    for (std::uint64_t i = 0; i < *times; ++i) {
      for (const Json& name : run.array()[0].array()) {
        if (!name.is_string()) refuse();
        layers.push_back(name.string());
      }
    }
  }
  return layers;
}

std::vector<Mixer> mixers(const ConfigReader& config, std::size_t layers) {
  std::vector<Mixer> mixers;
  for (const std::string& name : attention_layers(config)) {
    if (name != "global" && name != "local") {
      config.refuse(ErrorCode::unsupported, "attention_layers", "names \"", name, "\"");
    }
    mixers.push_back(name == "local" ? Mixer::local : Mixer::full);
  }
  if (mixers.empty()) {
    for (std::size_t i = 0; i < layers; ++i)
      mixers.push_back(i % 2 == 0 ? Mixer::full : Mixer::local);
  }
  if (mixers.size() != layers) {
    config.refuse_value("attention_types", "names ", mixers.size(), " layers of ", layers);
  }
  return mixers;
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_gpt_like(config, task,
                                    {.d_model = "hidden_size",
                                     .layers = "num_layers",
                                     .heads = "num_heads",
                                     .hidden = "intermediate_size",
                                     .positions = "max_position_embeddings"});
  TowerConfig& tower = model.tower;
  tower.stack.mixers = mixers(config, tower.stack.layers);
  tower.window_before = config.size("window_size") - 1;
  AttentionConfig& attention = tower.stack.block.attention;
  attention.bias.output = Bias::present;
  attention.scale = 1.0;
  tower.text = read_learned_text(config, tower.d_model(), tower.max_positions);
  return model;
}

}  // namespace gpt_neo

const Architecture kGptNeo{"gpt_neo",          gpt_neo::kKeys,  gpt_neo::read_config,
                           gpt_neo::kPrefixes, gpt_neo::kRules, {},
                           gpt_neo::kIgnored};

}  // namespace clearformer
