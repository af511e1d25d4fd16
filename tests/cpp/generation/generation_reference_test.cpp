// generate() of GPT-2-, Llama-, BART- and T5-shaped checkpoints against transformers: beam search
// with every option, and each processor that changes a step's scores.
#include <gtest/gtest.h>

#include "clearformer/loading/load_model.h"
#include "support/closeness.h"
#include "support/files.h"
#include "support/fixture.h"
#include "support/generations.h"
#include "support/json_text.h"

namespace clearformer::test {
namespace {

const Fixture& fixture() {
  static const Fixture group("generation");
  return group;
}

std::vector<std::int32_t> list_of(const Tensor& ids) {
  const auto* first = ids.view().as<std::int32_t>();
  return {first, first + ids.elements()};
}

// A case's inputs, with ownership.
struct CaseInputs {
  explicit CaseInputs(const Case& reference) {
    for (const InputName& name : kInputNames) {
      const std::string key(name.name);
      if (!reference.has_input(key)) continue;
      tensors.push_back(name.dtype == DType::f32  ? reference.input(key).clone()
                        : name.dtype == DType::u8 ? reference.uint8_input(key)
                                                  : reference.int32_input(key));
      inputs.*name.member = tensors.back().view();
    }
  }
  std::vector<Tensor> tensors;
  ModelInputs inputs;
};

class GenerationReference : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    for (const Case* reference : fixture().of_op("generate")) {
      if (reference->name().rfind(GetParam() + "_", 0) == 0) cases.push_back(reference);
    }
    ASSERT_GE(cases.size(), 20u);
    model = from_pretrained(fixture_path(cases.front()->option("checkpoint").string()));
  }

  // Runs a case to completion; the scores of all steps are (steps, R, V).
  void compare(const Case& reference) {
    SCOPED_TRACE(reference.name());
    const CaseInputs given(reference);
    Generation generation(*model, given.inputs, options(options_text(reference, {"checkpoint"})));
    std::vector<float> scores;
    while (!generation.done()) {
      const Generation::Step step = generation.next();
      scores.insert(scores.end(), step.scores.f32(), step.scores.f32() + step.scores.elements());
    }
    EXPECT_EQ(list_of(generation.sequences()), reference.int32_output("sequences"));
    EXPECT_EQ(generation.sequences().shape(), reference.output("sequences").shape());
    if (reference.has_output("beam_indices")) {
      EXPECT_EQ(list_of(generation.beam_indices()), reference.int32_output("beam_indices"));
      expect_close("sequences_scores", generation.sequences_scores(),
                   reference.output("sequences_scores"), kModelBound);
    }
    if (reference.has_output("scores")) {
      const Tensor& expected = reference.output("scores");
      expect_close("scores", scores, Numbers(expected).values, kModelBound);
    }
  }

  std::vector<const Case*> cases;
  std::unique_ptr<Model> model;
};

TEST_P(GenerationReference, SequencesBeamsAndScoresAreUpstreams) {
  for (const Case* reference : cases) {
    // Upstream's encoder_repetition_penalty uses row i of the source for row i of the beams, which
    // belongs to another sequence; here every beam uses its own source.
    if (reference->name().find("encoder_repetition_penalty") != std::string::npos) continue;
    compare(*reference);
  }
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, GenerationReference,
                         ::testing::Values("gpt2", "llama", "bart", "t5"),
                         [](const auto& checkpoint) { return checkpoint.param; });

// Greedy decoding of every generative architecture: single prompts, and batches padded on either side.
class GreedyReference : public ::testing::TestWithParam<std::string> {};

TEST_P(GreedyReference, SequencesAreUpstreams) {
  const Fixture group("models/" + GetParam());
  std::size_t compared = 0;
  for (const Case* reference : group.of_op("generate")) {
    SCOPED_TRACE(reference->name());
    const auto model = from_pretrained(
        fixture_path(concat("models/", GetParam(), "/", reference->option("checkpoint").string())));
    const CaseInputs given(*reference);
    Generation generation(*model, given.inputs, options(options_text(*reference, {"checkpoint"})));
    run(generation);
    EXPECT_EQ(list_of(generation.sequences()), reference->int32_output("sequences"));
    ++compared;
  }
  EXPECT_GE(compared, 2u);
}

INSTANTIATE_TEST_SUITE_P(
    Architectures, GreedyReference,
    ::testing::Values("bart", "gemma", "gemma2", "gemma3_text", "gpt2", "gpt_neo", "granite",
                      "marian", "mistral", "olmo", "olmo2", "olmo3", "gpt_neox", "gptj", "codegen",
                      "bloom", "falcon", "mpt", "stablelm", "cohere", "cohere2", "lfm2",
                      "openai_gpt", "opt", "phi", "phi3", "qwen2", "qwen3", "smollm3", "starcoder2",
                      "t5", "whisper", "granitemoe", "olmoe", "qwen3_moe", "mixtral",
                      "qwen3_5_text", "ernie4_5", "helium", "glm", "glm4", "exaone4", "arcee",
                      "vaultgemma", "gpt_bigcode", "hunyuan_v1_dense", "nanochat",
                      "modernbert_decoder", "granitemoehybrid", "nemotron", "xglm", "biogpt"),
    [](const auto& architecture) { return architecture.param; });

}  // namespace
}  // namespace clearformer::test
