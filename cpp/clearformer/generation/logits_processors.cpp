#include "clearformer/generation/logits_processors.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "clearformer/generation/sampler.h"
#include "clearformer/tensor/portable_math.h"

namespace clearformer {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Calls `change` with the score of each id within the vocabulary.
template <class Change>
void for_each_score(Scores scores, TokenSpan ids, Change change) {
  for (const std::int32_t id : ids) {
    if (static_cast<std::size_t>(id) < scores.size()) change(scores[static_cast<std::size_t>(id)]);
  }
}

void check_tokens(const char* option, TokenSpan ids, std::size_t vocabulary) {
  for (const std::int32_t id : ids) {
    if (static_cast<std::size_t>(id) >= vocabulary) {
      fail(ErrorCode::invalid_argument, "generate: ", option, " names token ", id,
           ", the vocabulary has ", vocabulary);
    }
  }
}

// Whether the sequence's last token would complete the sequence if it came next.
bool completes(TokenSpan sequence, TokenSpan tokens) {
  if (sequence.size() == 1) return true;
  if (sequence.size() - 1 >= tokens.size()) return false;  // empty, or upstream's off-by-one
  const TokenSpan last = tokens.last(sequence.size() - 1);
  return std::equal(last.begin(), last.end(), sequence.begin());
}

bool contains(TokenSpan ids, std::int32_t id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// ln Σ exp(score - top)
double log_sum(std::span<const float> scores, float top) {
  double sum = 0.0;
  for (const float score : scores) sum += portable_exp(static_cast<double>(score) - top);
  return portable_log(sum);
}

}  // namespace

void apply_repetition_penalty(Scores scores, TokenSpan seen, double penalty) {
  const float factor = static_cast<float>(penalty);
  std::vector<char> done(scores.size());
  for (const std::int32_t id : seen) {
    const auto index = static_cast<std::size_t>(id);
    if (index >= scores.size() || done[index] != 0) continue;
    done[index] = 1;
    scores[index] = scores[index] < 0.0f ? scores[index] * factor : scores[index] / factor;
  }
}

void forbid_repeated_ngrams(Scores scores, TokenSpan tokens, TokenSpan seen, std::size_t size) {
  if (size - 1 > tokens.size() || seen.size() < size) return;  // size 0 exceeds them, too
  const TokenSpan last = tokens.last(size - 1);
  for (std::size_t start = 0; start + size <= seen.size(); ++start) {
    if (std::equal(last.begin(), last.end(), seen.begin() + static_cast<std::ptrdiff_t>(start))) {
      forbid(scores, seen.subspan(start + size - 1, 1));
    }
  }
}

void apply_sequence_bias(Scores scores, TokenSpan tokens,
                         const std::vector<GenerationConfig::SequenceBias>& biases) {
  std::vector<float> sums(scores.size());
  for (const bool single : {true, false}) {  // upstream's order: float sums depend on it
    for (const auto& [sequence, bias] : biases) {
      if ((sequence.size() == 1) == single && completes(sequence, tokens)) {
        for_each_score(sums, TokenSpan(sequence).last(1),
                       [&bias = bias](float& sum) { sum += bias; });
      }
    }
  }
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] += sums[i];
}

void forbid_words(Scores scores, TokenSpan tokens, const std::vector<TokenIds>& words,
                  TokenSpan ends) {
  for (const TokenIds& word : words) {
    const bool end = word.size() == 1 && contains(ends, word[0]);
    if (!end && completes(word, tokens)) forbid(scores, TokenSpan(word).last(1));
  }
}

void forbid(Scores scores, TokenSpan ids) {
  for_each_score(scores, ids, [](float& score) { score = -kInfinity; });
}

void force(Scores scores, TokenSpan ids) {
  std::fill(scores.begin(), scores.end(), -kInfinity);
  for_each_score(scores, ids, [](float& score) { score = 0.0f; });
}

void remove_invalid_values(Scores scores) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  for (float& score : scores) {
    score = std::isnan(score) ? 0.0f : std::clamp(score, -kLargest, kLargest);
  }
}

void apply_length_decay(Scores scores, TokenSpan ids, double factor, std::size_t steps) {
  double power = 1.0;
  for (std::size_t step = 0; step < steps; ++step) power *= factor;
  for_each_score(scores, ids, [&](float& score) {
    // Excluded tokens stay excluded; the formula would give NaN.
    if (score != -kInfinity) score += std::fabs(score) * static_cast<float>(power - 1.0);
  });
}

void keep_times_in_order(Scores scores, TokenSpan written, const TimeTokens& tokens) {
  const Scores text = scores.first(tokens.first), times = scores.subspan(tokens.first);
  const auto rule_out = [](Scores part) { std::fill(part.begin(), part.end(), -kInfinity); };
  const auto is_time = [&](std::int32_t id) {
    return static_cast<std::size_t>(id) >= tokens.first;
  };
  text.back() = -kInfinity;  // "no timestamps"
  if (written.empty()) {
    rule_out(text);
    if (tokens.latest) rule_out(times.subspan(std::min(*tokens.latest + 1, times.size())));
  } else {
    const bool last = is_time(written.back());
    const bool pair = written.size() < 2 || is_time(written[written.size() - 2]);
    if (last) rule_out(pair ? times : scores.first(tokens.end));
    const auto latest = std::find_if(written.rbegin(), written.rend(), is_time);
    if (latest != written.rend()) {
      const std::size_t past = static_cast<std::size_t>(*latest) - tokens.first;
      rule_out(times.first(past + (last && !pair ? 0 : 1)));
    }
  }
  const float top = top_score(times);
  if (top + log_sum(times, top) > top_score(text)) rule_out(text);
}

void normalize(Scores scores) {
  const float top = top_score(scores);
  const double log_total = log_sum(scores, top);
  for (float& score : scores) {
    score = static_cast<float>(static_cast<double>(score) - top - log_total);
  }
}

LogitsProcessors::LogitsProcessors(std::shared_ptr<const GenerationConfig> config,
                                   std::size_t prompt_length, std::size_t max_length,
                                   std::size_t vocabulary)
    : config_(std::move(config)),
      prompt_length_(prompt_length),
      max_length_(max_length),
      // A forced first token precedes the position where begin_suppress_tokens applies.
      begin_(prompt_length + (prompt_length == 1 && config_->forced_bos_token_id ? 1 : 0)),
      // Beam search needs a token that does not end, even if all end tokens are kept.
      tokens_to_keep_(config_->num_beams == 1
                          ? 1
                          : std::max<std::size_t>(2, config_->eos_token_ids.size() + 1)) {
  for (const TokenIds& word : config_->bad_words_ids) {
    check_tokens("bad_words_ids", word, vocabulary);
  }
  for (const auto& [sequence, bias] : config_->sequence_bias) {
    check_tokens("sequence_bias", sequence, vocabulary);
  }
  if (const auto& bos = config_->forced_bos_token_id) {
    check_tokens("forced_bos_token_id", {&*bos, 1}, vocabulary);
  }
  check_tokens("forced_eos_token_id", config_->forced_eos_token_id, vocabulary);
  for (const auto& [position, token] : config_->forced_decoder_ids) {
    check_tokens("forced_decoder_ids", {&token, 1}, vocabulary);
    begin_ = std::max(begin_, position + 1);
  }
  if (config_->return_timestamps) {
    const std::int32_t none = *config_->no_timestamps_token_id;
    check_tokens("no_timestamps_token_id", {&none, 1}, vocabulary);
    const std::int32_t first = none + 1;  // at least one timestamp
    check_tokens("no_timestamps_token_id", {&first, 1}, vocabulary);
    check_tokens("eos_token_id", config_->eos_token_ids, vocabulary);
  }
}

void LogitsProcessors::limit_length(Scores scores, std::size_t length) const {
  const auto& least_new = config_->min_new_tokens;
  const std::size_t least = least_new ? prompt_length_ + *least_new : config_->min_length;
  if (length < least) forbid(scores, config_->eos_token_ids);
  if (config_->forced_bos_token_id && length == 1) {
    force(scores, {&*config_->forced_bos_token_id, 1});
  }
  if (!config_->forced_eos_token_id.empty() && length == max_length_ - 1) {
    force(scores, config_->forced_eos_token_id);
  }
}

void LogitsProcessors::suppress(Scores scores, std::size_t length) const {
  forbid(scores, config_->suppress_tokens);
  if (length == begin_) forbid(scores, config_->begin_suppress_tokens);
  for (const auto& [position, token] : config_->forced_decoder_ids) {
    if (position == length) force(scores, {&token, 1});
  }
}

void LogitsProcessors::apply(Scores scores, TokenSpan tokens, TokenSpan encoder) const {
  const GenerationConfig& config = *config_;
  if (!config.sequence_bias.empty()) apply_sequence_bias(scores, tokens, config.sequence_bias);
  if (config.encoder_repetition_penalty != 1.0) {
    apply_repetition_penalty(scores, encoder, 1.0 / config.encoder_repetition_penalty);
  }
  if (config.repetition_penalty != 1.0) {
    apply_repetition_penalty(scores, tokens, config.repetition_penalty);
  }
  if (config.no_repeat_ngram_size != 0) {
    forbid_repeated_ngrams(scores, tokens, tokens, config.no_repeat_ngram_size);
  }
  if (config.encoder_no_repeat_ngram_size != 0) {
    forbid_repeated_ngrams(scores, tokens, encoder, config.encoder_no_repeat_ngram_size);
  }
  forbid_words(scores, tokens, config.bad_words_ids, config.eos_token_ids);
  limit_length(scores, tokens.size());
  if (config.remove_invalid_values) remove_invalid_values(scores);
  if (const auto& decay = config.exponential_decay_length_penalty) {
    const std::size_t start = prompt_length_ + decay->start;
    if (tokens.size() > start) {
      apply_length_decay(scores, config.eos_token_ids, decay->factor, tokens.size() - start);
    }
  }
  suppress(scores, tokens.size());
  if (config.return_timestamps && tokens.size() >= begin_) {
    keep_times_in_order(scores, tokens.subspan(begin_),
                        {static_cast<std::size_t>(*config.no_timestamps_token_id) + 1,
                         static_cast<std::size_t>(config.eos_token_ids.front()),
                         config.max_initial_timestamp_index});
  }
}

void LogitsProcessors::finish(Scores scores) const {
  if (config_->do_sample) narrow(scores, *config_, tokens_to_keep_);
  if (config_->renormalize_logits) normalize(scores);
}

}  // namespace clearformer
