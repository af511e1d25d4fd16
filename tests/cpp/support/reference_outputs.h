// Compares a model's outputs with transformers' in a model_forward case.
#pragma once

#include "clearformer/models/model.h"
#include "support/fixture.h"

namespace clearformer::test {

/// Checks that every output of the case, including hidden states and attention maps, is within kModelBound.
/// `outputs` and `trace` come from one pass that captured their hooks; padded positions are not compared.
void expect_reference_outputs(const Case& reference, Model& model, ModelOutputs& outputs,
                              const Trace& trace);

}  // namespace clearformer::test
