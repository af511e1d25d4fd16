// The bundled encoder against transformers: logits, hidden states and attention maps of one sentence, and
// masked-token predictions in padded ones. Token ids come from the fixture, so that no tokenizer is needed.
#include <gtest/gtest.h>

#include <algorithm>

#include "clearformer/loading/load_model.h"
#include "support/architectures.h"
#include "support/closeness.h"
#include "support/model_runs.h"
#include "support/reference_outputs.h"

namespace clearformer::test {
namespace {

class BertTinyFill : public ::testing::Test {
 protected:
  static const Case& reference(const std::string& name) {
    static const Fixture fixture("bert_tiny_fill");
    return fixture.at(name);
  }
  std::unique_ptr<Model> model = from_pretrained(bundled_model("bert-tiny-fill"));
};

TEST_F(BertTinyFill, LogitsHiddenStatesAndAttentionsEqualTheReference) {
  const Case& inside = reference("inside");
  const CaseInputs given(inside);
  Trace trace;
  trace.capture("*");
  ModelOutputs outputs = model->forward(given.inputs, &trace);
  EXPECT_EQ(inside.outputs().size(), 2 * model->config().n_layers() + 2);
  expect_reference_outputs(inside, *model, outputs, trace);
}

TEST_F(BertTinyFill, BlanksOfPaddedSentencesEqualTheReference) {
  constexpr std::int32_t kMask = 4;
  const Case& blanks = reference("blanks");
  const CaseInputs given(blanks);
  const Tensor logits = logits_of(*model, given.inputs);  // (B, T, V)
  const Tensor ids = blanks.int32_input("input_ids");
  const auto* id = ids.view().as<std::int32_t>();
  const std::size_t words = logits.dim(2);
  Tensor found(blanks.output("blank_logits").shape(), DType::f32);  // (B, V)
  ASSERT_EQ(std::count(id, id + ids.elements(), kMask), found.dim(0));
  float* row = found.f32();
  for (std::size_t position = 0; position < ids.elements(); ++position) {
    if (id[position] != kMask) continue;
    row = std::copy_n(logits.f32() + position * words, words, row);
  }
  expect_close("blank_logits", found, blanks.output("blank_logits"), kModelBound);
}

}  // namespace
}  // namespace clearformer::test
