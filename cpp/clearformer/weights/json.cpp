#include "clearformer/weights/json.h"

// RapidJSON's rapidjson/internal/pow10.h is a table of 2.5 kB that does not compress; this function replaces it and
// is exact up to 1e22, as the table is.
#define RAPIDJSON_POW10_
namespace rapidjson::internal {
inline double Pow10(int exponent) {
  double power = 1.0;
  for (double square = 10.0; exponent != 0; exponent /= 2, square *= square) {
    if (exponent % 2 != 0) power *= square;
  }
  return power;
}
}  // namespace rapidjson::internal

// While empty, RapidJSON's stack computes null plus a size, which clang's UBSan reports. It is harmless and
// suppressed for the stack's functions only.
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#ifdef __clang__
#pragma clang attribute pop
#endif

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <set>

namespace clearformer {

namespace {

constexpr std::size_t kMaxDepth = 64;

// RapidJSON's own allocator returns null when memory is exhausted, and its stack writes there unchecked.
struct ThrowingAllocator {
  static const bool kNeedFree = true;
  void* Malloc(std::size_t bytes) { return ::operator new(bytes); }
  void* Realloc(void* old, std::size_t old_bytes, std::size_t bytes) {
    void* memory = ::operator new(bytes);
    if (old != nullptr) std::memcpy(memory, old, std::min(old_bytes, bytes));
    ::operator delete(old);
    return memory;
  }
  static void Free(void* memory) { ::operator delete(memory); }
};

// Builds the tree from the parser's events; open containers are kept on a stack.
class Builder {
 public:
  using Ch = char;
  bool Null() { return add(nullptr); }
  bool Bool(bool value) { return add(value); }
  bool Int(int value) { return add(static_cast<std::int64_t>(value)); }
  bool Uint(unsigned value) { return add(static_cast<std::int64_t>(value)); }
  bool Int64(std::int64_t value) { return add(value); }
  bool Uint64(std::uint64_t value) {
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return add(static_cast<std::int64_t>(value));
    }
    return add(value);
  }
  bool Double(double value) { return add(value); }
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return false; }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    return is_whole({text, length}) && add(std::string(text, length));
  }
  bool StartObject() { return open(Json::Object{}); }
  bool StartArray() { return open(Json::Array{}); }
  bool EndObject(rapidjson::SizeType) { return close(); }
  bool EndArray(rapidjson::SizeType) { return close(); }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    Level& level = stack_.back();
    level.key.assign(text, length);
    if (!is_whole(level.key)) return false;
    if (level.keys.insert(level.key).second) return true;
    problem = concat("the key \"", level.key, "\" appears twice");
    return false;
  }

  std::string problem;
  Json root;

 private:
  struct Level {
    Json::Value value;
    std::string key;
    std::set<std::string> keys;
  };

  // RapidJSON accepts the escape of an unpaired low surrogate and turns it into invalid UTF-8.
  bool is_whole(std::string_view text) {
    for (std::size_t at = text.find('\xed'); at != text.npos; at = text.find('\xed', at + 1)) {
      if (static_cast<unsigned char>(text[at + 1]) < 0xa0) continue;
      problem = "half of a surrogate pair";
      return false;
    }
    return true;
  }

  bool add(Json::Value value) {
    if (stack_.empty()) {
      root = Json(std::move(value));
    } else if (auto* array = std::get_if<Json::Array>(&stack_.back().value)) {
      array->emplace_back(std::move(value));
    } else {
      std::get<Json::Object>(stack_.back().value)
          .emplace_back(std::move(stack_.back().key), Json(std::move(value)));
    }
    return true;
  }

  bool open(Json::Value container) {
    if (stack_.size() == kMaxDepth) {
      problem = concat("nested deeper than ", kMaxDepth, " levels");
      return false;
    }
    stack_.push_back({std::move(container), {}, {}});
    return true;
  }

  bool close() {
    Json::Value value = std::move(stack_.back().value);
    stack_.pop_back();
    return add(std::move(value));
  }

  std::vector<Level> stack_;
};

}  // namespace

Json Json::parse(std::string_view text, std::string_view document, ErrorCode code) {
  // Without kParseFullPrecisionFlag: fractions of up to 15 digits are exact anyway, and the full-precision path shifts
  // by an undefined count for zeros such as 0e-30.
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  rapidjson::MemoryStream bytes(text.data(), text.size());
  rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> stream(bytes);
  rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, ThrowingAllocator> reader;
  Builder builder;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
  if (result.IsError()) {
    const std::string problem =
        builder.problem.empty() ? rapidjson::GetParseError_En(result.Code()) : builder.problem;
    fail(code, document, ": not valid JSON at byte ", result.Offset(), ": ", problem);
  }
  if (stream.Tell() != text.size()) {  // the parser stops at a NUL byte
    fail(code, document, ": not valid JSON at byte ", stream.Tell(), ": a NUL byte");
  }
  return std::move(builder.root);
}

const Json* Json::find(std::string_view key) const {
  const auto* members = std::get_if<Object>(&value_);
  if (members == nullptr) return nullptr;
  for (const auto& [name, value] : *members) {
    if (name == key) return &value;
  }
  return nullptr;
}

const Json* Json::find_set(std::string_view key) const {
  const Json* value = find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

double Json::number() const {
  if (const auto* integer = std::get_if<std::int64_t>(&value_))
    return static_cast<double>(*integer);
  if (const auto* integer = std::get_if<std::uint64_t>(&value_))
    return static_cast<double>(*integer);
  return std::get<double>(value_);
}

std::string Json::text() const {
  constexpr std::size_t kMost = 60;
  if (is_null()) return "null";
  if (is_bool()) return boolean() ? "true" : "false";
  if (is_string()) return concat("\"", string().substr(0, kMost), "\"");
  if (const auto whole = integer()) return concat(*whole);
  if (is_number()) return concat(number());
  return is_array() ? (array().empty() ? "an empty list" : "a list") : "an object";
}

std::optional<std::int64_t> Json::integer() const {
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) return *integer;
  return std::nullopt;
}

std::optional<std::uint64_t> Json::unsigned_integer() const {
  if (const auto* integer = std::get_if<std::uint64_t>(&value_)) return *integer;
  const auto* integer = std::get_if<std::int64_t>(&value_);
  if (integer == nullptr || *integer < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*integer);
}

}  // namespace clearformer
