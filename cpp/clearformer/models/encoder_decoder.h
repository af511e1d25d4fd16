// Encoder-decoder: an encoder reads text or audio; a decoder generates text and attends to the encoder's output.
// Source: Vaswani et al. 2017, section 3.
// Shapes: B batch, T source positions, T' target tokens, V vocabulary of the target.
// Outputs: encoder_last_hidden_state (B, T, D), then logits (B, T', V), or with Task::base
// last_hidden_state (B, T', D), or of a classifier logits (B, labels), from the decoder's output at the last
// eos_token_id of each row of input_ids, of which all have as many, or start_logits and end_logits (B, T') of answers to
// questions. The decoder of both reads, where it is given nothing, input_ids as well, shifted right behind the
// token it starts with. Hook points: encoder.{i}.…, decoder.{i}.…, encoder.ln_final.…, decoder.ln_final.…, those of
// the embeddings under encoder and decoder, and a classifier's under classifier.
#pragma once

#include "clearformer/models/model.h"

namespace clearformer {

class EncoderDecoderModel : public Model {
 public:
  EncoderDecoderModel(ModelConfig&& config, const WeightScope& scope);

  /// With a cache that holds the encoder's output only the decoder runs, and the source is not needed.
  std::unique_ptr<ForwardPass> start(const ModelInputs& inputs, Trace* trace) override;
  std::unique_ptr<ForwardPass> start_encoding(const ModelInputs& inputs, Trace* trace) override;
  std::unique_ptr<ForwardPass> start_step(const ModelInputs& inputs, Trace* trace) override;
  std::vector<OutputList> hidden_states() const override;
  std::vector<OutputList> attentions() const override;
  KeyValueCache make_cache() const override;
  void prepare_rotary() {}

 protected:
  void probe(Trace& trace) override;
  std::vector<PassSize> sizes(const ModelInputs& inputs) const override;
  WordOutput word_output() const override { return {&decoder_, output_ ? &*output_ : nullptr}; }

 private:
  class Pass;
  void check(const ModelInputs& inputs) const;
  static TowerInputs source(const ModelInputs& inputs);
  TowerInputs target(const ModelInputs& inputs) const;

  std::shared_ptr<const Embedding> tokens_;  // of both towers, or of the decoder only
  Tower encoder_, decoder_;
  std::optional<OutputLayer> output_;
  std::optional<Head> head_;  // a classifier, or of answers to questions
};

}  // namespace clearformer
