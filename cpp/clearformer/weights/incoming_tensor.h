// IncomingTensor: one tensor on its way from the byte stream to its final place. Floats of 16 and 8 bits are widened as
// they arrive, weights of linear layers rounded as MatrixPlan says:
//   stored (out, in)  in strips of whole rows, 64 KiB or one row; also of a stack (experts, out, in)
//   stored (in, out)  once all of it has arrived in fp32, which is then released; fp32 is transposed in strips of 64 rows
#pragma once

#include <optional>
#include <vector>

#include "clearformer/weights/matrix_plan.h"
#include "clearformer/weights/safetensors.h"
#include "clearformer/weights/weights.h"

namespace clearformer {

/// One tensor on its way from a file's bytes to its final place.
class IncomingTensor {
 public:
  /// The buffer for the next bytes; size 0: the tensor is complete.
  struct Window {
    unsigned char* data = nullptr;
    std::size_t size = 0;
  };

  /// The dtype of a stored tensor in memory; nullopt for dtypes that no layer reads.
  static std::optional<DType> memory_dtype(std::string_view stored);
  /// Why a tensor is skipped; empty if it is read.
  static std::string unreadable(const StoredTensor& stored);
  /// Throws unsupported for a file whose weights of 8-bit floats have scales beside them.
  static void expect_unscaled(const SafetensorsHeader& header, std::string_view file);

  IncomingTensor() = default;
  /// With `planned` null the tensor is kept in `dtype`, its memory_dtype.
  IncomingTensor(const StoredTensor& stored, DType dtype, const MatrixPlan::Entry* planned);

  Window window();
  /// Reports that the first `bytes` bytes of the window have been filled.
  void commit(std::size_t bytes);
  /// The complete tensor.
  StoredWeight finish();

 private:
  enum class Encoding { as_it_is, f16, bf16, e4m3, e5m2 };

  void widen_staged();
  float widened(const unsigned char* element) const;
  void strip_complete();
  void next_strip();
  void round_row(std::size_t output, const float* row);
  void round_turned();

  Shape shape_{0};  // as stored
  Shape rows_{0};   // the same of rows alone
  Encoding encoding_ = Encoding::as_it_is;
  std::size_t width_ = 2;  // bytes of an element that is widened
  MatrixPlan::Entry planned_;
  Tensor strip_;                       // rows to be rounded or transposed, or the whole tensor
  std::size_t strip_elements_ = 0;     // elements the strip holds when full
  std::size_t filled_ = 0;             // bytes received of it, or of staged_ where that is used
  std::size_t widened_ = 0;            // elements of the strip already widened
  std::size_t left_ = 0;               // elements after the strip
  std::vector<unsigned char> staged_;  // elements of 16 or 8 bits
  Matrix matrix_;                      // when made strip by strip
};

}  // namespace clearformer
