// ConfigReader: typed look-ups in a config.json; every error names the file, the key and the rule.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clearformer/weights/json.h"

namespace clearformer {

/// The members of a JSON object, each validated as it is read.
class ConfigReader {
 public:
  /// Parses the text; throws `code` if it is not a JSON object, and for every invalid value later: malformed_config
  /// for a file, invalid_argument for a caller's options.
  ConfigReader(std::string_view text, std::string file,
               ErrorCode code = ErrorCode::malformed_config);
  /// A reader of the same file and code over `members`, all the keys it declares: looking up any other key is a
  /// programming error.
  ConfigReader with_members(Json::Object members) const;
  /// A reader over all members but one.
  ConfigReader without(std::string_view key) const;
  /// A reader over `members`, reported as nested under `key`.
  ConfigReader nested(std::string_view key, Json::Object members) const {
    return ConfigReader(Json(std::move(members)), concat(file_, ": \"", key, "\""), code_);
  }

  const std::string& file() const { return file_; }
  const Json& root() const { return root_; }
  /// The error code for invalid values.
  ErrorCode code() const { return code_; }

  /// Whether the key is present, even if null.
  bool knows(std::string_view key) const { return root_.find(key) != nullptr; }
  /// Whether the key is present and not null.
  bool is_set(std::string_view key) const { return find_set(key) != nullptr; }
  /// The key's value; nullptr if it is absent or null.
  const Json* find_set(std::string_view key) const;
  /// An integer from 1 to 2^31 - 1.
  std::size_t size(std::string_view key) const;
  std::size_t size(std::string_view key, std::size_t fallback) const;
  /// a · b, sizes below 2^32: layers multiply them. Refused under `key` beyond what size() allows.
  std::size_t product(std::string_view key, std::uint64_t a, std::uint64_t b) const;
  /// A non-negative integer.
  std::size_t count(std::string_view key, std::size_t fallback) const;
  double number(std::string_view key) const;
  /// A number from `least` to `most`.
  double number_in(std::string_view key, double least, double most) const;
  double number(std::string_view key, double fallback) const;
  /// A boolean; `fallback` if absent or null.
  bool flag(std::string_view key, bool fallback = false) const;
  std::string text(std::string_view key) const;
  std::string text(std::string_view key, std::string fallback) const;
  /// A list of strings; empty when the key is absent or null.
  std::vector<std::string> texts(std::string_view key) const;
  /// A list of numbers.
  std::vector<double> numbers(std::string_view key) const;
  /// A token id; nullopt if the key is absent or null. In a file a negative pad_token_id, which early Llamas have, is
  /// none: transformers warns of it.
  std::optional<std::int32_t> token(std::string_view key) const;
  /// A row of a table of `rows`, negative: from the end, as torch's padding_idx; nullopt if the value is none of them, or
  /// the key absent.
  std::optional<std::int32_t> row(std::string_view key, std::size_t rows) const;
  /// One id or a list of ids; empty if the key is absent or null.
  std::vector<std::int32_t> tokens(std::string_view key) const;
  /// A reader of the object under `key`; nullopt if it is absent or null.
  std::optional<ConfigReader> object(std::string_view key) const;

  /// Throws the reader's code; the message starts with the file and the key.
  template <class... Parts>
  [[noreturn]] void refuse_value(std::string_view key, const Parts&... rule) const {
    refuse(code_, key, rule...);
  }
  /// The same for a value that violates `rule`; the message ends with the value.
  template <class... Parts>
  [[noreturn]] void refuse_must(std::string_view key, const Parts&... rule) const {
    refuse_rule(key, {Text(rule)...});
  }
  /// Throws `code`; the message starts with the file and the key.
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
  bool closed_ = false;  // other keys are undeclared
};

}  // namespace clearformer
