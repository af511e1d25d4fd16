#include "clearformer/tensor/error.h"

#include <cstdio>

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

void Text::append_to(std::string& to) const {
  switch (kind_) {
    case Kind::text: to.append(text_); break;
    case Kind::negative_or_not: to.append(std::to_string(static_cast<std::int64_t>(integer_))); break;
    case Kind::natural: to.append(std::to_string(integer_)); break;
    case Kind::real: {
      char digits[32];
      std::snprintf(digits, sizeof digits, "%.9g", real_);
      to.append(digits);
    }
  }
}

std::string joined(std::initializer_list<Text> parts) {
  std::string text;
  for (const Text& part : parts) part.append_to(text);
  return text;
}

void throw_error(ErrorCode code, std::initializer_list<Text> parts) {
  throw Error(code, joined(parts));
}

}  // namespace clearformer
