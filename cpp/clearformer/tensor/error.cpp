#include "clearformer/tensor/error.h"

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

}  // namespace clearformer
