// Generation: generates text one token per step, greedily, by sampling or by beam search.
// Shapes: B batch, T prompt tokens, R sequences (B · max(num_beams, num_return_sequences)),
// V vocabulary, L length of the longest sequence, prompt included.
#pragma once

#include "clearformer/generation/beam_search.h"
#include "clearformer/generation/prompt.h"
#include "clearformer/tensor/stopwatch.h"

namespace clearformer {

/// A running generation: each next() computes one token for every sequence.
class Generation {
 public:
  /// Takes the inputs of a forward pass (copies are kept; see prompt.h for which are used). inputs.cache may hold a
  /// prefix of the prompt: generation continues from there and extends the cache in place. The model and such a cache
  /// must outlive this object. A sequence ends at the config's end tokens: see generation_config_of(). Throws
  /// invalid_argument if prompt and new tokens would exceed the model's positions, and for contradictory options.
  Generation(Model& model, const ModelInputs& inputs, GenerationConfig config);
  /// Abandons a step that is not complete.
  ~Generation();
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  /// The result of one step.
  struct Step {
    std::vector<std::int32_t> tokens;  // (R); a finished sequence gets the padding token
    Tensor logits;                     // (R, V), unprocessed
    /// (R, V), processed: -inf for excluded tokens. Beam search: log-probabilities.
    Tensor scores;
    // Beam search: the previous step's row that each row continues, and its sum of log p (-1e9 for a finished one).
    std::vector<std::int32_t> beam_indices;  // (R)
    std::vector<float> beam_scores;          // (R)
    bool done = false;                       // every sequence has ended or is at the limit
  };

  /// Computes one layer of the next step; true when the step is complete. `trace` is read with the step's first layer
  /// and must live to its end; that of the first step covers the encoder too. One that selects positions needs
  /// Trace::watch_steps(steps()), since later steps compute new positions only. Throws invalid_argument once done, for an
  /// edit that the first step has no hook point for, or
  /// if the scores are NaN, or leave no token to draw (without sampling the first of those ruled out is chosen), which
  /// ends the generation, or if another pass of the model, also another generation's, has begun within the step: one
  /// step at a time per model. An error, or abandoning a step, leaves the cache as it was before the step; empty, if
  /// the step was to compute a Phi-3's keys again.
  bool advance(Trace* trace = nullptr);
  /// From now on each step pauses once its scores are processed: advance() returns true and held() is true,
  /// step().scores may be changed, and the next call of advance() chooses the tokens.
  void hold_scores() { holds_ = true; }
  bool held() const { return held_; }
  /// Abandons the current step, also one that is held; the next call of advance() restarts it.
  void abandon();
  /// The last completed step, or the one that is held; empty once next() has returned it.
  Step& step() { return step_; }
  /// Computes the next token of every sequence, without pausing.
  Step next(Trace* trace = nullptr);

  /// Marks a sequence as finished, for instance at a stop string that only a tokenizer can detect. Throws
  /// unsupported in beam search.
  void end(std::size_t row);

  bool done() const { return done_; }
  /// What a trace has to know of the steps that follow.
  Steps steps() const {
    return {prompt_.tokens.size(), read_, static_cast<std::int64_t>(max_length_) - 1};
  }
  /// Number of returned sequences: R, or num_return_sequences per prompt in beam search.
  std::size_t returned() const;
  /// (R or returned(), L) int32. Beam search: the finished sequences, best first, once done.
  Tensor sequences() const;
  /// Beam search: (returned()) sum of log p / length ^ length_penalty, and the row in which each new token was
  /// chosen, -1 after the end: int32 (returned(), new tokens). Otherwise empty.
  Tensor sequences_scores() const;
  Tensor beam_indices() const;

  const GenerationWarning& warning() const { return prompt_.warning; }

  KeyValueCache& cache() { return *cache_; }

 private:
  void expect_memory() const;
  bool compute_layer(Trace* trace);
  void begin(Trace* trace);
  void complete();
  void branch();
  void undo_step();
  void choose();
  void choose_beams();
  void process();
  Scores scores_of(std::size_t row);
  TokenSpan tokens_of(std::size_t row) const;
  bool is_end(std::int32_t token) const;
  bool out_of_time() const;

  Model& model_;
  std::shared_ptr<const GenerationConfig> config_;
  Prompt prompt_;
  std::size_t max_length_;
  LogitsProcessors processors_;
  std::size_t branches_;  // sequences per prompt
  std::size_t made_ = 0;
  std::size_t past_ = 0;  // cached positions before the current step
  std::size_t read_ = 0;  // positions that the steps so far have left in the cache
  std::unique_ptr<KeyValueCache> own_cache_;
  KeyValueCache* cache_;
  std::vector<Tensor> source_;  // the encoder's inputs, until it has run
  ModelInputs source_inputs_;
  bool encoded_ = false;
  Tensor input_, positions_;  // (rows, new), of the current step
  std::unique_ptr<ForwardPass> pass_;
  std::vector<TokenIds> rows_;  // (R), (B) before the first step; not in beam search
  std::optional<BeamSearch> search_;
  std::vector<Sampler> samplers_;
  std::vector<char> ended_;  // (R)
  Stopwatch time_;
  Step step_;
  bool holds_ = false, held_ = false;
  bool done_ = false;
};

}  // namespace clearformer
