// Decoder-only model: embedding -> causal blocks -> output layer (GPT-like language models).
// Shapes: B batch, T new tokens, S = past + T positions in total, V vocabulary.
// Outputs: logits (B, T, V), or (B, N, V) for N positions of logits_to_keep; Task::base:
// last_hidden_state (B, T, D). Hook points: those of tower.h.
#pragma once

#include "clearformer/models/model.h"

namespace clearformer {

class DecoderOnlyModel : public Model {
 public:
  DecoderOnlyModel(ModelConfig&& config, const WeightScope& scope);

  std::unique_ptr<ForwardPass> start(const ModelInputs& inputs, Trace* trace) override;
  std::unique_ptr<ForwardPass> start_step(const ModelInputs& inputs, Trace* trace) override;
  std::vector<OutputList> hidden_states() const override;
  std::vector<OutputList> attentions() const override;
  KeyValueCache make_cache() const override;
  void prepare_rotary() { tower_.prepare_rotary(); }

 protected:
  void probe(Trace& trace) override;
  std::vector<PassSize> sizes(const ModelInputs& inputs) const override;
  WordOutput word_output() const override {
    return {&tower_, output_ ? &*output_ : nullptr, before_output_ ? &*before_output_ : nullptr};
  }

 private:
  class Pass;
  TowerInputs tower_inputs(const ModelInputs& inputs) const;

  std::shared_ptr<const Embedding> tokens_;
  Tower tower_;
  std::optional<Head> before_output_;
  std::optional<OutputLayer> output_;
};

/// The token embeddings of a tower, "embed", which the model's output layer shares if it is tied.
std::shared_ptr<const Embedding> words_of(const ModelConfig& config, const TowerConfig& tower,
                                          const WeightScope& scope);

}  // namespace clearformer
