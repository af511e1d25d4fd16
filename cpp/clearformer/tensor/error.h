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
/// the rule and the actual values.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}
  ErrorCode code() const noexcept { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  ErrorCode code_;
  std::string message_;
};

/// A piece of a message: a string, a character or a number, not yet turned into text. Keeps the
/// many calls of concat and fail small.
class Text {
 public:
  Text(const char* text) : text_(text) {}                    // NOLINT: made in passing
  Text(std::string_view text) : text_(text) {}               // NOLINT
  Text(const std::string& text) : text_(text) {}             // NOLINT
  Text(double number) : kind_(Kind::real), real_(number) {}  // NOLINT
  template <std::integral Number>
  Text(Number number)  // NOLINT
      : kind_(std::is_signed_v<Number> ? Kind::negative_or_not : Kind::natural),
        integer_(static_cast<std::uint64_t>(number)) {}

  void append_to(std::string& to) const;

 private:
  enum class Kind { text, negative_or_not, natural, real };
  Kind kind_ = Kind::text;
  std::string_view text_;
  std::uint64_t integer_ = 0;
  double real_ = 0.0;
};

std::string joined(std::initializer_list<Text> parts);
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
