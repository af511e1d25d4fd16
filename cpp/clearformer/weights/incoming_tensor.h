// IncomingTensor: one tensor of a file on its way from the stream to where it stays. Float16 and
// bfloat16 are widened as they come, weights of linear layers rounded as MatrixPlan says:
//   stored (out, in)  in strips of whole rows, 64 KiB or one row
//   stored (in, out)  when all of it is there in fp32, which is then given back
#pragma once

#include <optional>
#include <vector>

#include "clearformer/weights/matrix_plan.h"
#include "clearformer/weights/safetensors.h"
#include "clearformer/weights/weights.h"

namespace clearformer {

/// One tensor on its way from a file's bytes to where it stays.
class IncomingTensor {
 public:
  /// Where the next bytes go; size 0: the tensor is complete.
  struct Window {
    unsigned char* data = nullptr;
    std::size_t size = 0;
  };

  /// The dtype a stored tensor has in memory; nothing for types that no layer reads.
  static std::optional<DType> memory_dtype(std::string_view stored);
  /// Why such a tensor is passed over, empty where it is read.
  static std::string unreadable(const StoredTensor& stored);

  IncomingTensor() = default;
  /// `planned` null: it is kept in `dtype`, its memory_dtype.
  IncomingTensor(const StoredTensor& stored, DType dtype, const MatrixPlan::Entry* planned);

  Window window();
  /// Says that the first `bytes` bytes of the window were filled.
  void commit(std::size_t bytes);
  /// The complete tensor.
  StoredWeight finish();

 private:
  enum class Encoding { as_it_is, f16, bf16 };

  void widen_staged();
  void strip_complete();
  void next_strip();
  void round_row(std::size_t output, const float* row);
  void round_columns();

  Shape shape_{0};  // as stored
  Encoding encoding_ = Encoding::as_it_is;
  MatrixPlan::Entry planned_;
  Tensor strip_;                       // rows that await rounding, or all of the tensor
  std::size_t strip_elements_ = 0;     // that are expected in it now
  std::size_t filled_ = 0;             // bytes of them that came; of staged_ where that is in use
  std::size_t widened_ = 0;            // elements of the strip that were widened
  std::size_t left_ = 0;               // elements behind the strip
  std::vector<unsigned char> staged_;  // 16-bit elements
  Matrix matrix_;                      // where it is rounded strip by strip
};

}  // namespace clearformer
