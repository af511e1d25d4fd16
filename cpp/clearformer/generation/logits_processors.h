// Logits processors: change scores or exclude tokens before the next one is chosen. They are Hugging Face's
// processors of the same names, in the order of its generate().
// Shapes: V vocabulary; the scores (V) are those of one sequence's next token.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "clearformer/generation/generation_config.h"

namespace clearformer {

/// One score per token of the vocabulary.
using Scores = std::span<float>;
/// Borrowed tokens.
using TokenSpan = std::span<const std::int32_t>;

/// Divides positive scores of the tokens in `seen` by the penalty and multiplies negative ones by it:
/// repetition_penalty; encoder_repetition_penalty is its inverse, applied to the encoder's tokens.
void apply_repetition_penalty(Scores scores, TokenSpan seen, double penalty);
/// Excludes every token that, after `tokens`, would complete an n-gram of `size` tokens that occurs in `seen`.
/// no_repeat_ngram_size: seen = tokens.
void forbid_repeated_ngrams(Scores scores, TokenSpan tokens, TokenSpan seen, std::size_t size);
/// Adds each sequence's bias to the score of its last token if the others are the last of `tokens`.
void apply_sequence_bias(Scores scores, TokenSpan tokens,
                         const std::vector<GenerationConfig::SequenceBias>& biases);
/// Excludes the last token of every word whose other tokens are the last of `tokens`. A word that is an end token
/// alone is ignored, as upstream does: the sequence could not end.
void forbid_words(Scores scores, TokenSpan tokens, const std::vector<TokenIds>& words,
                  TokenSpan ends);
/// Excludes `ids`.
void forbid(Scores scores, TokenSpan ids);
/// Gives `ids` the score 0 and excludes everything else.
void force(Scores scores, TokenSpan ids);
/// Replaces NaN by 0 and infinities by the largest finite numbers.
void remove_invalid_values(Scores scores);
/// Adds |score| · (factor^steps - 1) to the scores of `ids`.
void apply_length_decay(Scores scores, TokenSpan ids, double factor, std::size_t steps);
/// Whisper's rules for timestamp tokens, which are the ids from `first` up: the text begins with a timestamp, at most
/// `latest` after the first one; they come in pairs, except before the end token (`end`; ids below it are text); they
/// never decrease; and if together they are more probable than any other token, one of them is chosen. Of V tokens
/// `first` is one from 1 on, and `end` at most V.
struct TimeTokens {
  std::size_t first, end;
  std::optional<std::size_t> latest;
};
/// Applies these rules to the scores of the next token, after `written`.
void keep_times_in_order(Scores scores, TokenSpan written, const TimeTokens& times);
/// Replaces scores by log softmax(scores).
void normalize(Scores scores);

/// All processors requested by a config. Each sees the whole sequence, including prompt and padding, as upstream
/// does.
class LogitsProcessors {
 public:
  /// prompt_length is in tokens (of the decoder, for an encoder-decoder); max_length includes it.
  /// Throws invalid_argument for biased or forced tokens outside the vocabulary.
  LogitsProcessors(std::shared_ptr<const GenerationConfig> config, std::size_t prompt_length,
                   std::size_t max_length, std::size_t vocabulary);

  /// `encoder` is the sequence for the encoder_* options: the encoder's input, or a decoder-only
  /// model's prompt.
  void apply(Scores scores, TokenSpan tokens, TokenSpan encoder) const;
  /// Runs after all processors, including the caller's: temperature and the sampling filters.
  void finish(Scores scores) const;

 private:
  void limit_length(Scores scores, std::size_t length) const;
  void suppress(Scores scores, std::size_t length) const;

  std::shared_ptr<const GenerationConfig> config_;
  std::size_t prompt_length_, max_length_, begin_;
  std::size_t tokens_to_keep_;
};

}  // namespace clearformer
