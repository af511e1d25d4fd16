// Inputs that encoders take or refuse: token types without a table of them, texts longer than the positions.
#include <gtest/gtest.h>

#include "support/checkpoint.h"
#include "support/closeness.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/fixture.h"

namespace clearformer::test {
namespace {

std::unique_ptr<Model> encoder_in(const char* folder) {
  return load_folder(fixture_path(folder), "config.json");
}

// (1, length), ids 5, 6, …
Tensor ids_of(std::size_t length) {
  Tensor ids({1, length}, DType::i32);
  for (std::size_t i = 0; i < length; ++i) {
    ids.mutable_view().as<std::int32_t>()[i] = static_cast<std::int32_t>(5 + i % 40);
  }
  return ids;
}

// Their folders' tokenizers may give token types (transformers 5 saves DistilBERT's as BertTokenizer), and transformers
// ignores them.
TEST(EncoderInputs, TokenTypesAreIgnoredWhereThereIsNoTableOfThem) {
  for (const char* folder : {"models/deberta_v2/even_base", "models/distilbert/even_base",
                             "models/mpnet/even_base", "models/modernbert/even_base"}) {
    const auto model = encoder_in(folder);
    const Tensor ids = ids_of(6), types = Tensor::copy_of(ids), shorter = ids_of(5);
    ModelInputs inputs;
    inputs.input_ids = ids.view();
    ModelOutputs without = model->forward(inputs);
    inputs.token_type_ids = types.view();
    expect_same_bits(folder, model->forward(inputs).at("last_hidden_state"),
                     without.at("last_hidden_state"));
    inputs.token_type_ids = shorter.view();
    expect_error(ErrorCode::shape_mismatch, {"token_type_ids"}, [&] { model->forward(inputs); });
  }
}

// max_position_embeddings is 24 in all of them.
TEST(EncoderInputs, OnlyRelativePositionsContinuePastTheTable) {
  const Tensor ids = ids_of(40);
  ModelInputs inputs;
  inputs.input_ids = ids.view();
  const Tensor hidden =
      encoder_in("models/deberta_v2/even_base")->forward(inputs).at("last_hidden_state").clone();
  EXPECT_EQ(hidden.shape(), Shape({1, 40, 32}));
  for (const char* folder : {"models/deberta_v2/odd_masked_lm", "models/albert/even_base"}) {
    expect_error(ErrorCode::invalid_argument, {"40 new tokens", "24 positions"},
                 [&] { encoder_in(folder)->forward(inputs); });
  }
}

}  // namespace
}  // namespace clearformer::test
