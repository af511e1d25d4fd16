// What a model gives against what a model_forward case says transformers gives.
#pragma once

#include "clearformer/models/model.h"
#include "support/fixture.h"

namespace clearformer::test {

/// Every output of the case, hidden states and attention maps too, within kModelBound of the model's.
/// `outputs` and `trace` come from one pass that captured their hooks; padded positions are not compared.
void expect_reference_outputs(const Case& reference, Model& model, ModelOutputs& outputs,
                              const Trace& trace);

}  // namespace clearformer::test
