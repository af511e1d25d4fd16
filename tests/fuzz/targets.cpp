#include "targets.h"

#include <set>

#include "clearformer/architectures/known.h"
#include "clearformer/weights/json.h"

namespace clearformer::fuzz {

namespace {

void add_keys(std::string_view table, std::set<std::string>& words) {
  const Json members = Json::parse(concat("{", table, "}"), "table", ErrorCode::malformed_file);
  for (const auto& [key, value] : members.object()) {
    words.insert(concat("\"", key, "\""));
    if (value.is_string()) words.insert(concat("\"", value.string(), "\""));
  }
}

void add_keys(const KeyTable& table, std::set<std::string>& words) {
  for (const std::string_view group : {table.fields, table.shared_fields, table.others,
                                       table.since_5_2, table.neutral, table.other_names}) {
    add_keys(group, words);
  }
}

// Collects quoted strings: keys and values alike.
void add_quoted(std::string_view text, std::set<std::string>& words) {
  constexpr std::size_t kLongest = 64;
  for (std::size_t at = text.find('"'); at != text.npos; at = text.find('"', at)) {
    const std::size_t end = text.find('"', at + 1);
    if (end == text.npos) return;
    if (end - at < kLongest) words.insert(std::string(text.substr(at, end + 1 - at)));
    at = end + 1;
  }
}

}  // namespace

const Target* find_target(std::string_view name) {
  for (const Target& target : kTargets) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

std::vector<std::string> dictionary(const Target& target) {
  std::set<std::string> words = {
      "null",  "true", "[]", "{}", "2147483647", "4294967296", "18446744073709551615",
      "1e308", "-1",   "0.5"};
  for (const std::string& seed : target.seeds()) add_quoted(seed, words);
  const bool has_config = target.run == run_config || target.run == run_model;
  for (const Architecture* architecture : kKnown) {
    if (has_config) add_keys(architecture->keys, words);
  }
  return {words.begin(), words.end()};
}

const std::vector<std::string>& tiny_folders() {
  static const std::vector<std::string> all = {"bert/even_masked_lm",
                                               "roberta/odd_base",
                                               "distilbert/even_base",
                                               "modernbert/even_base",
                                               "gpt2/odd",
                                               "gpt_neo/even",
                                               "mistral/even",
                                               "qwen2/even",
                                               "qwen3/even",
                                               "phi/odd",
                                               "phi3/even",
                                               "gemma2/odd",
                                               "olmo2/even",
                                               "granitemoe/odd",
                                               "olmoe/even",
                                               "qwen3_moe/odd",
                                               "mixtral/even",
                                               "lfm2/odd",
                                               "opt/odd",
                                               "gemma3_text/even",
                                               "nn_transformer/odd",
                                               "marian/odd",
                                               "bart/odd",
                                               "t5/even",
                                               "t5/odd",
                                               "whisper/even",
                                               "vit/odd_base",
                                               "deit/even_image_classification",
                                               "clip/even"};
  return all;
}

}  // namespace clearformer::fuzz
