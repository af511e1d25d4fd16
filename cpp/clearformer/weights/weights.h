// Weights: the tensors of a checkpoint by name, each moved once to the layer that owns it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "clearformer/weights/matrix_plan.h"
#include "clearformer/weights/parameter.h"

namespace clearformer {

/// A tensor of a checkpoint in memory: unchanged or quantised.
struct StoredWeight {
  Shape shape{0};      // in the file
  Tensor tensor;       // empty if quantised
  Matrix matrix;       // (out, in), whatever the layout in the file
  std::string unread;  // why it was not read; an error only if a model needs it

  std::size_t bytes() const { return matrix.empty() ? tensor.view().bytes() : matrix.bytes(); }
};

/// All tensors of a checkpoint, each moved out once.
class Weights {
 public:
  /// Matrices are allocated with room up to a multiple of this many rows, so that a layer can pack them into panels
  /// in place.
  static constexpr std::size_t kRowMultiple = 32;

  /// An uninitialised tensor; a matrix gets the spare rows of kRowMultiple.
  static Tensor allocate(const Shape& shape, DType dtype);

  Weights() = default;
  /// Weights without data that record which matrices a model requests: a model built over them reports what it needs
  /// before any weight is read. While empty they report nothing missing, and list what a file must hold (see needed),
  /// unless they are `known`; tensors added (see described) are checked against the model's requests.
  static Weights recording(std::vector<MatrixRequest>& requests, bool known = false);
  /// A tensor of which only the header has been read.
  static StoredWeight described(const Shape& shape, DType dtype) {
    return {shape, Tensor({0}, dtype), {}, {}};
  }

  /// Adds a tensor; throws malformed_file if the name exists already (two shards hold it).
  void add(std::string name, std::string file, StoredWeight weight);
  void add(std::string name, std::string file, Tensor tensor);

  /// Whether a tensor of that name exists; always true for empty recording weights.
  bool contains(std::string_view name) const { return records_blindly() || shape(name); }
  /// Whether some name contains `text`.
  bool mentions(std::string_view text) const;
  /// Whether some name begins with `prefix`.
  bool begins_with(std::string_view prefix) const;
  /// Renames gamma and beta, used in old files for the weight and bias of a norm.
  void modernize();
  /// Whether the tensors have elements; recording weights have none.
  bool hold_data() const { return requests_ == nullptr; }
  /// Whether both tensors have the same shape, format and bytes (recording weights: the same shape).
  bool same(std::string_view a, std::string_view b) const;
  void rename(std::string_view from, std::string to);
  void forget(std::string_view name);
  /// Drops tensors that were not taken and whose name matches the pattern ('*' matches any run of characters).
  void ignore(std::string_view pattern);
  /// The stored shape; nullptr if there is no such tensor.
  const Shape* shape(std::string_view name) const;

  /// Moves a float32 tensor out, or copies its part. If it is missing or has another shape or dtype, returns an empty
  /// tensor and records the problem: check() reports all of them at once. With a `path`, our name for it, it becomes a
  /// parameter.
  Tensor take(const StoredName& stored, const Shape& expected, std::string_view path = {});
  /// The same for the weight of a linear layer, in the format it was loaded in, and without the parameter's rows: the
  /// layer gives them with hold() once it has packed them.
  Matrix take_matrix(const StoredName& stored, const Shape& expected, MatrixRole role,
                     std::string_view path);
  /// Names the owner of the rows of the parameter `path`, in place of the tensor that was taken, and the place of a
  /// linear layer's updates.
  void hold(std::string_view path, std::shared_ptr<WeightRows> rows,
            std::shared_ptr<LowRankUpdates> updates = nullptr);
  /// Moves out the parameters, in the order they were taken.
  std::vector<Parameter> take_parameters() { return std::move(parameters_); }
  /// Bytes of all tensors taken; for recording weights only those that are not matrices, in fp32.
  std::uint64_t bytes_taken() const { return bytes_taken_; }

  /// A tensor that is missing or does not have the model's shape or dtype.
  struct Problem {
    ErrorCode code;
    std::string tensor, text;
  };
  /// A tensor of a checkpoint, of which no number is known.
  struct Needed {
    std::string name;
    Shape shape;
  };
  /// The tensors that a model requested of empty recording weights, as a file holds them, in the order of the requests.
  const std::vector<Needed>& needed() const { return needed_; }

  /// The problems recorded by take() so far.
  const std::vector<Problem>& problems() const { return problems_; }
  /// Stacked tensors of which not all parts have been taken, once a model is built.
  std::vector<Problem> unfinished() const;

  enum class Unexpected { keep, refuse };
  /// Throws one Error that lists all problems recorded by take() (its code is that of the first: missing_tensor,
  /// shape_mismatch or dtype_mismatch) and unfinished(), each with file, tensor, expected and found shape; with
  /// Unexpected::refuse also the tensors that were not taken.
  void check(Unexpected unexpected) const;

  /// Throws malformed_file if `name`, not taken, has the same content as `twin`, which was taken under another prefix.
  void expect_no_twin(const std::string& name, std::string_view twin) const;
  /// Names of the tensors that were not taken, sorted.
  std::vector<std::string> unused() const;
  std::vector<std::string> names() const;

 private:
  static constexpr std::size_t kMaxProblems = 50;
  struct Entry {
    std::string file;
    StoredWeight weight;
    std::string name_in_file = {};  // if it was renamed
    bool taken = false;
    std::size_t outputs = 0;     // that must be taken: all of a stack's
    std::size_t rows_taken = 0;  // outputs, over all requests
    bool faulty = false;         // its problem has been recorded
  };
  void remember(ErrorCode code, const std::string& tensor, std::string text);
  /// Why all weights may be missing: what all names of the file begin with, or nothing.
  std::string wrapper() const;
  bool records_blindly() const { return requests_ != nullptr && !known_ && entries_.empty(); }
  // The entry, with its rows counted as taken; null if there is a problem.
  Entry* claim(const StoredName& stored, const Shape& expected);
  // Notes or checks a request of recording weights.
  void record(const StoredName& stored, const Shape& expected);
  static void release_if_taken(Entry& entry, const StoredName& stored);
  void note_parameter(std::string_view path, const StoredName& stored, const Entry& entry,
                      const Shape& shape);

  std::map<std::string, Entry, std::less<>> entries_;
  std::vector<Problem> problems_;
  std::vector<Parameter> parameters_;
  std::vector<Needed> needed_;
  std::vector<MatrixRequest>* requests_ = nullptr;
  bool known_ = false;  // of recording weights: what is not among the entries is missing
  std::uint64_t bytes_taken_ = 0;
};

}  // namespace clearformer
