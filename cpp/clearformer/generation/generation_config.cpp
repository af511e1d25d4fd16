#include "clearformer/generation/generation_config.h"

#include <algorithm>

#include "clearformer/generation/option_table.h"

namespace clearformer {

namespace {

using Config = GenerationConfig;
using namespace option_table;

// Options of upstream's generate() that change the result and are not implemented, with their neutral number (null
// and false are neutral as well).
struct Unsupported {
  std::string_view key;
  int neutral;
};
constexpr int kNoNumber = -1;
constexpr Unsupported kUnsupported[] = {
    {"num_beam_groups", 1},
    {"diversity_penalty", 0},
    {"penalty_alpha", 0},
    {"guidance_scale", 1},
    {"assistant_model", kNoNumber},
    {"assistant_early_exit", kNoNumber},
    {"prompt_lookup_num_tokens", kNoNumber},
    {"dola_layers", kNoNumber},
    {"constraints", kNoNumber},
    {"force_words_ids", kNoNumber},
    {"watermarking_config", kNoNumber},
    {"token_healing", kNoNumber},
    {"low_memory", kNoNumber},
    {"custom_generate", kNoNumber},
};

// Known options without effect on the result.
constexpr std::string_view kWithoutEffect[] = {"use_cache",         "return_dict_in_generate",
                                               "output_scores",     "output_logits",
                                               "output_attentions", "output_hidden_states"};

std::size_t whole_number(const ConfigReader& options, std::string_view key, const Json& value,
                         std::size_t least = 0) {
  const auto number = value.unsigned_integer();
  if (!number || *number < least || *number > kMostCount) {
    options.refuse_must(key, "be a whole number from ", least, " to ", kMostCount);
  }
  return static_cast<std::size_t>(*number);
}

// Whether the options say that nothing is sampled.
bool samples_nothing(const ConfigReader& options) {
  const Json* sampled = options.root().find("do_sample");
  return sampled != nullptr && sampled->is_bool() && !sampled->boolean();
}

double number_in(const ConfigReader& options, const Option& option) {
  const double value = options.number(option.key, option.range == Range::from_zero ? 0.0 : 1.0);
  const char* rule = broken(option, value);
  const bool has_effect = option.range < Range::temperature || !samples_nothing(options);
  if (rule != nullptr && has_effect) options.refuse_must(option.key, rule);
  return value;
}

// Puts numbers of sampling into their ranges where they have no effect.
void put_in_range(Config& config) {
  for (const Option& option : kOptions) {
    if (option.range < Range::temperature) continue;
    const bool optional = option.kind == Kind::optional_number;
    if (optional && !(config.*option.optional_number)) continue;
    double& held = optional ? *(config.*option.optional_number) : config.*option.number;
    if (broken(option, held) != nullptr) held = 1.0;
  }
}

// Sets an option; null sets it to what has no effect, as upstream's None does.
void read(Config& config, const Option& option, const ConfigReader& options, const Json& value) {
  const bool none = value.is_null();
  switch (option.kind) {
    case Kind::flag: config.*option.flag = options.flag(option.key, false); break;
    case Kind::count:
      config.*option.count =
          none ? option.minimum : whole_number(options, option.key, value, option.minimum);
      break;
    case Kind::limit:
      (config.*option.limit).reset();
      if (!none) config.*option.limit = whole_number(options, option.key, value);
      break;
    case Kind::number: config.*option.number = number_in(options, option); break;
    case Kind::optional_number:
      (config.*option.optional_number).reset();
      if (!none) config.*option.optional_number = number_in(options, option);
      break;
    case Kind::token: config.*option.token = options.token(option.key); break;
    case Kind::tokens: config.*option.tokens = options.tokens(option.key); break;
  }
}

// Reads a JSON list of ids; throws if it is not a list or is empty.
TokenIds token_list(const ConfigReader& options, std::string_view key, const Json& value) {
  TokenIds ids;
  if (value.is_array()) {
    for (const Json& entry : value.array()) {
      const auto id = entry.unsigned_integer();
      if (!id || *id > 0x7fffffff) options.refuse_must(key, "hold token ids");
      ids.push_back(static_cast<std::int32_t>(*id));
    }
  }
  if (ids.empty()) options.refuse_must(key, "hold lists of token ids, none of them empty");
  return ids;
}

const Json::Array& list_of(const ConfigReader& options, std::string_view key, const Json& value) {
  if (!value.is_array()) options.refuse_must(key, "be a list");
  return value.array();
}

// Reads the two members of a pair such as [1, 50359].
const Json::Array& pair_of(const ConfigReader& options, std::string_view key, const Json& value) {
  if (!value.is_array() || value.array().size() != 2) {
    options.refuse_must(key, "hold pairs, as Hugging Face has them");
  }
  return value.array();
}

using Read = void (*)(Config&, std::string_view, const ConfigReader&, const Json&);

void read_bad_words(Config& config, std::string_view key, const ConfigReader& options,
                    const Json& value) {
  config.bad_words_ids.clear();
  for (const Json& word : list_of(options, key, value)) {
    config.bad_words_ids.push_back(token_list(options, key, word));
  }
}

void read_bias(Config& config, std::string_view key, const ConfigReader& options,
               const Json& value) {
  config.sequence_bias.clear();
  for (const Json& entry : list_of(options, key, value)) {
    const Json::Array& pair = pair_of(options, key, entry);
    if (!pair[1].is_number()) options.refuse_must(key, "hold [[token ids], number]");
    TokenIds ids = token_list(options, key, pair[0]);
    std::erase_if(config.sequence_bias, [&](const auto& other) { return other.sequence == ids; });
    config.sequence_bias.push_back({std::move(ids), static_cast<float>(pair[1].number())});
  }
}

void read_forced(Config& config, std::string_view key, const ConfigReader& options,
                 const Json& value) {
  config.forced_decoder_ids.clear();
  for (const Json& entry : list_of(options, key, value)) {
    const Json::Array& pair = pair_of(options, key, entry);
    if (pair[1].is_null()) continue;  // chosen by the model, such as Whisper's language
    const std::size_t token = whole_number(options, key, pair[1]);
    config.forced_decoder_ids.push_back(
        {whole_number(options, key, pair[0]), static_cast<std::int32_t>(token)});
  }
}

void read_decay(Config& config, std::string_view key, const ConfigReader& options,
                const Json& value) {
  const Json::Array& pair = pair_of(options, key, value);
  if (!pair[1].is_number()) options.refuse_must(key, "be [start, factor]");
  config.exponential_decay_length_penalty = {whole_number(options, key, pair[0]), pair[1].number()};
}

void read_early_stopping(Config& config, std::string_view key, const ConfigReader& options,
                         const Json& value) {
  if (value.is_bool()) {
    config.early_stopping =
        value.boolean() ? EarlyStopping::at_num_beams : EarlyStopping::heuristic;
  } else if (value.is_string() && value.string() == "never") {
    config.early_stopping = EarlyStopping::never;
  } else {
    options.refuse_must(key, "be true, false or \"never\"");
  }
}

void read_stop_strings(Config& config, std::string_view key, const ConfigReader& options,
                       const Json& value) {
  config.stop_strings.clear();
  if (value.is_string()) {
    config.stop_strings.push_back(value.string());
    return;
  }
  for (const Json& text : list_of(options, key, value)) {
    if (!text.is_string()) options.refuse_must(key, "hold strings only");
    config.stop_strings.push_back(text.string());
  }
}

// An option that is not a plain number: how to set it and how to reset it.
struct Special {
  std::string_view key;
  Read read;
  void (*take_back)(Config&);
};
constexpr Special kSpecial[] = {
    {"bad_words_ids", read_bad_words, [](Config& config) { config.bad_words_ids.clear(); }},
    {"sequence_bias", read_bias, [](Config& config) { config.sequence_bias.clear(); }},
    {"forced_decoder_ids", read_forced, [](Config& config) { config.forced_decoder_ids.clear(); }},
    {"exponential_decay_length_penalty", read_decay,
     [](Config& config) { config.exponential_decay_length_penalty.reset(); }},
    {"early_stopping", read_early_stopping,
     [](Config& config) { config.early_stopping = EarlyStopping::heuristic; }},
    {"stop_strings", read_stop_strings, [](Config& config) { config.stop_strings.clear(); }},
};

template <class Table>
auto find(const Table& table, std::string_view key) -> decltype(&table[0]) {
  for (const auto& entry : table) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

void refuse(const Unsupported& option, const ConfigReader& options, const Json& value) {
  if (value.is_null() || (value.is_bool() && !value.boolean())) return;
  if (value.is_number() && option.neutral != kNoNumber && value.number() == option.neutral) return;
  options.refuse(ErrorCode::unsupported, option.key, "is not supported");
}

void read_seed(Config& config, const ConfigReader& options, const Json& value) {
  if (value.is_null()) return;
  if (!value.unsigned_integer()) options.refuse_must("seed", "be a whole number >= 0");
  config.seed = *value.unsigned_integer();
}

bool without_effect(std::string_view key) {
  for (const std::string_view name : kWithoutEffect) {
    if (name == key) return true;
  }
  return false;
}

}  // namespace

void GenerationConfig::update(const ConfigReader& options, Unknown unknown) {
  const bool from_caller = unknown != Unknown::ignore, refuses = unknown == Unknown::refuse;
  for (const auto& [key, value] : options.root().object()) {
    const bool unset = value.is_null();
    if (const Option* option = find(kOptions, key)) {
      if (!unset || from_caller) read(*this, *option, options, value);
    } else if (const Special* special = find(kSpecial, key)) {
      if (!unset) special->read(*this, key, options, value);
      if (unset && from_caller) special->take_back(*this);
    } else if (const Unsupported* other = find(kUnsupported, key)) {
      refuse(*other, options, value);
    } else if (from_caller && key == "seed") {
      read_seed(*this, options, value);
    } else if (refuses && !without_effect(key) && !unset) {
      options.refuse(ErrorCode::unsupported, key, "is no option of generate()");
    }
  }
  if (refuses && !do_sample) put_in_range(*this);
}

std::optional<std::int32_t> GenerationConfig::largest_token() const {
  std::int32_t largest = -1;
  const auto add = [&](const TokenIds& ids) {
    for (const std::int32_t id : ids) largest = std::max(largest, id);
  };
  for (const Option& option : kOptions) {
    if (option.kind == Kind::token && this->*option.token) add({*(this->*option.token)});
    if (option.kind == Kind::tokens) add(this->*option.tokens);
  }
  for (const TokenIds& word : bad_words_ids) add(word);
  for (const SequenceBias& entry : sequence_bias) add(entry.sequence);
  for (const ForcedToken& entry : forced_decoder_ids) add({entry.token});
  return largest < 0 ? std::nullopt : std::optional<std::int32_t>(largest);
}

GenerationConfig generation_config_of(const ModelConfig& model) {
  GenerationConfig config;
  config.eos_token_ids = model.eos_token_ids;
  config.pad_token_id = model.pad_token_id;
  config.bos_token_id = model.bos_token_id;
  config.decoder_start_token_id = model.decoder_start_token_id;
  return config;
}

}  // namespace clearformer
