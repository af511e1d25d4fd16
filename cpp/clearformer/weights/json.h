// Json: a parsed JSON document with lookups whose errors name the document and the key.
// Uses RapidJSON's streaming parser: strict UTF-8, duplicate keys rejected, bounded nesting depth.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "clearformer/tensor/error.h"

namespace clearformer {

/// A parsed JSON value; integers stay integers.
class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;
  using Value = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string,
                             Array, Object>;

  Json() = default;
  explicit Json(Value value) : value_(std::move(value)) {}
  Json(Json&&) = default;
  Json& operator=(Json&&) = default;
  // Each alternative is copied separately, then moved: when an allocation fails while a variant is copied, libstdc++ 12
  // reads its uninitialised index.
  Json(const Json& other) {
    std::visit([this](auto value) { value_ = std::move(value); }, other.value_);
  }
  Json& operator=(const Json& other) { return *this = Json(other); }

  /// Parses `text`; throws an Error of `code` whose message starts with `document`.
  static Json parse(std::string_view text, std::string_view document, ErrorCode code);

  bool is_null() const { return holds<std::nullptr_t>(); }
  bool is_bool() const { return holds<bool>(); }
  bool is_string() const { return holds<std::string>(); }
  bool is_array() const { return holds<Array>(); }
  bool is_object() const { return holds<Object>(); }
  bool is_integer() const { return holds<std::int64_t>() || holds<std::uint64_t>(); }
  bool is_number() const { return is_integer() || holds<double>(); }

  /// The value of `key` in an object; nullptr if it is absent or this is not an object.
  const Json* find(std::string_view key) const;
  /// The member's value; nullptr if it is absent or null.
  const Json* find_set(std::string_view key) const;

  const Array& array() const { return std::get<Array>(value_); }
  const Object& object() const { return std::get<Object>(value_); }
  const std::string& string() const { return std::get<std::string>(value_); }
  bool boolean() const { return std::get<bool>(value_); }
  double number() const;
  /// A non-negative integer, or nullopt.
  std::optional<std::uint64_t> unsigned_integer() const;
  std::optional<std::int64_t> integer() const;
  /// The value as shown in messages: short strings in full, lists and objects by their kind.
  std::string text() const;

 private:
  template <class T>
  bool holds() const {
    return std::holds_alternative<T>(value_);
  }
  Value value_ = nullptr;
};

}  // namespace clearformer
