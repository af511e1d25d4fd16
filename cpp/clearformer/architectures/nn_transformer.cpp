// The original Transformer as saved by torch.nn.Transformer, between embeddings and a generator as
// in PyTorch's translation tutorial. Such a file has no config.json; ours contains the
// arguments of nn.Transformer under their names, src_vocab_size, tgt_vocab_size and
// max_position_embeddings, with "model_type": "nn_transformer".
// Source: Vaswani et al. 2017, arXiv 1706.03762; torch.nn.Transformer.

#include <cmath>

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/values.h"

namespace clearformer {

namespace nn_transformer {

constexpr std::string_view kRules = R"(
encoder.embed src_tok_emb.embedding
decoder.embed tgt_tok_emb.embedding
*.ln_final transformer.*.norm
encoder transformer.encoder.layers
decoder transformer.decoder.layers
ln1 norm1
ln2 norm2
ln3 norm3
attn.o_proj self_attn.out_proj
attn self_attn
cross_attn.o_proj multihead_attn.out_proj
cross_attn multihead_attn
q_proj.weight in_proj_weight 0/3
k_proj.weight in_proj_weight 1/3
v_proj.weight in_proj_weight 2/3
q_proj.bias in_proj_bias 0/3
k_proj.bias in_proj_bias 1/3
v_proj.bias in_proj_bias 2/3
mlp.up_proj linear1
mlp.down_proj linear2
unembed generator
)";
constexpr std::string_view kIgnored = "positional_encoding.pos_embedding";

// Not a class of transformers: the arguments and defaults are those of nn.Transformer.
constexpr KeyTable kKeys{.fields =
                             R"("src_vocab_size":null,"tgt_vocab_size":null,"d_model":512,"nhead":8,
"num_encoder_layers":6,"num_decoder_layers":6,"dim_feedforward":2048,"activation":"relu",
"layer_norm_eps":1e-5,"norm_first":false,"bias":true,"max_position_embeddings":5000,
"bos_token_id":null,"eos_token_id":null,"pad_token_id":null,"decoder_start_token_id":null)"};

TowerConfig read_tower(const ConfigReader& config, ModelConfig& model, std::string_view layers,
                       std::string_view vocabulary) {
  TowerConfig tower;
  const std::size_t d_model = config.size("d_model");
  const Bias bias = read_bias(config, "bias");
  tower.max_positions = config.size("max_position_embeddings");
  tower.stack.layers = read_layers(config, layers);
  tower.stack.blocks = "";
  BlockConfig& block = tower.stack.block;
  block.order = config.flag("norm_first") ? NormOrder::pre : NormOrder::post;
  block.norm = layer_norm(d_model, read_epsilon(config, "layer_norm_eps"));
  block.norm.bias = bias == Bias::present;
  block.attention = read_heads(config, "nhead", d_model);
  block.attention.bias = bias;
  block.feed_forward = {d_model, config.size("dim_feedforward"),
                        read_activation(config, "activation", model), Gate::none, bias};
  TextEmbeddingConfig text;
  text.vocabulary = config.size(vocabulary);
  text.d_model = d_model;
  text.scale = std::sqrt(static_cast<float>(d_model));
  text.positions = TextEmbeddingConfig::Positions::sinusoidal;
  tower.text = text;
  return tower;
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  if (task != Task::seq2seq_lm && task != Task::base) refuse_task(config, task);
  ModelConfig model;
  model.model_type = config.text("model_type");
  model.task = task;
  model.kind = ModelKind::encoder_decoder;
  model.own_target_embedding = true;
  read_tokens(config, model);
  if (!model.decoder_start_token_id) model.decoder_start_token_id = model.bos_token_id;
  model.tower = read_tower(config, model, "num_encoder_layers", "src_vocab_size");
  model.second = read_tower(config, model, "num_decoder_layers", "tgt_vocab_size");
  model.second->attends = TowerConfig::Attends::to_the_past;
  model.second->cross_attention = true;
  model.output = {model.d_model(), model.d_vocab(), Bias::present};
  return model;
}

}  // namespace nn_transformer

const Architecture kTransformer{"nn_transformer",
                                nn_transformer::kKeys,
                                nn_transformer::read_config,
                                {},
                                nn_transformer::kRules,
                                {},
                                nn_transformer::kIgnored,
                                Task::seq2seq_lm};

}  // namespace clearformer
