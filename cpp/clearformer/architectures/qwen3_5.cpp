// Qwen3.5, text model: gated delta rules and, in every fourth layer, Qwen 3's attention with a gate on its output and
// rotary positions on a quarter of each head. A checkpoint with a vision tower stores the text model under text_config; its
// other tensors are ignored, as in transformers' Qwen3_5ForCausalLM.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

const KeyTable kQwen35TextKeys{
    .fields = R"("vocab_size":248320,"hidden_size":4096,"intermediate_size":12288,
"num_hidden_layers":32,"num_attention_heads":16,"num_key_value_heads":4,"hidden_act":"silu",
"max_position_embeddings":32768,"rms_norm_eps":1e-6,"tie_word_embeddings":false,
"rope_parameters":null,"attention_bias":false,"head_dim":256,"linear_conv_kernel_dim":4,
"linear_key_head_dim":128,"linear_value_head_dim":128,"linear_num_key_heads":16,
"linear_num_value_heads":32,"layer_types":null,"pad_token_id":null,"bos_token_id":null,
"eos_token_id":null)",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":0.25,
"original_max_position_embeddings":null,"full_attention_interval":4)",
    .since_5_2 = R"("is_causal":true)"};

namespace qwen3_5 {

// The queries' projection has the gate of each head behind its query.
constexpr std::string_view kRules = R"(
embed embed_tokens
blocks layers
ln1 input_layernorm
attn.g_proj self_attn.q_proj 1/2/n
q_proj q_proj 0/2/n
attn self_attn
delta linear_attn
qkv_proj in_proj_qkv
z_proj in_proj_z
b_proj in_proj_b
a_proj in_proj_a
conv conv1d
ln2 post_attention_layernorm
ln_final norm
unembed /lm_head
)";
constexpr std::string_view kPrefixes = "model.language_model. model.";
constexpr std::string_view kIgnored = "*.rotary_emb.inv_freq mtp.* model.visual.*";

constexpr KeyTable kWholeKeys{.fields = R"("text_config":null)"};

std::vector<Mixer> read_layer_types(const ConfigReader& config, std::size_t layers) {
  std::vector<Mixer> mixers(layers, Mixer::delta);
  const bool named = config.is_set("layer_types");
  const std::vector<std::string> types = config.texts("layer_types");
  if (named && types.size() != layers) {
    config.refuse_value("layer_types", "names ", types.size(), " layers of ", layers);
  }
  for (std::size_t layer = 0; layer < layers; ++layer) {
    if (!named) {
      if ((layer + 1) % config.size("full_attention_interval") == 0) mixers[layer] = Mixer::full;
    } else if (types[layer] == "full_attention") {
      mixers[layer] = Mixer::full;
    } else if (types[layer] != "linear_attention") {
      config.refuse(ErrorCode::unsupported, "layer_types", "holds \"", types[layer], "\"");
    }
  }
  return mixers;
}

GatedDeltaConfig read_delta(const ConfigReader& config, const NormConfig& norm) {
  GatedDeltaConfig delta;
  delta.d_model = norm.shape[0];
  delta.key_heads = config.size("linear_num_key_heads");
  delta.value_heads = config.size("linear_num_value_heads");
  delta.d_key = config.size("linear_key_head_dim");
  delta.d_value = config.size("linear_value_head_dim");
  delta.taps = config.size("linear_conv_kernel_dim");
  delta.eps = norm.eps;
  if (delta.value_heads % delta.key_heads != 0) {
    config.refuse_value("linear_num_value_heads", "is ", delta.value_heads,
                        ", no multiple of linear_num_key_heads ", delta.key_heads);
  }
  const std::size_t keys = config.product("linear_key_head_dim", delta.d_key, delta.key_heads);
  const std::size_t values =
      config.product("linear_value_head_dim", delta.d_value, delta.value_heads);
  config.product("linear_key_head_dim", values, delta.d_key);
  config.product("linear_conv_kernel_dim", 2 * std::uint64_t{keys} + values, delta.taps);
  return delta;
}

ModelConfig read_text(const ConfigReader& config, Task task) {
  ModelConfig model = read_llama_like(config, task, {});
  StackConfig& stack = model.tower.stack;
  BlockConfig& block = stack.block;
  block.norm.weight_offset = 1.0f;
  block.attention.head_norm = rms_norm(block.attention.d_head, block.norm.eps);
  block.attention.head_norm->weight_offset = 1.0f;
  block.attention.gated = true;
  stack.mixers = read_layer_types(config, stack.layers);
  stack.delta = read_delta(config, block.norm);
  return model;
}

ModelConfig read_whole(const ConfigReader& config, Task task) {
  const ConfigReader text =
      config.object("text_config").value_or(config.with_members(Json::Object()));
  ModelConfig model = read_text(declared(text, kQwen35TextKeys), task);
  model.model_type = "qwen3_5";
  return model;
}

}  // namespace qwen3_5

const Architecture kQwen35Text{"qwen3_5_text",     kQwen35TextKeys, qwen3_5::read_text,
                               qwen3_5::kPrefixes, qwen3_5::kRules, {},
                               qwen3_5::kIgnored};
const Architecture kQwen35{"qwen3_5",          qwen3_5::kWholeKeys, qwen3_5::read_whole,
                           qwen3_5::kPrefixes, qwen3_5::kRules,     {},
                           qwen3_5::kIgnored};

}  // namespace clearformer
