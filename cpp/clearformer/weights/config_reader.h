// ConfigReader: typed look-ups in a config.json; every refusal names the file, the key and the rule.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clearformer/weights/json.h"

namespace clearformer {

/// The values of a JSON object, each checked as it is read.
class ConfigReader {
 public:
  /// Parses the text; throws `code` when it is not a JSON object, as for every wrong value later:
  /// malformed_config for a file, invalid_argument for what a caller wrote.
  ConfigReader(std::string_view text, std::string file,
               ErrorCode code = ErrorCode::malformed_config);
  /// A reader of the same file and code over `members`, which are all the keys it knows: looking
  /// up another one is an error of the program.
  ConfigReader with_members(Json::Object members) const;
  /// A reader over all but one member.
  ConfigReader without(std::string_view key) const;
  /// A reader over `members` as if they stood under `key`.
  ConfigReader nested(std::string_view key, Json::Object members) const {
    return ConfigReader(Json(std::move(members)), concat(file_, ": \"", key, "\""), code_);
  }

  const std::string& file() const { return file_; }
  const Json& root() const { return root_; }
  /// The code of every refusal.
  ErrorCode code() const { return code_; }

  /// Whether the key is there, if only as null.
  bool knows(std::string_view key) const { return root_.find(key) != nullptr; }
  /// Whether the key is there and not null.
  bool is_set(std::string_view key) const { return find_set(key) != nullptr; }
  /// Its value; null where it is absent or null.
  const Json* find_set(std::string_view key) const;
  /// A whole number from 1 to 2^31 - 1.
  std::size_t size(std::string_view key) const;
  std::size_t size(std::string_view key, std::size_t fallback) const;
  /// A whole number from 0 on.
  std::size_t count(std::string_view key, std::size_t fallback) const;
  double number(std::string_view key) const;
  /// A number from `least` to `most`.
  double number_in(std::string_view key, double least, double most) const;
  double number(std::string_view key, double fallback) const;
  /// Null and absence count as false, or as the fallback.
  bool flag(std::string_view key, bool fallback = false) const;
  std::string text(std::string_view key) const;
  std::string text(std::string_view key, std::string fallback) const;
  /// A list of strings; empty when the key is absent or null.
  std::vector<std::string> texts(std::string_view key) const;
  /// A list of numbers.
  std::vector<double> numbers(std::string_view key) const;
  /// A token id, if the key is there and not null.
  std::optional<std::int32_t> token(std::string_view key) const;
  /// One id or a list of ids; empty when the key is absent or null.
  std::vector<std::int32_t> tokens(std::string_view key) const;
  /// The object under `key`, as a reader of its own; nothing when absent or null.
  std::optional<ConfigReader> object(std::string_view key) const;

  /// Throws the reader's code with the file and the key in front.
  template <class... Parts>
  [[noreturn]] void refuse_value(std::string_view key, const Parts&... rule) const {
    refuse(code_, key, rule...);
  }
  /// The same of a value that must be something else: the value stands at the end.
  template <class... Parts>
  [[noreturn]] void refuse_must(std::string_view key, const Parts&... rule) const {
    refuse_rule(key, {Text(rule)...});
  }
  /// Throws `code` with the file and the key in front.
  template <class... Parts>
  [[noreturn]] void refuse(ErrorCode code, std::string_view key, const Parts&... rule) const {
    fail(code, file_, ": \"", key, "\" ", rule...);
  }

 private:
  ConfigReader(Json root, std::string file, ErrorCode code)
      : root_(std::move(root)), file_(std::move(file)), code_(code) {}
  const Json& required(std::string_view key) const;
  [[noreturn]] void refuse_rule(std::string_view key, std::initializer_list<Text> rule) const;

  Json root_;
  std::string file_;
  ErrorCode code_;
  bool closed_ = false;  // knows no other keys
};

}  // namespace clearformer
