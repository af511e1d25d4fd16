// The one exception type of the library: a code for programs, a sentence for people.
#pragma once

#include <exception>
#include <string>
#include <string_view>
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

namespace detail {
inline std::string text(std::string value) { return value; }
inline std::string text(std::string_view value) { return std::string(value); }
inline std::string text(const char* value) { return value; }
inline std::string text(char value) { return std::string(1, value); }
template <class Number>
std::string text(Number value) {
  return std::to_string(value);
}
}  // namespace detail

/// Joins strings and numbers: concat("head ", 3, " of ", 8).
template <class... Parts>
std::string concat(Parts&&... parts) {
  std::string joined;
  (joined.append(detail::text(std::forward<Parts>(parts))), ...);
  return joined;
}

/// Throws an Error whose message is the joined parts.
template <class... Parts>
[[noreturn]] void fail(ErrorCode code, Parts&&... parts) {
  throw Error(code, concat(std::forward<Parts>(parts)...));
}

}  // namespace clearformer
