#include "clearformer/models/answers.h"

namespace clearformer {

void add_answers(const Tensor& logits, ModelOutputs& outputs) {
  for (std::size_t column = 0; column < 2; ++column) {
    Tensor part({logits.dim(0), logits.dim(1)});
    for (std::size_t i = 0; i < part.elements(); ++i) part.f32()[i] = logits.f32()[2 * i + column];
    outputs.add(column == 0 ? "start_logits" : "end_logits", std::move(part));
  }
}

Tensor answers_back(const Shape& shape, const Tensor& starts, const Tensor& ends) {
  Tensor joined = Tensor::zeros({shape[0], shape[1], 2});
  for (std::size_t i = 0; i < shape.elements(); ++i) {
    if (!starts.empty()) joined.f32()[2 * i] = starts.f32()[i];
    if (!ends.empty()) joined.f32()[2 * i + 1] = ends.f32()[i];
  }
  return joined;
}

}  // namespace clearformer
