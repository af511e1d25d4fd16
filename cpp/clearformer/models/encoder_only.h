// Encoder-only model for text, images or samples: embedding -> bidirectional blocks -> head (BERT, ViT, wav2vec 2.0).
// Outputs: Task::base: last_hidden_state (B, T, D), and pooler_output (B, D) if there is a pooler;
// question answering: start_logits, end_logits (B, T); replaced token detection: logits (B, T); otherwise logits.
// Hook points: those of tower.h and head.h.
#pragma once

#include "clearformer/models/model.h"

namespace clearformer {

class EncoderOnlyModel : public Model {
 public:
  EncoderOnlyModel(ModelConfig&& config, const WeightScope& scope);

  std::unique_ptr<ForwardPass> start(const ModelInputs& inputs, Trace* trace) override;
  std::vector<OutputList> hidden_states() const override;
  std::vector<OutputList> attentions() const override;
  Tensor unembed(const TensorView& residual, Normalize normalize) override;
  void prepare_rotary() { tower_.prepare_rotary(); }

 protected:
  void probe(Trace& trace) override;
  std::vector<PassSize> sizes(const ModelInputs& inputs) const override;

 private:
  class Pass;
  TowerInputs tower_inputs(const ModelInputs& inputs) const;
  [[gnu::noinline]] void add_images(const ModelInputs& inputs, TowerInputs& tower) const;
  void answer(const TensorView& x, const ModelInputs& inputs, const Context& context,
              ModelOutputs& outputs) const;
  void answer_back(const TensorView& x, const ModelInputs& inputs, const Context& context,
                   ModelOutputs& outputs, const MutableTensorView& dx) const;

  std::shared_ptr<const Embedding> tokens_;
  Tower tower_;
  std::optional<Head> head_, second_head_;
};

}  // namespace clearformer
