// MatrixPlan: which stored tensors are weights of linear layers, their layout in the file and the format to keep them
// in. It is made from config.json before the first byte of weights arrives, so that CheckpointReader can quantise
// them row by row.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "clearformer/tensor/matrix.h"
#include "clearformer/weights/name_map.h"

namespace clearformer {

/// The role of a matrix: a layer's projection, the token embedding table, or an output layer (also when it is tied to
/// the embedding table) or a head's, or the one whose products choose experts.
enum class MatrixRole { projection, words, output, router };

/// A matrix that a model requests, under our name for it.
struct MatrixRequest {
  std::string path;  // "blocks.0.attn.q_proj.weight"
  MatrixRole role = MatrixRole::projection;
  std::size_t outputs = 0, inputs = 0;
  std::string stored = {};  // the checkpoint's tensor that it is, or is part of
};

/// The format in which each stored matrix is kept.
class MatrixPlan {
 public:
  /// How a tensor of the file becomes a matrix.
  struct Entry {
    MatrixFormat format = MatrixFormat::f32;
    Layout layout = Layout::out_in;
    bool stacked = false;  // behind an axis of experts
  };

  /// If several matrices are stacked in one tensor, the most precise of their formats applies to all.
  void add(const StoredName& stored, MatrixFormat format);
  /// Null for a tensor that is not converted.
  const Entry* find(std::string_view stored_name) const;

 private:
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace clearformer
