// Weights: the tensors of a checkpoint by name, each handed out once to the layer that owns it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "clearformer/tensor/tensor.h"

namespace clearformer {

class Weights {
 public:
  /// Matrices are allocated with room up to a multiple of this many rows, so that a layer can pack
  /// them in place into panels without a second copy.
  static constexpr std::size_t kRowMultiple = 32;

  /// An uninitialised tensor, with that room when it is a matrix.
  static Tensor allocate(const Shape& shape, DType dtype);

  /// Adds a tensor; throws malformed_file when the name is there already (two shards hold it).
  void add(std::string name, std::string file, Tensor tensor);

  bool contains(std::string_view name) const { return entries_.find(name) != entries_.end(); }
  /// Shape as stored; the tensor must be there.
  const Shape& shape(std::string_view name) const;

  /// Moves a float32 tensor out. Throws missing_tensor, shape_mismatch or dtype_mismatch, naming
  /// the file, the tensor, the expected and the found shape.
  Tensor take(const std::string& name, const Shape& expected);

  /// The same checks without taking; the view lives until the tensor is taken or dropped.
  TensorView read(const std::string& name, const Shape& expected);

  /// Frees a tensor that was read in parts.
  void drop(std::string_view name);

  /// Names that nobody took or read, sorted.
  std::vector<std::string> unused() const;
  std::vector<std::string> names() const;

 private:
  struct Entry {
    std::string file;
    Tensor tensor;
    bool used = false;
  };
  Entry& checked(const std::string& name, const Shape& expected);

  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace clearformer
