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
  Shape shape{0};      // in the file
  Tensor tensor;       // empty where it is rounded
  Matrix matrix;       // (out, in), however it lies in the file
  std::string unread;  // why it was not read; it is refused where a model needs it

  std::size_t bytes() const { return matrix.empty() ? tensor.view().bytes() : matrix.bytes(); }
};

/// All tensors of a checkpoint, each handed out once.
class Weights {
 public:
  /// Matrices are allocated with room up to a multiple of this many rows, so that a layer can pack
  /// them in place into panels without a second copy.
  static constexpr std::size_t kRowMultiple = 32;

  /// An uninitialised tensor, with that room when it is a matrix.
  static Tensor allocate(const Shape& shape, DType dtype);

  Weights() = default;
  /// Weights that hand nothing out and write down which matrices a model asks for: built over these it
  /// tells what it needs before any weight is read. While no tensor is added they miss nothing; what
  /// is added (see described) is compared with what the model asks for.
  static Weights recording(std::vector<MatrixRequest>& requests);
  /// A tensor of which only the header was read.
  static StoredWeight described(const Shape& shape, DType dtype) {
    return {shape, Tensor({0}, dtype), {}, {}};
  }

  /// Adds a tensor; throws malformed_file when the name is there already (two shards hold it).
  void add(std::string name, std::string file, StoredWeight weight);
  void add(std::string name, std::string file, Tensor tensor);

  /// Whether there is a tensor of that name; of recording weights without any: yes.
  bool contains(std::string_view name) const { return records_blindly() || shape(name); }
  /// Whether some name contains `text`.
  bool mentions(std::string_view text) const;
  /// Whether some name begins with `prefix`.
  bool begins_with(std::string_view prefix) const;
  /// Old files say gamma and beta for the weight and bias of a norm: renames them.
  void modernize();
  /// Whether the tensors have elements: recording weights have none.
  bool hold_data() const { return requests_ == nullptr; }
  /// Whether both tensors have the same shape, format and bytes (described ones: the same shape).
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
  /// Bytes of all that was taken; of recording weights: of what is no matrix, in fp32.
  std::uint64_t bytes_taken() const { return bytes_taken_; }

  /// A tensor that is missing, or has another shape or dtype than the model.
  struct Problem {
    ErrorCode code;
    std::string tensor, text;
  };
  /// What take() met so far.
  const std::vector<Problem>& problems() const { return problems_; }

  enum class Unexpected { keep, refuse };
  /// Throws one Error that lists every problem take() met (missing_tensor, shape_mismatch or
  /// dtype_mismatch, after the first), each with file, tensor, expected and found shape; with
  /// Unexpected::refuse also the tensors that nobody took.
  void check(Unexpected unexpected) const;

  /// Throws malformed_file where `name`, which nobody took, is the same as `twin`, which somebody took, under another prefix.
  void expect_no_twin(const std::string& name, std::string_view twin) const;
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
  void remember(ErrorCode code, const std::string& tensor, std::string text);
  bool records_blindly() const { return requests_ != nullptr && entries_.empty(); }
  // The entry, its rows counted as taken; null when there is a problem.
  Entry* claim(const StoredName& stored, const Shape& expected);
  static void release_if_taken(Entry& entry, const StoredName& stored);

  std::map<std::string, Entry, std::less<>> entries_;
  std::vector<Problem> problems_;
  std::vector<MatrixRequest>* requests_ = nullptr;
  std::uint64_t bytes_taken_ = 0;
};

}  // namespace clearformer
