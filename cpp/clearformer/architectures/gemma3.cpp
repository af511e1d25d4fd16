// Gemma 3, the text model: Gemma 2 with a norm over each head in place of softcaps, local
// attention with positions of its own in five of six layers. A checkpoint with a vision tower keeps
// the text model under text_config; its other tensors are reported as unexpected.
// Source: Kamath et al. 2025, arXiv 2503.19786; transformers' Gemma3ForCausalLM.

#include "clearformer/architectures/gemma_like.h"
#include "clearformer/architectures/known.h"

namespace clearformer {

namespace {

constexpr std::string_view kPrefixes[] = {"model.language_model.", "language_model.model.",
                                          "model."};

Span usual_span(const ConfigReader& config, std::size_t layer) {
  return (layer + 1) % config.size("sliding_window_pattern", 6) == 0 ? Span::full : Span::local;
}

ModelConfig read_text(const ConfigReader& config, Task task) {
  LlamaDefaults defaults;
  defaults.max_positions = 131072;
  defaults.rotary = {"full_attention", "rope_theta", 1000000.0};
  ModelConfig model = read_gemma_like(config, task, defaults);
  TowerConfig& tower = model.tower;
  AttentionConfig& attention = tower.stack.block.attention;
  attention.head_norm = rms_norm(attention.d_head, tower.stack.block.norm.eps);
  attention.head_norm->weight_offset = 1.0f;
  attention.softcap = static_cast<float>(config.number("attn_logit_softcapping", 0.0));
  model.output.softcap = static_cast<float>(config.number("final_logit_softcapping", 0.0));
  tower.stack.spans = read_spans(config, tower.stack.layers, usual_span);
  tower.window_before = config.size("sliding_window", 4096) - 1;
  const std::size_t positions = config.size("max_position_embeddings", defaults.max_positions);
  tower.local_rotary = read_rotary(config, attention.d_head, positions,
                                   {"sliding_attention", "rope_local_base_freq", 10000.0, false});
  return model;
}

ModelConfig read_whole(const ConfigReader& config, Task task) {
  const auto text = config.object("text_config");
  if (!text) config.refuse_value("text_config", "is missing");
  ModelConfig model = read_text(*text, task == Task::seq2seq_lm ? Task::causal_lm : task);
  read_tokens(config, model);
  return model;
}

}  // namespace

const Architecture kGemma3Text{"gemma3_text", read_text, kPrefixes,
                               gemma_rules(), {},        llama_ignored()};
const Architecture kGemma3{"gemma3", read_whole, kPrefixes, gemma_rules(), {}, llama_ignored()};

}  // namespace clearformer
