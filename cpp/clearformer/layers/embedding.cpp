#include "clearformer/layers/embedding.h"

#include <cstring>

#include "clearformer/layers/linear.h"

namespace clearformer {

Embedding::Embedding(const WeightScope& scope, std::size_t rows, std::size_t columns, Table table)
    : rows_(rows), columns_(columns) {
  const Shape shape{rows, columns};
  if (table == Table::exact) {
    exact_ = scope.take("weight", shape);
    return;
  }
  if (table == Table::words) {
    auto words = std::make_shared<Matrix>(scope.take_matrix("weight", shape, MatrixRole::words));
    scope.hold("weight", words);
    words_ = std::move(words);
  } else {
    packed_ = take_packed(scope, "weight", shape, MatrixRole::output);
  }
}

void Embedding::forward(const TensorView& ids, const MutableTensorView& output) const {
  const std::int32_t* id = ids.as<std::int32_t>();
  float* row = output.f32();
  for (std::size_t i = 0; i < ids.elements(); ++i, row += columns_) {
    if (id[i] < 0 || static_cast<std::size_t>(id[i]) >= rows_) {
      fail(ErrorCode::invalid_argument, "embedding: id ", id[i], " at ",
           ids.shape().index_of(i).text(), " is outside the table of ", rows_, " rows");
    }
    const auto index = static_cast<std::size_t>(id[i]);
    if (packed_) {
      packed_->copy_row(index, row);
    } else if (words_) {
      words_->copy_row(index, row);
    } else {
      std::memcpy(row, exact_.f32() + index * columns_, columns_ * sizeof(float));
    }
  }
}

void Embedding::backward(const TensorView& ids, const TensorView& d, const WeightGradients* weights,
                         std::optional<std::int32_t> padding) const {
  if (weights == nullptr) return;
  kernels::PanelGradient* const panels = packed_ ? weights->of(*packed_) : nullptr;
  float* const rows = packed_ ? nullptr : weights->of(words_ ? words_->values() : exact_);
  const std::int32_t* id = ids.as<std::int32_t>();
  for (std::size_t i = 0; i < ids.elements(); ++i) {
    if (id[i] == padding) continue;
    const float* const from = d.f32() + i * columns_;
    const auto row = static_cast<std::size_t>(id[i]);
    if (panels != nullptr) panels->add_to_row(row, from);
    for (std::size_t k = 0; k < columns_ && rows != nullptr; ++k) {
      rows[row * columns_ + k] += from[k];
    }
  }
}

}  // namespace clearformer
