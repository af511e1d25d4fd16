// Beam search: keeps the num_beams most probable continuations and collects those that end. Follows upstream's
// vectorised search step by step, in float32.
//
//   score of a sequence = sum of log p / length ^ length_penalty        length: new tokens
//
// Shapes: B batch, N beams, V vocabulary.
#pragma once

#include "clearformer/generation/logits_processors.h"
#include "clearformer/generation/sampler.h"

namespace clearformer {

/// Beam search over a model, one token per step.
class BeamSearch {
 public:
  /// `prompts` (B) have equal length, below max_length. Throws invalid_argument if the vocabulary
  /// is too small for that many beams.
  BeamSearch(std::shared_ptr<const GenerationConfig> config, const std::vector<TokenIds>& prompts,
             std::size_t max_length, std::size_t vocabulary);

  /// A sequence and its history.
  struct Beam {
    TokenIds tokens;                  // prompt included
    std::vector<std::int32_t> beams;  // for each new token, the row (of B · N) it was appended to
    float score = 0.0f;               // running: sum of log p; finished: over length^penalty
    bool finished = false;
  };

  /// Chooses the next tokens from processed log-probabilities (B · N, V). `last`: every sequence ends
  /// with this token.
  void advance(std::span<const float> log_probs, bool last = false);
  bool done() const { return done_; }

  /// The running sequences (B · N); beams.back() is the cache row each one continues.
  const std::vector<Beam>& running() const { return running_; }
  /// The best num_return_sequences of each batch item, best first, once done.
  std::vector<const Beam*> results() const;
  /// The token that pads shorter returned sequences.
  std::int32_t fill() const;

 private:
  struct Candidate {
    Beam beam;
    bool ends = false;
  };
  std::vector<Candidate> candidates(std::size_t item, std::span<const float> log_probs, bool last);
  void run_on(std::size_t item, const std::vector<Candidate>& candidates);
  void collect(std::size_t item, const std::vector<Candidate>& candidates);
  bool can_improve(std::size_t item) const;
  float penalty(std::size_t new_tokens) const;
  bool all_finished(std::size_t item) const;

  std::shared_ptr<const GenerationConfig> config_;
  std::size_t beams_, prompt_length_, max_length_, vocabulary_;
  std::vector<Beam> running_, finished_;  // (B · N)
  std::vector<char> improvable_;          // (B)
  std::vector<Sampler> samplers_;         // (B)
  bool done_ = false;
};

}  // namespace clearformer
