// Generation: a model writes on, one token a step: greedily, by draws or by beam search.
// Shapes: B batch, T prompt tokens, R sequences (B · max(num_beams, num_return_sequences)),
// V vocabulary, L tokens of the longest sequence, prompt included.
#pragma once

#include "clearformer/generation/beam_search.h"
#include "clearformer/generation/prompt.h"
#include "clearformer/tensor/stopwatch.h"

namespace clearformer {

/// A generation under way: each next() computes one token for every sequence.
class Generation {
 public:
  /// Takes the inputs of a forward pass (copies are kept; see prompt.h for what is read from them).
  /// inputs.cache may hold the first positions of the prompt: it goes on from there, and the cache is
  /// extended in place. The model and such a cache must outlive this. Throws invalid_argument when
  /// prompt and new tokens would exceed the model's positions, and for options that contradict each
  /// other.
  Generation(Model& model, const ModelInputs& inputs, GenerationConfig config);
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  /// What one step has written.
  struct Step {
    std::vector<std::int32_t> tokens;  // (R); a finished sequence gets the padding token
    Tensor logits;                     // (R, V), as the model gave them
    /// (R, V), processed: -inf where a token was ruled out. Beam search: log-probabilities.
    Tensor scores;
    // Beam search: which row of the step before each row continues, and its sum of log p.
    std::vector<std::int32_t> beam_indices;  // (R)
    std::vector<float> beam_scores;          // (R)
    bool done = false;                       // every sequence ended or the length is reached
  };

  /// Computes one layer of the next step; true when the step is complete. `trace` is read when the
  /// step's first layer is computed and must live to its end; the first step's includes the encoder.
  /// Throws invalid_argument once done, or when the scores leave no token to choose, which ends it.
  /// An error, or leaving in the middle of a step, leaves in the cache what was there before it.
  bool advance(Trace* trace = nullptr);
  /// From now on a step stops once when its scores are processed: advance() is true and held() too,
  /// step().scores may be changed, and the next call of advance() chooses the tokens.
  void hold_scores() { holds_ = true; }
  bool held() const { return held_; }
  /// Leaves the step under way; the next call of advance() begins it anew.
  void abandon() { pass_.reset(); }
  /// The step that was completed last.
  Step& step() { return step_; }
  /// Computes the next token of every sequence.
  Step next(Trace* trace = nullptr);

  /// Says that a sequence is finished, for instance by a text that only a tokenizer sees. Throws
  /// unsupported in beam search.
  void end(std::size_t row);

  bool done() const { return done_; }
  /// num_return_sequences for each prompt: R, or fewer in beam search.
  std::size_t returned() const;
  /// (R or returned(), L) int32. Beam search: the finished ones, the best first, once done.
  Tensor sequences() const;
  /// Beam search: (returned()) sum of log p / length ^ length_penalty, and the row each new token was
  /// chosen in, -1 behind the end: int32 (returned(), new tokens). Otherwise empty.
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
  std::size_t branches_;  // sequences for each prompt
  std::size_t made_ = 0;
  std::size_t past_ = 0;  // positions in the cache before the step under way
  std::unique_ptr<KeyValueCache> own_cache_;
  KeyValueCache* cache_;
  std::vector<Tensor> source_;  // the encoder's inputs, until it has read them
  ModelInputs source_inputs_;
  bool encoded_ = false;
  Tensor input_, positions_;  // (rows, new) of the step under way
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
