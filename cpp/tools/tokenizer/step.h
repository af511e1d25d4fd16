// Step: one object of tokenizer.json with its "type"; look-ups whose refusals name file, step and key.
#pragma once

#include <string>
#include <string_view>

#include "clearformer/weights/json.h"

namespace clearformer::tools {

class Step {
 public:
  /// `kind` is what messages call it: "normalizer". Throws malformed_config when it has no type.
  Step(const Json& json, std::string kind);

  const std::string& type() const { return type_; }
  const Json& json() const { return *json_; }
  const std::string& kind() const { return kind_; }

  bool flag(std::string_view key, bool fallback) const;
  std::string text(std::string_view key) const;
  std::string text(std::string_view key, std::string_view fallback) const;
  std::size_t count(std::string_view key) const;
  const Json::Array& list(std::string_view key) const;

  /// Throws unsupported: this library does not know the type.
  [[noreturn]] void refuse_type() const;
  /// Throws malformed_config: the value under `key` breaks `rule`.
  [[noreturn]] void refuse(std::string_view key, std::string_view rule) const;

 private:
  const Json* json_;
  std::string kind_;
  std::string type_;
};

}  // namespace clearformer::tools
