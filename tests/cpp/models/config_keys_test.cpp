// Keys of config.json against transformers: configurations sampled by tests/references/config_keys.py, with the numbers
// that transformers computes from each. The repository contains a selection; CLEARFORMER_CONFIG_CASES=<folder> names
// the full set written by the script, and prints the outcome of every case that is not equal.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "clearformer/loading/load_model.h"
#include "clearformer/weights/checkpoint_reader.h"
#include "support/architectures.h"
#include "support/closeness.h"
#include "support/generations.h"
#include "support/json_text.h"
#include "support/reference_outputs.h"

namespace clearformer::test {
namespace {

constexpr const char* kModelTypes[] = {"bert",
                                       "roberta",
                                       "distilbert",
                                       "modernbert",
                                       "xlm-roberta",
                                       "camembert",
                                       "electra",
                                       "albert",
                                       "mpnet",
                                       "deberta-v2",
                                       "gpt2",
                                       "gpt_neo",
                                       "llama",
                                       "mistral",
                                       "qwen2",
                                       "qwen3",
                                       "phi",
                                       "phi3",
                                       "gemma",
                                       "gemma2",
                                       "gemma3_text",
                                       "gemma3",
                                       "olmo",
                                       "olmo2",
                                       "olmo3",
                                       "smollm3",
                                       "granite",
                                       "starcoder2",
                                       "opt",
                                       "openai-gpt",
                                       "marian",
                                       "bart",
                                       "t5",
                                       "whisper",
                                       "vit",
                                       "deit",
                                       "clip",
                                       "gpt_neox",
                                       "gptj",
                                       "codegen",
                                       "bloom",
                                       "falcon",
                                       "mpt",
                                       "stablelm",
                                       "cohere",
                                       "cohere2",
                                       "mbart",
                                       "m2m_100",
                                       "pegasus",
                                       "dinov2",
                                       "dinov2_with_registers",
                                       "siglip",
                                       "mt5",
                                       "lfm2",
                                       "granitemoe",
                                       "olmoe",
                                       "qwen3_moe",
                                       "mixtral",
                                       "esm",
                                       "wav2vec2",
                                       "hubert",
                                       "qwen3_5_text",
                                       "ernie4_5",
                                       "helium",
                                       "glm",
                                       "glm4",
                                       "exaone4",
                                       "arcee",
                                       "vaultgemma",
                                       "nomic_bert",
                                       "eurobert",
                                       "gpt_bigcode",
                                       "dinov3_vit",
                                       "hunyuan_v1_dense",
                                       "nanochat",
                                       "modernbert-decoder",
                                       "audio-spectrogram-transformer",
                                       "nemotron",
                                       "xglm",
                                       "biogpt",
                                       "data2vec-text",
                                       "blenderbot",
                                       "blenderbot-small",
                                       "granitemoehybrid"};

// The location of a model type's sampled cases: in the folder of the full set, or the selection.
std::string group_of(const std::string& model_type) {
  const char* folder = std::getenv("CLEARFORMER_CONFIG_CASES");
  return folder == nullptr ? "config_keys" : concat(folder, "/", model_type);
}
bool whole_set() { return std::getenv("CLEARFORMER_CONFIG_CASES") != nullptr; }

// `refused` by itself needs a reason that names a key or a tensor; in `both` and `more` upstream refuses as well.
enum class Verdict { equal, refused, refused_by_both, more, wrong };
constexpr std::array kVerdicts = {"equal", "refused", "refused by both", "read here alone",
                                  "WRONG"};

std::size_t index_of(Verdict verdict) { return static_cast<std::size_t>(verdict); }

struct Outcome {
  Verdict verdict;
  std::string reason;
};

std::unique_ptr<Model> load_drawn(const std::string& group, const Case& reference) {
  CheckpointReader reader;
  const std::string weights = reference.option("weights").string();
  reader.read_file(fixture_path(group + "/" + weights), weights);
  return load_model(reader.finish(), json_text(reference.option("config")),
                    task_named(reference.option("task").string()));
}

void compare_outputs(const Case& reference, Model& model) {
  const CaseInputs given(reference);
  Trace trace;
  for (const OutputList& list : model.hidden_states()) {
    for (const std::string& hook : list.hooks) trace.capture(hook);
  }
  ModelOutputs outputs = model.forward(given.inputs, &trace);
  expect_reference_outputs(reference, model, outputs, trace);
}

// The prompts are the inputs without those that only a pass accepts; right-padded rows are dropped.
void compare_text(const Case& reference, Model& model) {
  if (!reference.has_output("sequences")) return;
  const CaseInputs given(reference, "prompt.");
  Generation generation(model, given.inputs, options(json_text(reference.member("generate"))));
  run(generation);
  const Tensor made = generation.sequences();
  const auto* first = made.view().as<std::int32_t>();
  EXPECT_EQ(std::vector<std::int32_t>(first, first + made.elements()),
            reference.int32_output("sequences"))
      << "tokens";
}

std::string failures_of(const std::function<void()>& comparison) {
  ::testing::TestPartResultArray failures;
  {
    ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
    comparison();
  }
  if (failures.size() == 0) return "";
  std::string first = failures.GetTestPartResult(0).message();
  std::replace(first.begin(), first.end(), '\n', ' ');
  return first;
}

Outcome outcome_of(const std::string& group, const Case& reference) {
  const bool upstream_refuses = reference.has_member("refused");
  try {
    if (reference.options().find("weights") == nullptr)
      return {Verdict::refused_by_both, "upstream makes no weights"};
    const std::unique_ptr<Model> model = load_drawn(group, reference);
    if (upstream_refuses) return {Verdict::more, reference.member("refused").string()};
    const std::string failures = failures_of([&] {
      compare_outputs(reference, *model);
      compare_text(reference, *model);
    });
    return {failures.empty() ? Verdict::equal : Verdict::wrong, failures};
  } catch (const Error& error) {
    if (upstream_refuses) return {Verdict::refused_by_both, error.what()};
    const bool named = std::string_view(error.what()).find('"') != std::string_view::npos;
    return {named ? Verdict::refused : Verdict::wrong,
            concat(to_string(error.code()), ": ", error.what())};
  } catch (const std::exception& error) {
    return {Verdict::wrong, concat("not an Error: ", error.what())};
  }
}

// A case of the selection that is rejected here states the key.
bool expected_refusal(const Case& reference, const Outcome& outcome) {
  return outcome.verdict == Verdict::refused && reference.has_member("refused_here") &&
         outcome.reason.find(reference.member("refused_here").string()) != std::string::npos;
}

class ConfigKeys : public ::testing::TestWithParam<const char*> {};

TEST_P(ConfigKeys, MeanWhatTransformersMeans) {
  const std::string model_type = GetParam(), group = group_of(model_type);
  if (!file_exists(fixture_path(group + "/cases.json")))
    GTEST_SKIP() << "no cases of " << model_type;
  const Fixture fixture(group);
  std::array<std::size_t, kVerdicts.size()> counts{};
  for (const Case& reference : fixture.cases()) {
    if (!reference.name().starts_with(model_type + "/")) continue;
    SCOPED_TRACE(reference.name());
    const Outcome outcome = outcome_of(group, reference);
    ++counts[index_of(outcome.verdict)];
    if (whole_set() && outcome.verdict != Verdict::equal) {
      std::printf("%s\t%s\t%s\n", kVerdicts[index_of(outcome.verdict)], reference.name().c_str(),
                  outcome.reason.c_str());
    }
    if (whole_set()) continue;
    EXPECT_TRUE(outcome.verdict == Verdict::equal || outcome.verdict == Verdict::refused_by_both ||
                expected_refusal(reference, outcome))
        << kVerdicts[index_of(outcome.verdict)] << ": " << outcome.reason;
  }
  EXPECT_EQ(counts[index_of(Verdict::wrong)], 0u);
  std::size_t all = 0;
  for (const std::size_t count : counts) all += count;
  EXPECT_GT(all, 0u);
  std::printf("| %s | %zu |", model_type.c_str(), all);
  for (const std::size_t count : counts) std::printf(" %zu |", count);
  std::printf("\n");
}

INSTANTIATE_TEST_SUITE_P(All, ConfigKeys, ::testing::ValuesIn(kModelTypes), [](const auto& given) {
  std::string name = given.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace clearformer::test
