// The one exception type of the library: a code for programs, a sentence for people.
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

/// What kind of failure an Error is.
enum class ErrorCode {
  invalid_argument,  // a value the caller passed cannot be used
  shape_mismatch,    // shapes that do not fit each other or the rule of the operation
  dtype_mismatch,    // an element type the operation does not take
  out_of_memory,     // an allocation the system refused
  malformed_file,    // a weights file that breaks a rule of its format
  malformed_config,  // a config.json that breaks a rule or lacks a key
  missing_tensor,    // a tensor the architecture needs and the checkpoint lacks
  unsupported,       // an option, dtype or architecture this library does not have
  disposed,          // a handle that was released before
};

/// The code's name as it crosses the border to JavaScript, such as "shape_mismatch".
std::string_view to_string(ErrorCode code);

/// Thrown by every public call that cannot do what was asked; the message names the operation,
/// the rule and the actual values. Where memory is refused loading, inspecting, forward passes and
/// generations throw out_of_memory; smaller calls may throw std::bad_alloc for what is no tensor.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}
  ErrorCode code() const noexcept { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  ErrorCode code_;
  std::string message_;
};

/// A piece of a message: a string or a number, not yet turned into text. Keeps the many calls of
/// concat and fail small.
class Text {
 public:
  Text(const char* text) : Text(std::string_view(text)) {}  // NOLINT: made in passing
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
  std::size_t length_;  // of the string, or what else this is
  union {
    const char* text_;
    std::int64_t integer_;
    double real_;
  };
};

/// All parts as one string.
std::string joined(std::initializer_list<Text> parts);
/// Throws an Error with the parts as its message; fail() is how it is called.
[[noreturn]] void throw_error(ErrorCode code, std::initializer_list<Text> parts);

/// Joins strings and numbers: concat("head ", 3, " of ", 8).
template <class... Parts>
std::string concat(const Parts&... parts) {
  return joined({Text(parts)...});
}

/// Throws an Error whose message is the joined parts.
template <class... Parts>
[[noreturn]] void fail(ErrorCode code, const Parts&... parts) {
  throw_error(code, {Text(parts)...});
}

}  // namespace clearformer
