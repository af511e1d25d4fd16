#include "clearformer/models/generation_config.h"

#include <algorithm>

namespace clearformer {

namespace {

constexpr std::string_view kTaken[] = {
    "max_new_tokens", "max_length", "min_new_tokens", "do_sample",    "temperature",
    "top_k",          "top_p",      "seed",           "eos_token_id", "pad_token_id"};

// Scores divided by less would overflow. A hair under 1e-30, which JSON may be read as.
constexpr double kMinTemperature = 0.999e-30;

// Options of upstream's generate() that change the result, with the value that does not.
struct Neutral {
  std::string_view key;
  double value;
};
constexpr Neutral kNeutral[] = {
    {"num_beams", 1},
    {"num_beam_groups", 1},
    {"num_return_sequences", 1},
    {"repetition_penalty", 1},
    {"length_penalty", 1},
    {"no_repeat_ngram_size", 0},
    {"typical_p", 1},
    {"epsilon_cutoff", 0},
    {"eta_cutoff", 0},
    {"min_p", 0},
    {"penalty_alpha", 0},
    {"diversity_penalty", 0},
    {"min_length", 0},
    {"encoder_no_repeat_ngram_size", 0},
    {"encoder_repetition_penalty", 1},
};
constexpr std::string_view kUnsupported[] = {"bad_words_ids",
                                             "force_words_ids",
                                             "forced_bos_token_id",
                                             "forced_eos_token_id",
                                             "suppress_tokens",
                                             "begin_suppress_tokens",
                                             "guidance_scale",
                                             "assistant_model",
                                             "prompt_lookup_num_tokens",
                                             "constraints",
                                             "stop_strings",
                                             "sequence_bias",
                                             "max_time",
                                             "watermarking_config",
                                             "exponential_decay_length_penalty"};

// Known, and without effect on the numbers.
constexpr std::string_view kWithoutEffect[] = {
    "bos_token_id",      "use_cache",     "early_stopping",    "return_dict_in_generate",
    "output_scores",     "output_logits", "output_attentions", "output_hidden_states",
    "renormalize_logits"};

template <class Range>
bool contains(const Range& range, std::string_view key) {
  return std::find(std::begin(range), std::end(range), key) != std::end(range);
}

void check_key(const ConfigReader& options, const std::string& key, const Json& value,
               GenerationConfig::Unknown unknown) {
  if (contains(kTaken, key) || contains(kWithoutEffect, key) || value.is_null()) return;
  for (const Neutral& neutral : kNeutral) {
    if (neutral.key != key) continue;
    if (value.is_number() && value.number() == neutral.value) return;
    options.refuse(ErrorCode::unsupported, key, "is not supported yet, other than ",
                   static_cast<int>(neutral.value));
  }
  if (contains(kUnsupported, key)) {
    options.refuse(ErrorCode::unsupported, key, "is not supported");
  }
  if (unknown == GenerationConfig::Unknown::refuse) {
    options.refuse(ErrorCode::unsupported, key, "is no option of generate()");
  }
}

std::size_t count(const ConfigReader& options, std::string_view key, std::size_t fallback) {
  const Json* value = options.root().find_set(key);
  if (value == nullptr) return fallback;
  const auto number = value->unsigned_integer();
  if (!number || *number > 0x7fffffff) {
    options.refuse_value(key, "must be a whole number >= 0");
  }
  return static_cast<std::size_t>(*number);
}

}  // namespace

void GenerationConfig::update(const ConfigReader& options, Unknown unknown) {
  for (const auto& [key, value] : options.root().object()) check_key(options, key, value, unknown);
  const Json& root = options.root();
  if (root.find_set("max_new_tokens")) max_new_tokens = count(options, "max_new_tokens", 0);
  max_length = count(options, "max_length", max_length);
  min_new_tokens = count(options, "min_new_tokens", min_new_tokens);
  do_sample = options.flag("do_sample", do_sample);
  temperature = options.number("temperature", temperature);
  top_k = count(options, "top_k", top_k);
  top_p = options.number("top_p", top_p);
  if (const Json* value = root.find_set("seed")) {
    if (!value->unsigned_integer()) {
      options.refuse_value("seed", "must be a whole number >= 0");
    }
    seed = *value->unsigned_integer();
  }
  if (root.find_set("eos_token_id")) eos_token_ids = options.tokens("eos_token_id");
  if (root.find_set("pad_token_id")) pad_token_id = options.token("pad_token_id");
  if (!(static_cast<float>(temperature) >= kMinTemperature)) {
    options.refuse_value(
        "temperature",
        "must be > 0 (1e-30 at the least); for the most probable token use do_sample: false");
  }
  if (!(top_p > 0.0 && top_p <= 1.0)) {
    options.refuse_value("top_p", "must be in (0, 1]");
  }
}

}  // namespace clearformer
