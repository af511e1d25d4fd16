// Logits processors: which tokens may follow, and how much a token's score is changed, before one is
// chosen. Hugging Face's processors of the same names, in the order of its generate().
// Shapes: V vocabulary; the scores (V) are those of one sequence's next token.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "clearformer/generation/generation_config.h"

namespace clearformer {

/// One score for each token of the vocabulary.
using Scores = std::span<float>;
/// Tokens that somebody else holds.
using TokenSpan = std::span<const std::int32_t>;

/// Scores of the tokens in `seen`: above 0 divided by the penalty, below 0 multiplied by it.
/// repetition_penalty; encoder_repetition_penalty is its inverse over the encoder's tokens.
void apply_repetition_penalty(Scores scores, TokenSpan seen, double penalty);
/// Rules out every token that would complete a run of `size` tokens that stands in `seen`;
/// `tokens` is what it would follow. no_repeat_ngram_size: seen = tokens.
void forbid_repeated_ngrams(Scores scores, TokenSpan tokens, TokenSpan seen, std::size_t size);
/// Adds each sequence's bias to its last token where the tokens before it are the last ones here.
void apply_sequence_bias(Scores scores, TokenSpan tokens,
                         const std::vector<GenerationConfig::SequenceBias>& biases);
/// Rules out the last token of every word that the tokens before it would complete. An end token alone
/// is no bad word, as upstream has it: the sequence could not end.
void forbid_words(Scores scores, TokenSpan tokens, const std::vector<TokenIds>& words,
                  TokenSpan ends);
/// Rules out `ids`.
void forbid(Scores scores, TokenSpan ids);
/// Gives `ids` the score 0 and rules out everything else.
void force(Scores scores, TokenSpan ids);
/// NaN becomes 0, infinities the largest finite numbers.
void remove_invalid_values(Scores scores);
/// Adds |score| · (factor^steps - 1) to the scores of `ids`.
void apply_length_decay(Scores scores, TokenSpan ids, double factor, std::size_t steps);
/// Whisper's order of time tokens, which are those from `first` up: `written` begins with one, at most
/// `latest` behind the first one; they come in pairs, but before the end (`end`; ids below are text); none is before the
/// last one; and where together they are likelier than any other token, one of them comes.
struct TimeTokens {
  std::size_t first, end;
  std::optional<std::size_t> latest;
};
void keep_times_in_order(Scores scores, TokenSpan written, const TimeTokens& times);
/// scores -> log softmax(scores).
void normalize(Scores scores);

/// All processors that a config asks for. The tokens a processor looks at are the whole sequence,
/// prompt and padding included, as upstream has it.
class LogitsProcessors {
 public:
  /// prompt_length in tokens, of an encoder-decoder that of the decoder's; max_length counts it.
  /// Throws invalid_argument for biased or forced tokens that the vocabulary does not have.
  LogitsProcessors(std::shared_ptr<const GenerationConfig> config, std::size_t prompt_length,
                   std::size_t max_length, std::size_t vocabulary);

  /// `encoder` is what the encoder_* options look at: the encoder's input, or a decoder-only
  /// model's prompt.
  void apply(Scores scores, TokenSpan tokens, TokenSpan encoder) const;
  /// What comes after all processors, the caller's own among them: what a draw may choose.
  void finish(Scores scores) const;

 private:
  void limit_length(Scores scores, std::size_t length) const;
  void suppress(Scores scores, std::size_t length) const;

  std::shared_ptr<const GenerationConfig> config_;
  std::size_t prompt_length_, max_length_, begin_;
  std::size_t tokens_to_keep_;
};

}  // namespace clearformer
