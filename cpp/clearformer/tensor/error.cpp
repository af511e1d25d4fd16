#include "clearformer/tensor/error.h"

#include <algorithm>

namespace clearformer {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::shape_mismatch: return "shape_mismatch";
    case ErrorCode::dtype_mismatch: return "dtype_mismatch";
    case ErrorCode::out_of_memory: return "out_of_memory";
    case ErrorCode::malformed_file: return "malformed_file";
    case ErrorCode::malformed_config: return "malformed_config";
    case ErrorCode::missing_tensor: return "missing_tensor";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::disposed: return "disposed";
  }
  return "invalid_argument";
}

namespace {

// At most six decimals, without trailing zeros: enough to recognise a number in a message, without the code size
// of printf.
std::string decimal(double number) {
  if (number != number) return "NaN";
  if (number < 0) return decimal(-number).insert(0, 1, '-');
  if (number > 1e15) return number > 1e300 ? "a huge number" : "more than 1e15";
  auto whole = static_cast<std::uint64_t>(number);
  // Positive, and lround() would cost bytes: NOLINTNEXTLINE(bugprone-incorrect-roundings)
  auto millionths = static_cast<std::uint64_t>((number - static_cast<double>(whole)) * 1e6 + 0.5);
  if (millionths == 1000000) {
    ++whole;
    millionths = 0;
  }
  std::string text = std::to_string(whole);
  if (millionths == 0) return text;
  std::string digits = std::to_string(millionths);
  digits.insert(0, 6 - digits.size(), '0');
  digits.erase(digits.find_last_not_of('0') + 1);
  return text + "." + digits;
}

}  // namespace

void Text::append_to(std::string& to) const {
  if (length_ == kInteger) {
    to.append(std::to_string(integer_));
  } else if (length_ == kReal) {
    to.append(decimal(real_));
  } else {
    to.append(text_, length_);
  }
}

std::string joined(std::initializer_list<Text> parts) {
  std::string text;
  for (const Text& part : parts) part.append_to(text);
  return text;
}

void throw_error(ErrorCode code, std::initializer_list<Text> parts) {
  std::string message = joined(parts);
  // what() ends at the first NUL, and a name from a file may contain one.
  std::replace(message.begin(), message.end(), '\0', ' ');
  throw Error(code, std::move(message));
}

}  // namespace clearformer
