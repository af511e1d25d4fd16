// JsonWriter: serialises JSON, member by member.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace clearformer {

class JsonWriter {
 public:
  /// The key of the next value, in an object.
  JsonWriter& key(std::string_view name);
  void text(std::string_view value);
  void count(std::uint64_t value) { raw(std::to_string(value)); }
  void null() { raw("null"); }
  void yes() { raw("true"); }
  /// Writes '{' or '['; close() with its counterpart ends it.
  void open(char bracket) { raw(std::string_view(&bracket, 1)); }
  void close(char bracket) { json_ += bracket; }

  template <class Texts>
  void texts(const Texts& values) {
    open('[');
    for (const auto& value : values) text(value);
    close(']');
  }

  const std::string& json() const { return json_; }

 private:
  // Preceded by a comma where one is needed.
  void raw(std::string_view value);
  std::string json_;
};

}  // namespace clearformer
