// The tiny checkpoints of tests/fixtures with the inputs of their first reference cases, and comparisons of what models
// compute.
#pragma once

#include <memory>
#include <string>

#include "clearformer/models/model.h"
#include "support/architectures.h"

namespace clearformer::fuzz {

/// A checkpoint with the inputs of its first reference case.
struct Tiny {
  explicit Tiny(const std::string& folder);

  test::Fixture fixture;
  const test::Case& reference;
  test::CaseInputs given;
  Task task;
  std::string config, weights;
};

/// The checkpoint of tiny_folders()[index], which is kept.
const Tiny& tiny(std::size_t index);
/// Loads one, with this config and these weights.
std::unique_ptr<Model> load_tiny(const Tiny& checkpoint, const std::string& config,
                                 std::string_view weights, MatrixFormat format);

/// Whether all elements have the same bits; any NaN is the same as any other.
bool same(const Tensor& a, const Tensor& b);
/// Throws a Violation that says `what` unless all outputs are the same.
void expect_same(const ModelOutputs& a, const ModelOutputs& b, const char* what);

}  // namespace clearformer::fuzz
