// LFM2: short convolutions and, in some layers, Qwen 3's attention, with SwiGLU.
// Source: transformers' Lfm2ForCausalLM.

#include <algorithm>

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace lfm2 {

constexpr std::string_view kRules = R"(
embed embed_tokens
blocks layers
ln1 operator_norm
attn self_attn
q_norm q_layernorm
k_norm k_layernorm
o_proj out_proj
b_proj in_proj 0/3
c_proj in_proj 1/3
x_proj in_proj 2/3
ln2 ffn_norm
mlp feed_forward
gate_proj w1
up_proj w3
down_proj w2
ln_final embedding_norm
unembed /lm_head
)";

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":65536,"hidden_size":2560,"intermediate_size":12288,
"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,
"max_position_embeddings":128000,"norm_eps":1e-5,"pad_token_id":0,"bos_token_id":1,
"eos_token_id":2,"tie_word_embeddings":true,"rope_parameters":null,"conv_bias":false,
"conv_L_cache":3,"block_multiple_of":256,"block_ffn_dim_multiplier":1.0,
"block_auto_adjust_ff_dim":true,"full_attn_idxs":null,"layer_types":null)",
    .others = R"("rope_theta":1000000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null,"head_dim":null,"block_ff_dim":null,"tie_embedding":null)",
    .since_5_2 = R"("is_causal":true)"};

// "layer_types", or attention in the layers of "full_attn_idxs", by default all.
std::vector<Mixer> mixers(const ConfigReader& config, std::size_t layers) {
  std::vector<Mixer> mixers(layers, Mixer::full);
  if (config.is_set("layer_types")) {
    const std::vector<std::string> types = config.texts("layer_types");
    if (types.size() != layers) {
      config.refuse_value("layer_types", "names ", types.size(), " layers of ", layers);
    }
    for (std::size_t layer = 0; layer < layers; ++layer) {
      if (types[layer] == "full_attention") continue;
      mixers[layer] = Mixer::convolution;
      if (types[layer] == "conv") continue;
      config.refuse(ErrorCode::unsupported, "layer_types", "holds \"", types[layer], "\"");
    }
  } else if (config.is_set("full_attn_idxs")) {
    const std::vector<double> attending = config.numbers("full_attn_idxs");
    for (std::size_t layer = 0; layer < layers; ++layer) {
      const auto index = static_cast<double>(layer);
      if (std::find(attending.begin(), attending.end(), index) == attending.end()) {
        mixers[layer] = Mixer::convolution;
      }
    }
  }
  return mixers;
}

// Rounded down twice, then up to a multiple.
std::size_t hidden_size(const ConfigReader& config) {
  std::size_t size =
      config.size(config.is_set("block_ff_dim") ? "block_ff_dim" : "intermediate_size");
  if (!config.flag("block_auto_adjust_ff_dim")) return size;
  size = 2 * size / 3;
  constexpr const char* kFactor = "block_ffn_dim_multiplier";
  constexpr double kMost = 1e6;
  if (config.is_set(kFactor)) {
    const double scaled = config.number_in(kFactor, 0.0, kMost) * static_cast<double>(size);
    const std::uint64_t multiple = config.size("block_multiple_of");
    const std::uint64_t times = (static_cast<std::uint64_t>(scaled) + multiple - 1) / multiple;
    size = config.product("block_multiple_of", times, multiple);
  }
  if (size == 0) config.refuse_value("intermediate_size", "is 0 here");
  return size;
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task);
  StackConfig& stack = model.tower.stack;
  BlockConfig& block = stack.block;
  const std::size_t d_model = block.attention.d_model;
  block.norm = rms_norm(d_model, read_epsilon(config, "norm_eps"));
  block.attention.head_norm = rms_norm(block.attention.d_head, block.norm.eps);
  block.feed_forward.d_hidden = hidden_size(config);
  model.activation = "silu";
  model.tied = config.flag("tie_embedding", model.tied);
  stack.mixers = mixers(config, stack.layers);
  stack.convolution = {d_model, config.size("conv_L_cache"), read_bias(config, "conv_bias")};
  return model;
}

}  // namespace lfm2

const Architecture kLfm2{"lfm2", lfm2::kKeys, lfm2::read_config, kLlamaPrefixes, lfm2::kRules};

}  // namespace clearformer
