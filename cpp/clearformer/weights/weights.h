// Weights: the tensors of a checkpoint by name, each handed out once to the layer that owns it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "clearformer/weights/matrix_plan.h"

namespace clearformer {

/// A tensor of a checkpoint in memory: as it is, or rounded.
struct StoredWeight {
  Shape shape{0};  // in the file
  Tensor tensor;   // empty where it is rounded
  Matrix matrix;   // (out, in), however it lies in the file

  std::size_t bytes() const { return matrix.empty() ? tensor.view().bytes() : matrix.bytes(); }
};

class Weights {
 public:
  /// Matrices are allocated with room up to a multiple of this many rows, so that a layer can pack
  /// them in place into panels without a second copy.
  static constexpr std::size_t kRowMultiple = 32;

  /// An uninitialised tensor, with that room when it is a matrix.
  static Tensor allocate(const Shape& shape, DType dtype);

  Weights() = default;
  /// Weights that hold nothing, miss nothing and write down which matrices a model asks for:
  /// built over these it tells what it needs before any file is opened.
  static Weights recording(std::vector<MatrixRequest>& requests);

  /// Adds a tensor; throws malformed_file when the name is there already (two shards hold it).
  void add(std::string name, std::string file, StoredWeight weight);
  void add(std::string name, std::string file, Tensor tensor);

  /// Whether there is a tensor of that name; of recording weights: yes.
  bool contains(std::string_view name) const { return requests_ != nullptr || shape(name); }
  /// Whether some name contains `text`.
  bool mentions(std::string_view text) const;
  /// Whether some name begins with `prefix`.
  bool begins_with(std::string_view prefix) const;
  /// Old files say gamma and beta for the weight and bias of a norm: renames them.
  void modernize();
  /// Whether both tensors have the same shape, format and bytes.
  bool same(std::string_view a, std::string_view b) const;
  void rename(std::string_view from, std::string to);
  void forget(std::string_view name);
  /// Forgets tensors whose name matches the pattern ('*' stands for any run of characters) and that
  /// nobody took.
  void ignore(std::string_view pattern);
  /// Shape as stored; null where there is no such tensor.
  const Shape* shape(std::string_view name) const;

  /// Moves a float32 tensor out, or copies its part. A tensor that is missing, of another shape or
  /// of another type gives an empty one and is remembered: check() reports all of them at once.
  Tensor take(const StoredName& stored, const Shape& expected);
  /// The same for the weight of a linear layer, in the format it was read in. `path` is our name.
  Matrix take_matrix(const StoredName& stored, const Shape& expected, MatrixRole role,
                     std::string_view path);
  /// Bytes of all that was taken.
  std::size_t bytes_taken() const { return bytes_taken_; }

  enum class Unexpected { keep, refuse };
  /// Throws one Error that lists every problem take() met (missing_tensor, shape_mismatch or
  /// dtype_mismatch, after the first), each with file, tensor, expected and found shape; with
  /// Unexpected::refuse also the tensors that nobody took.
  void check(Unexpected unexpected) const;

  /// Names that nobody took, sorted.
  std::vector<std::string> unused() const;
  std::vector<std::string> names() const;

 private:
  static constexpr std::size_t kMaxProblems = 50;
  struct Entry {
    std::string file;
    StoredWeight weight;
    bool taken = false;
    std::size_t rows_taken = 0;  // outputs, of all that were asked for
    bool faulty = false;         // its problem is remembered
  };
  struct Problem {
    ErrorCode code;
    std::string text;
  };
  template <class... Parts>
  void remember(ErrorCode code, const Parts&... parts) {
    remember_once(code, concat(parts...));
  }
  void remember_once(ErrorCode code, std::string text);
  // The entry, its rows counted as taken; null when there is a problem.
  Entry* claim(const StoredName& stored, const Shape& expected);
  static void release_if_taken(Entry& entry, const StoredName& stored);

  std::map<std::string, Entry, std::less<>> entries_;
  std::vector<Problem> problems_;
  std::vector<MatrixRequest>* requests_ = nullptr;
  std::size_t bytes_taken_ = 0;
};

}  // namespace clearformer
