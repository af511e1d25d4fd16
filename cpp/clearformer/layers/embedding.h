// Embedding: looks up row token_id of a table.
// Source: torch.nn.Embedding; tying to the output layer: Press & Wolf 2016, arXiv 1608.05859.
// Shapes: ids (B, T), table (V, D), output (B, T, D).
#pragma once

#include <memory>
#include <optional>

#include "clearformer/layers/weight_gradients.h"
#include "clearformer/weights/scope.h"

namespace clearformer {

/// A table of vectors, one per row, looked up by id.
class Embedding {
 public:
  /// exact: a small table, such as positions, not quantised. words: the token embedding, in the format the checkpoint
  /// is loaded in. words_and_output: shared with the output layer and packed for its product.
  enum class Table { exact, words, words_and_output };

  Embedding(const WeightScope& scope, std::size_t rows, std::size_t columns, Table table);

  /// Throws invalid_argument, naming the id and its index, for an id outside [0, V).
  void forward(const TensorView& ids, const MutableTensorView& output) const;
  /// Adds each row of d (B, T, D), the gradient of the output, to that of the table's row, in order, but not to that of
  /// the row `padding`.
  void backward(const TensorView& ids, const TensorView& d, const WeightGradients* weights,
                std::optional<std::int32_t> padding = {}) const;

  /// The packed table, for a tied output layer; null if only this layer uses it.
  std::shared_ptr<const kernels::PackedMatrix> packed() const { return packed_; }

 private:
  std::size_t rows_;
  std::size_t columns_;
  Tensor exact_;
  std::shared_ptr<const Matrix> words_;
  std::shared_ptr<const kernels::PackedMatrix> packed_;
};

}  // namespace clearformer
