// The options of generate() that are flags, numbers and tokens, with their ranges: read from JSON by generation_config.cpp,
// checked by generation_checks.cpp.
#pragma once

#include <cmath>

#include "clearformer/generation/generation_config.h"

namespace clearformer::option_table {

/// What an option is.
enum class Kind { flag, count, limit, number, optional_number, token, tokens };
/// The range of a number. From `temperature` on they are of options that have an effect on samples only.
enum class Range { any, positive, temperature, from_zero, fraction };

/// An option: its key and the member it sets.
struct Option {
  constexpr Option(std::string_view name, bool GenerationConfig::* to)
      : key(name), kind(Kind::flag), flag(to) {}
  constexpr Option(std::string_view name, std::size_t GenerationConfig::* to, std::size_t least = 0)
      : key(name), kind(Kind::count), minimum(least), count(to) {}
  constexpr Option(std::string_view name, std::optional<std::size_t> GenerationConfig::* to)
      : key(name), kind(Kind::limit), limit(to) {}
  constexpr Option(std::string_view name, double GenerationConfig::* to, Range allowed)
      : key(name), kind(Kind::number), range(allowed), number(to) {}
  constexpr Option(std::string_view name, std::optional<double> GenerationConfig::* to,
                   Range allowed)
      : key(name), kind(Kind::optional_number), range(allowed), optional_number(to) {}
  constexpr Option(std::string_view name, std::optional<std::int32_t> GenerationConfig::* to)
      : key(name), kind(Kind::token), token(to) {}
  constexpr Option(std::string_view name, TokenIds GenerationConfig::* to)
      : key(name), kind(Kind::tokens), tokens(to) {}

  std::string_view key;
  Kind kind;
  Range range = Range::any;
  std::size_t minimum = 0;
  union {
    bool GenerationConfig::* flag;
    std::size_t GenerationConfig::* count;
    std::optional<std::size_t> GenerationConfig::* limit;
    double GenerationConfig::* number;
    std::optional<double> GenerationConfig::* optional_number;
    std::optional<std::int32_t> GenerationConfig::* token;
    TokenIds GenerationConfig::* tokens;
  };
};

/// All of them.
inline constexpr Option kOptions[] = {
    {"max_new_tokens", &GenerationConfig::max_new_tokens},
    {"max_length", &GenerationConfig::max_length},
    {"min_length", &GenerationConfig::min_length},
    {"min_new_tokens", &GenerationConfig::min_new_tokens},
    {"max_time", &GenerationConfig::max_time, Range::any},
    {"do_sample", &GenerationConfig::do_sample},
    {"num_beams", &GenerationConfig::num_beams, 1},
    {"num_return_sequences", &GenerationConfig::num_return_sequences, 1},
    {"length_penalty", &GenerationConfig::length_penalty, Range::any},
    {"repetition_penalty", &GenerationConfig::repetition_penalty, Range::positive},
    {"encoder_repetition_penalty", &GenerationConfig::encoder_repetition_penalty, Range::positive},
    {"no_repeat_ngram_size", &GenerationConfig::no_repeat_ngram_size},
    {"encoder_no_repeat_ngram_size", &GenerationConfig::encoder_no_repeat_ngram_size},
    {"forced_bos_token_id", &GenerationConfig::forced_bos_token_id},
    {"forced_eos_token_id", &GenerationConfig::forced_eos_token_id},
    {"suppress_tokens", &GenerationConfig::suppress_tokens},
    {"begin_suppress_tokens", &GenerationConfig::begin_suppress_tokens},
    {"remove_invalid_values", &GenerationConfig::remove_invalid_values},
    {"renormalize_logits", &GenerationConfig::renormalize_logits},
    {"return_timestamps", &GenerationConfig::return_timestamps},
    {"no_timestamps_token_id", &GenerationConfig::no_timestamps_token_id},
    {"max_initial_timestamp_index", &GenerationConfig::max_initial_timestamp_index},
    {"temperature", &GenerationConfig::temperature, Range::temperature},
    {"top_k", &GenerationConfig::top_k},
    {"top_p", &GenerationConfig::top_p, Range::fraction},
    {"min_p", &GenerationConfig::min_p, Range::from_zero},
    {"typical_p", &GenerationConfig::typical_p, Range::fraction},
    {"top_h", &GenerationConfig::top_h, Range::fraction},
    {"epsilon_cutoff", &GenerationConfig::epsilon_cutoff, Range::from_zero},
    {"eta_cutoff", &GenerationConfig::eta_cutoff, Range::from_zero},
    {"eos_token_id", &GenerationConfig::eos_token_ids},
    {"pad_token_id", &GenerationConfig::pad_token_id},
    {"bos_token_id", &GenerationConfig::bos_token_id},
    {"decoder_start_token_id", &GenerationConfig::decoder_start_token_id},
};

/// The largest count.
inline constexpr std::size_t kMostCount = 0x7fffffff;

/// The rule of the option's range that a number breaks; null: none.
inline const char* broken(const Option& option, double value) {
  // Scores multiplied or divided by more would overflow. The bounds allow for rounding in the JSON number.
  const bool sane = value >= 0.999e-30 && value <= 1.001e30;
  if (option.range == Range::positive && !sane) return "be > 0 (from 1e-30 to 1e30)";
  if (option.range == Range::temperature && !sane) {
    return "be > 0 (from 1e-30 to 1e30; for the most probable token use do_sample: false)";
  }
  if (option.range == Range::fraction && !(value > 0.0 && value <= 1.0)) return "be in (0, 1]";
  if (option.range == Range::from_zero && !(value >= 0.0 && value <= 1.0)) return "be in [0, 1]";
  return std::isnan(value) ? "be a number" : nullptr;
}

}  // namespace clearformer::option_table
