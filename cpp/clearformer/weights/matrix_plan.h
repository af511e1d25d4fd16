// MatrixPlan: which stored tensors are weights of linear layers, how they lie in the file and in how
// many bits they shall be kept. It is made from config.json before the first byte of weights comes,
// so that CheckpointReader can round them row by row.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "clearformer/tensor/matrix.h"
#include "clearformer/weights/name_map.h"

namespace clearformer {

/// What a matrix does: a layer's projection; the table of words; an output layer or a head's, also
/// where it is the table of words too.
enum class MatrixRole { projection, words, output };

/// A matrix that a model takes, under our name for it.
struct MatrixRequest {
  std::string path;  // "blocks.0.attn.q_proj.weight"
  MatrixRole role = MatrixRole::projection;
  std::size_t outputs = 0, inputs = 0;
  std::string stored = {};  // the checkpoint's name for the tensor it is, or is a part of
};

/// In which format each stored matrix is to be kept.
class MatrixPlan {
 public:
  /// How a tensor of the file becomes a matrix.
  struct Entry {
    MatrixFormat format = MatrixFormat::f32;
    Layout layout = Layout::out_in;
  };

  /// Of several matrices stacked in one tensor the most exact format holds for all.
  void add(const StoredName& stored, MatrixFormat format);
  /// Null for a tensor that is kept as it is.
  const Entry* find(std::string_view stored_name) const;

 private:
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace clearformer
