// The masks of a fixture case: its inputs "<name>_boolean" and "<name>_additive".
#pragma once

#include <string>

#include "clearformer/layers/masking.h"
#include "support/fixture.h"

namespace clearformer::test {

/// The meaning of true in a boolean mask: attend (scaled_dot_product_attention, ONNX) or ignore (nn).
enum class Truth { attend, ignore };

/// A tensor's elements under another shape of equal element count.
inline Tensor shaped(Tensor tensor, const Shape& shape) {
  tensor.reshape(shape);
  return tensor;
}

/// The case's mask `name` from its inputs; no restriction if it has none.
inline Mask mask_input(const Case& example, const std::string& name, Truth truth) {
  Mask mask;
  if (example.has_input(name + "_boolean")) {
    Tensor flags = example.uint8_input(name + "_boolean");
    mask = mask & (truth == Truth::attend ? Mask::allow(std::move(flags))
                                          : Mask::ignore(std::move(flags)));
  }
  if (example.has_input(name + "_additive")) {
    mask = mask & Mask::additive(example.input(name + "_additive").clone());
  }
  return mask;
}

/// A key padding mask (B, S), or (S) without a batch, over (B, H, T, S).
inline Mask padding_input(const Case& example, const std::string& name) {
  const auto over_keys = [](const Tensor& tensor) {
    const std::size_t batch = tensor.shape().rank() == 2 ? tensor.dim(0) : 1;
    return Shape{batch, 1, 1, tensor.shape().back(0)};
  };
  Mask mask;
  if (example.has_input(name + "_boolean")) {
    Tensor flags = example.uint8_input(name + "_boolean");
    const Shape shape = over_keys(flags);
    mask = mask & Mask::ignore(shaped(std::move(flags), shape));
  }
  if (example.has_input(name + "_additive")) {
    Tensor values = example.input(name + "_additive").clone();
    const Shape shape = over_keys(values);
    mask = mask & Mask::additive(shaped(std::move(values), shape));
  }
  return mask;
}

}  // namespace clearformer::test
