// T5 (1.0 and 1.1) and mT5: pre-norm encoder-decoder with RMSNorm, learned biases for relative positions,
// unscaled scores; 1.0 ties the output layer and scales it, 1.1 and mT5 gate the feed-forward network. The encoder alone
// is a model as well (sentence-t5, gtr-t5, text encoders of diffusers), also with classes of tokens.
// Source: Raffel et al. 2019, arXiv 1910.10683; Xue et al. 2020, arXiv 2010.11934; transformers'
// T5ForConditionalGeneration, T5EncoderModel, T5ForSequenceClassification, T5ForTokenClassification,
// T5ForQuestionAnswering and MT5's.

#include <cmath>

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/values.h"

namespace clearformer {

namespace t5 {

// From "relative" on: the encoder alone.
constexpr std::string_view kRules = R"(
*.embed *.embed_tokens
embed shared
*.relative *.block.0.layer.0.SelfAttention.relative_attention_bias
encoder.*.ln1 encoder.block.*.layer.0.layer_norm
encoder.*.attn encoder.block.*.layer.0.SelfAttention
encoder.*.ln2 encoder.block.*.layer.1.layer_norm
encoder.*.mlp encoder.block.*.layer.1.DenseReluDense
decoder.*.ln1 decoder.block.*.layer.0.layer_norm
decoder.*.attn decoder.block.*.layer.0.SelfAttention
decoder.*.ln2 decoder.block.*.layer.1.layer_norm
decoder.*.cross_attn decoder.block.*.layer.1.EncDecAttention
decoder.*.ln3 decoder.block.*.layer.2.layer_norm
decoder.*.mlp decoder.block.*.layer.2.DenseReluDense
*.ln_final *.final_layer_norm
relative encoder.block.0.layer.0.SelfAttention.relative_attention_bias
blocks.*.ln1 encoder.block.*.layer.0.layer_norm
blocks.*.attn encoder.block.*.layer.0.SelfAttention
blocks.*.ln2 encoder.block.*.layer.1.layer_norm
blocks.*.mlp encoder.block.*.layer.1.DenseReluDense
ln_final encoder.final_layer_norm
q_proj q
k_proj k
v_proj v
o_proj o
gate_proj wi_0
down_proj wo
unembed lm_head
classifier.out /classification_head.out_proj
classifier /classification_head
token_classifier.out /classifier
qa.out /qa_outputs
)";
constexpr std::string_view kGated = "up_proj wi_1";
constexpr std::string_view kPlain = "up_proj wi";
constexpr KeyScheme kSchemes[] = {{".wi_1.", kGated, is_gated}, {"", kPlain}};
constexpr std::string_view kPrefixes = "transformer.";
constexpr std::string_view kIgnored =
    "*decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight";

// Token embedding table, its copies and the output layer are always tied if the file has only one: in transformers 4
// files "tie_word_embeddings" only says whether the output is scaled.
constexpr std::string_view kNames = R"("hidden_size":"d_model","num_attention_heads":"num_heads",
"num_hidden_layers":"num_layers","head_dim":"d_kv")";
constexpr KeyTable kKeys{
    .fields = R"("vocab_size":32128,"d_model":512,"d_kv":64,"d_ff":2048,"num_layers":6,
"num_decoder_layers":null,"num_heads":8,"relative_attention_num_buckets":32,
"relative_attention_max_distance":128,"layer_norm_epsilon":1e-6,"feed_forward_proj":"relu",
"pad_token_id":0,"eos_token_id":1)",
    .others = R"("tie_word_embeddings":true,"scale_decoder_outputs":"unsaid","dense_act_fn":null,
"is_gated_act":null,"bos_token_id":null,"decoder_start_token_id":null)",
    .since_5_2 = R"("is_causal":true)",
    .other_names = kNames};
constexpr KeyTable kMt5Keys{
    .fields = R"("vocab_size":250112,"d_model":512,"d_kv":64,"d_ff":1024,"num_layers":8,
"num_decoder_layers":null,"num_heads":6,"relative_attention_num_buckets":32,
"relative_attention_max_distance":128,"layer_norm_epsilon":1e-6,"feed_forward_proj":"gated-gelu",
"pad_token_id":0,"eos_token_id":1,"bos_token_id":null,"decoder_start_token_id":0,
"tie_word_embeddings":true)",
    .others = R"("dense_act_fn":null,"is_gated_act":null)",
    .since_5_2 = R"("is_causal":true)",
    .other_names = kNames};

// "relu", "gated-gelu" (with the tanh form of GELU), "gated-silu", …; "dense_act_fn" and
// "is_gated_act", which transformers saves as well, take precedence.
void read_feed_forward(const ConfigReader& config, std::size_t d_model, ModelConfig& model,
                       FeedForwardConfig& feed_forward) {
  std::string name = config.text("feed_forward_proj");
  const bool gated = config.flag("is_gated_act", name.starts_with("gated-"));
  if (name == "gated-gelu") name = "gelu_new";
  name = config.text("dense_act_fn", name.substr(name.find('-') + 1));
  const auto activation = activation_named(name);
  if (!activation) config.refuse(ErrorCode::unsupported, "feed_forward_proj", "is \"", name, "\"");
  model.activation = name;
  feed_forward = {d_model, config.size("d_ff"), *activation, gated ? Gate::present : Gate::none,
                  Bias::none};
}

// "scale_decoder_outputs", false if null; if absent, "tie_word_embeddings" unless that is false.
bool scales_output(const ConfigReader& config) {
  const Json* said = config.find_set("scale_decoder_outputs");
  if (said == nullptr) return false;
  if (!said->is_string()) return config.flag("scale_decoder_outputs");
  return config.flag("tie_word_embeddings", true);
}

TowerConfig read_tower(const ConfigReader& config, ModelConfig& model) {
  TowerConfig tower;
  const std::size_t d_model = config.size("d_model");
  // Relative positions have no maximum; this limit keeps int32 sums of them from overflowing.
  tower.max_positions = 1u << 20;
  tower.stack.layers = read_layers(config, "num_layers");
  BlockConfig& block = tower.stack.block;
  block.norm = rms_norm(d_model, read_epsilon(config, "layer_norm_epsilon"));
  AttentionConfig& attention = block.attention;
  attention.d_model = d_model;
  attention.num_heads = attention.num_key_value_heads = config.size("num_heads");
  attention.d_head = config.size("d_kv");
  config.product("num_heads", 3 * std::uint64_t{attention.num_heads}, attention.d_head);
  attention.scale = 1.0;
  read_feed_forward(config, d_model, model, block.feed_forward);
  RelativeBuckets relative;
  relative.num_buckets = config.size("relative_attention_num_buckets");
  relative.max_distance = config.size("relative_attention_max_distance");
  tower.relative = relative;
  TextEmbeddingConfig text;
  text.vocabulary = config.size("vocab_size");
  text.d_model = d_model;
  tower.text = text;
  return tower;
}

bool is_encoder_alone(const ConfigReader& config) {
  const std::vector<std::string> classes = config.texts("architectures");
  return !classes.empty() && (classes.front().ends_with("EncoderModel") ||
                              classes.front().ends_with("ForTokenClassification"));
}

ModelConfig read_config(const ConfigReader& config, Task task) {
  const bool labels_tokens = task == Task::token_classification;
  const bool generates = task == Task::seq2seq_lm || task == Task::base;
  ModelConfig model;
  model.model_type = config.text("model_type");
  model.task = task;
  model.tied = true;
  read_tokens(config, model);
  model.tower = read_tower(config, model);
  if (labels_tokens || is_encoder_alone(config)) {
    if (labels_tokens && task_of(config) != Task::base) {
      model.head = encoder_head(config, task, model, {});
    } else if (task != Task::base) {
      refuse_task(config, task);
    }
    model.kind = ModelKind::encoder_only;
    return model;
  }
  if (!generates) {
    model.head = source_head(config, task, model);
    if (!model.decoder_start_token_id) {  // what the decoder's text begins with
      config.refuse(ErrorCode::unsupported, "decoder_start_token_id", "is missing");
    }
  }
  model.kind = ModelKind::encoder_decoder;
  model.tower.stack.blocks = "";
  model.second = model.tower;
  TowerConfig& decoder = *model.second;
  if (config.is_set("num_decoder_layers")) {
    decoder.stack.layers = read_layers(config, "num_decoder_layers");
  }
  decoder.attends = read_causality(config);
  decoder.cross_attention = true;
  decoder.relative->direction = RelativeBuckets::Direction::causal;
  model.output = {decoder.d_model(), decoder.text->vocabulary};
  if (model.model_type == "t5" && scales_output(config)) {
    model.output.scale = 1.0f / std::sqrt(static_cast<float>(decoder.d_model()));
  }
  return model;
}

}  // namespace t5

const Architecture kT5{"t5",         t5::kKeys,    t5::read_config,  t5::kPrefixes, t5::kRules,
                       t5::kSchemes, t5::kIgnored, Task::seq2seq_lm, true};
const Architecture kMt5{"mt5",        t5::kMt5Keys, t5::read_config,  t5::kPrefixes, t5::kRules,
                        t5::kSchemes, t5::kIgnored, Task::seq2seq_lm, true};

}  // namespace clearformer
