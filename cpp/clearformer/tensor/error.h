// The library's only exception type: an error code for programs and a message for people.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace clearformer {

/// The kind of failure of an Error.
enum class ErrorCode {
  invalid_argument,  // an argument that cannot be used
  shape_mismatch,    // shapes that match neither each other nor the operation's rule
  dtype_mismatch,    // an element type the operation does not support
  out_of_memory,     // an allocation that failed
  malformed_file,    // a weights file that violates its format
  malformed_config,  // a config.json that violates a rule or lacks a key
  missing_tensor,    // a tensor the architecture needs and the checkpoint lacks
  unsupported,       // an option, dtype or architecture this library does not have
  disposed,          // a handle that was already released
};

/// The code's name as passed to JavaScript, such as "shape_mismatch".
std::string_view to_string(ErrorCode code);

/// Thrown by every public call that fails; the message names the operation, the rule and the actual values.
/// When an allocation fails, loading, inspection, forward passes and generation throw out_of_memory; smaller calls
/// may throw std::bad_alloc for memory other than a tensor's.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}
  ErrorCode code() const noexcept { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  ErrorCode code_;
  std::string message_;
};

/// Part of a message: a string or a number, formatted only when the message is built. Keeps the many call sites
/// of concat and fail small.
class Text {
 public:
  Text(const char* text) : Text(std::string_view(text)) {}                   // NOLINT: implicit
  Text(std::string_view text) : length_(text.size()), text_(text.data()) {}  // NOLINT
  Text(const std::string& text) : Text(std::string_view(text)) {}            // NOLINT
  Text(double number) : length_(kReal), real_(number) {}                     // NOLINT
  template <std::integral Number>
  Text(Number number) : length_(kInteger), integer_(static_cast<std::int64_t>(number)) {  // NOLINT
    if constexpr (std::is_unsigned_v<Number>) {
      if (integer_ < 0) *this = Text(static_cast<double>(number));
    }
  }

  void append_to(std::string& to) const;

 private:
  static constexpr std::size_t kInteger = static_cast<std::size_t>(-1);
  static constexpr std::size_t kReal = static_cast<std::size_t>(-2);
  std::size_t length_;  // of the string, or a tag for the kind of number
  union {
    const char* text_;
    std::int64_t integer_;
    double real_;
  };
};

/// Concatenates all parts.
std::string joined(std::initializer_list<Text> parts);
/// Throws an Error with the concatenated parts as its message; called through fail().
[[noreturn]] void throw_error(ErrorCode code, std::initializer_list<Text> parts);

/// Joins strings and numbers: concat("head ", 3, " of ", 8).
template <class... Parts>
std::string concat(const Parts&... parts) {
  return joined({Text(parts)...});
}

/// Throws an Error whose message is the concatenation of the parts.
template <class... Parts>
[[noreturn]] void fail(ErrorCode code, const Parts&... parts) {
  throw_error(code, {Text(parts)...});
}

}  // namespace clearformer
