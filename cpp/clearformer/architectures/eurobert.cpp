// EuroBERT: Llama as an encoder, whose attention sees both sides.
// Source: Boizard et al. 2025, arXiv 2503.05500; transformers' EuroBertModel.

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/llama_like.h"

namespace clearformer {

namespace eurobert {

constexpr std::string_view kRules = R"(
embed embed_tokens
blocks layers
ln1 input_layernorm
attn self_attn
ln2 post_attention_layernorm
ln_final norm
mlm.out /lm_head
classifier.dense /dense
*.out /classifier
)";

constexpr KeyTable kKeys{
    .fields = R"("vocab_size":128256,"hidden_size":768,"intermediate_size":3072,
"num_hidden_layers":12,"num_attention_heads":12,"num_key_value_heads":null,"hidden_act":"silu",
"max_position_embeddings":8192,"rms_norm_eps":1e-5,"pad_token_id":128001,"bos_token_id":128000,
"eos_token_id":128001,"tie_word_embeddings":false,"rope_parameters":null,"attention_bias":false,
"mlp_bias":false,"head_dim":null,"classifier_pooling":"late")",
    .others = R"("rope_theta":10000,"rope_scaling":null,"partial_rotary_factor":null,
"original_max_position_embeddings":null)",
    .neutral = R"("is_causal":false)"};

ModelConfig read_config(const ConfigReader& config, Task task) {
  if (task == Task::question_answering) refuse_task(config, task);
  ModelConfig model = read_llama_like(config, Task::base);
  model.task = task;
  model.kind = ModelKind::encoder_only;
  model.tower.attends = TowerConfig::Attends::to_all;
  model.output = {};
  EncoderHeads heads;
  heads.classifier = Activation::gelu_erf;
  HeadConfig head = encoder_head(config, task, model, heads);
  if (task == Task::base) return model;
  if (task == Task::masked_lm) head.bias = read_bias(config, "mlp_bias");
  if (task == Task::sequence_classification) {
    const std::string pooling = config.text("classifier_pooling");
    if (pooling == "mean") head.pick = HeadConfig::Pick::mean;
    if (pooling == "late") head.pick = HeadConfig::Pick::mean_of_dense;
    if (head.pick == HeadConfig::Pick::first && pooling != "bos") {
      config.refuse(ErrorCode::unsupported, "classifier_pooling", "is \"", pooling, "\"");
    }
  }
  model.head = head;
  return model;
}

}  // namespace eurobert

const Architecture kEuroBert{"eurobert",     eurobert::kKeys,  eurobert::read_config,
                             kLlamaPrefixes, eurobert::kRules, {},
                             kLlamaIgnored,  Task::base};

}  // namespace clearformer
