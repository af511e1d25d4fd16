// Dual encoder: a text and an image tower with a common embedding space (CLIP),
//   logits_per_image = exp(logit_scale)·(image embedding · text embedding),  both of unit length
// Source: Radford et al. 2021, arXiv 2103.00020.
// Shapes: B texts, I images, E embedding.
// Outputs, for the inputs given: text_embeds (B, E), image_embeds (I, E), logits_per_image
// (I, B), logits_per_text (B, I), text_model_output.… and vision_model_output.… last_hidden_state and
// pooler_output (projected, not of unit length). Hook points: those of tower.h under text_model and vision_model.
#pragma once

#include "clearformer/models/model.h"

namespace clearformer {

class DualEncoderModel : public Model {
 public:
  DualEncoderModel(ModelConfig&& config, const WeightScope& scope);

  std::unique_ptr<ForwardPass> start(const ModelInputs& inputs, Trace* trace) override;
  std::vector<OutputList> hidden_states() const override;
  std::vector<OutputList> attentions() const override;
  void prepare_rotary() {}

 protected:
  void probe(Trace& trace) override;
  std::vector<PassSize> sizes(const ModelInputs& inputs) const override;

 private:
  class Pass;
  void check(const ModelInputs& inputs) const;
  static TowerInputs text_inputs(const ModelInputs& inputs);
  static TowerInputs vision_inputs(const ModelInputs& inputs);
  std::vector<std::size_t> pooled_positions(const TensorView& ids) const;

  Tower text_, vision_;
  Head text_pooler_, vision_pooler_;
  Tensor logit_scale_, logit_bias_;  // (1)
};

}  // namespace clearformer
