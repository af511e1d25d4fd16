#include <cmath>

#include "clearformer/generation/option_table.h"

namespace clearformer {

namespace {

using namespace option_table;

[[noreturn]] void refuse(std::string_view key, std::string_view rule, Text value) {
  fail(ErrorCode::invalid_argument, "generate: \"", key, "\" must ", rule, ", it is ", value);
}

void check_count(std::string_view key, std::size_t value, std::size_t least = 0) {
  if (value >= least && value <= kMostCount) return;
  refuse(key, concat("be a whole number from ", least, " to ", kMostCount), value);
}

void check_number(const Option& option, double value) {
  if (const char* rule = broken(option, value)) refuse(option.key, rule, value);
}

void check_token(std::string_view key, std::int32_t id) {
  if (id < 0) refuse(key, "hold token ids", id);
}

void check_tokens(std::string_view key, const TokenIds& ids) {
  for (const std::int32_t id : ids) check_token(key, id);
}

void check_sequence(std::string_view key, const TokenIds& ids) {
  if (ids.empty()) refuse(key, "hold lists of token ids", "an empty one");
  check_tokens(key, ids);
}

// What update() checks as it reads, of a config that was filled in otherwise.
void check_option(const GenerationConfig& config, const Option& option) {
  switch (option.kind) {
    case Kind::flag: break;
    case Kind::count: check_count(option.key, config.*option.count, option.minimum); break;
    case Kind::limit: check_count(option.key, (config.*option.limit).value_or(0)); break;
    case Kind::number: check_number(option, config.*option.number); break;
    case Kind::optional_number:
      check_number(option, (config.*option.optional_number).value_or(1.0));
      break;
    case Kind::token: check_token(option.key, (config.*option.token).value_or(0)); break;
    case Kind::tokens: check_tokens(option.key, config.*option.tokens);
  }
}

void check_lists(const GenerationConfig& config) {
  for (const TokenIds& word : config.bad_words_ids) check_sequence("bad_words_ids", word);
  for (const GenerationConfig::SequenceBias& entry : config.sequence_bias) {
    check_sequence("sequence_bias", entry.sequence);
    if (std::isnan(entry.bias)) refuse("sequence_bias", "be a number", entry.bias);
  }
  for (const GenerationConfig::ForcedToken& entry : config.forced_decoder_ids) {
    check_count("forced_decoder_ids", entry.position);
    check_token("forced_decoder_ids", entry.token);
  }
  if (const auto& decay = config.exponential_decay_length_penalty) {
    constexpr std::string_view kKey = "exponential_decay_length_penalty";
    check_count(kKey, decay->start);
    if (std::isnan(decay->factor)) refuse(kKey, "be a number", decay->factor);
  }
}

}  // namespace

void GenerationConfig::check() const {
  for (const Option& option : kOptions) check_option(*this, option);
  check_lists(*this);
  if (num_beams > 1 && num_return_sequences > num_beams) {
    fail(ErrorCode::invalid_argument, "generate: num_return_sequences (", num_return_sequences,
         ") must be at most num_beams (", num_beams, ")");
  }
  if (num_beams == 1 && !do_sample && num_return_sequences > 1) {
    fail(ErrorCode::invalid_argument, "generate: num_return_sequences of ", num_return_sequences,
         " needs num_beams or do_sample, one greedy continuation is like the other");
  }
  if (return_timestamps && (!no_timestamps_token_id || eos_token_ids.empty())) {
    fail(ErrorCode::invalid_argument,
         "generate: return_timestamps needs no_timestamps_token_id and eos_token_id, which a "
         "Whisper's generation_config.json names");
  }
  if (!stop_strings.empty()) {
    fail(ErrorCode::unsupported,
         "generate: \"stop_strings\" needs a tokenizer, which the model does not have");
  }
}

}  // namespace clearformer
