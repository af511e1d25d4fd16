// Generation: a decoder-only model writes on, one token a step.
// Shapes: B batch, T prompt tokens, V vocabulary.
#pragma once

#include "clearformer/models/decoder_only.h"
#include "clearformer/models/generation_config.h"
#include "clearformer/models/sampler.h"

namespace clearformer {

class Generation {
 public:
  /// prompt (B, T) int32; attention_mask (B, T) uint8, 0 = padding on the left, or none.
  /// The model must outlive this. Throws invalid_argument when prompt and new tokens would exceed
  /// the model's positions.
  Generation(DecoderOnlyModel& model, TensorView prompt, const TensorView* attention_mask,
             GenerationConfig config);

  struct Step {
    std::vector<std::int32_t> tokens;  // (B); a finished sequence gets the padding token
    Tensor logits;                     // (B, V), as the model gave them
    Tensor scores;                     // (B, V), processed: -inf where a token was ruled out
    bool done = false;                 // every sequence ended or the length is reached
  };

  /// Computes the next token of every sequence; throws invalid_argument once done.
  Step next(Trace* trace = nullptr);

  bool done() const { return done_; }
  KeyValueCache& cache() { return cache_; }

 private:
  Tensor forward(Trace* trace);
  void process(float* scores) const;
  bool is_end(std::int32_t token) const;

  DecoderOnlyModel& model_;
  GenerationConfig config_;
  std::size_t max_new_tokens_;
  std::size_t made_ = 0;
  KeyValueCache cache_;
  Tensor input_;      // (B, T) the tokens the model has not seen yet
  Tensor positions_;  // (B, T)
  Tensor mask_;       // (B, S) grown by one column a step; empty without padding
  std::vector<Sampler> samplers_;
  std::vector<bool> ended_;
  bool done_ = false;
};

}  // namespace clearformer
