// Invalid folders: config.json of every architecture key by key, generation_config.json, the index and
// headers of safetensors. Each is refused with the file, the key and the value. Random choices follow
// --gtest_random_seed.
#include <gtest/gtest.h>

#include <algorithm>

#include "clearformer/architectures/architecture.h"
#include "clearformer/generation/generation.h"
#include "clearformer/loading/inspection.h"
#include "clearformer/loading/load_model.h"
#include "clearformer/loading/pretrained_folder.h"
#include "clearformer/tensor/memory_budget.h"
#include "clearformer/weights/checkpoint_reader.h"
#include "clearformer/weights/json.h"
#include "support/architectures.h"
#include "support/expect_error.h"
#include "support/fixture.h"
#include "support/random.h"
#include "support/safetensors_file.h"

namespace clearformer::test {
namespace {

struct Rule {
  std::vector<std::string_view> keys;
  std::vector<const char*> wrong;
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {{"vocab_size",
        "hidden_size",
        "n_embd",
        "dim",
        "d_model",
        "num_hidden_layers",
        "num_layers",
        "n_layer",
        "n_layers",
        "encoder_layers",
        "decoder_layers",
        "num_attention_heads",
        "n_head",
        "n_heads",
        "num_heads",
        "encoder_attention_heads",
        "decoder_attention_heads",
        "intermediate_size",
        "hidden_dim",
        "encoder_ffn_dim",
        "decoder_ffn_dim",
        "d_ff",
        "d_kv",
        "max_position_embeddings",
        "n_positions",
        "num_mel_bins"},
       {"0", "-1", "1.5", "\"7\"", "[]", "{}", "true", "2147483648", "1e300",
        "18446744073709551615", "-9223372036854775808"}},
      {{"rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_eps"},
       {"-1", "-1e-6", "1.5", "1e300", "null", "\"small\"", "[]", "true"}},
      {{"hidden_act", "activation_function", "activation", "model_type"},
       {"3", "true", "[]", "{}", "1.5"}},
      {{"eos_token_id"}, {"-1", "1.5", "\"5\"", "true", "{}", "[-1]", "[1, \"2\"]", "2147483648"}},
      {{"bos_token_id"}, {"-1", "1.5", "\"5\"", "true", "{}", "[[]]", "2147483648"}},
      {{"architectures"}, {"3", "\"Model\"", "true", "{}", "[3]", "[[]]"}},
  };
  return all;
}

std::uint64_t seed() {
  return static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed());
}

// `text` with another value under `key`; duplicate keys would be refused as such.
std::string with(const std::string& text, std::string_view key, std::string_view value) {
  std::string changed = text;
  const std::size_t at = changed.find(concat("\"", key, "\":"));
  if (at != std::string::npos) changed.replace(at, key.size() + 2, concat("\"was_", key, "\""));
  return concat("{\"", key, "\": ", value, ", ", changed.substr(changed.find('{') + 1));
}

class BadConfigsOf : public ::testing::TestWithParam<const char*> {};

TEST_P(BadConfigsOf, AreRefusedByKeyAndValue) {
  const std::string group = std::string("models/") + GetParam();
  const Fixture fixture(group);
  const Case& reference = *fixture.of_op("model_forward").front();
  const std::string folder = fixture_path(group + "/" + reference.option("checkpoint").string());
  const std::string config = read_bytes(folder + "/config.json");
  const Task task = task_named(reference.option("task").string());
  const Json held = Json::parse(config, "config.json", ErrorCode::malformed_config);
  Random random(seed());
  std::size_t refused = 0;
  for (const Rule& rule : rules()) {
    for (const std::string_view key : rule.keys) {
      if (held.find(key) == nullptr) continue;
      for (int draw = 0; draw < 3; ++draw) {
        const char* value = rule.wrong[random.below(rule.wrong.size())];
        SCOPED_TRACE(concat(key, ": ", value));
        expect_error(ErrorCode::malformed_config, {"config.json", concat("\"", key, "\"")}, [&] {
          read_model_config(ConfigReader(with(config, key, value), "config.json"), task);
        });
        ++refused;
      }
    }
  }
  EXPECT_GE(refused, 6u);  // CLIP's keys are in nested objects for its two towers
}

INSTANTIATE_TEST_SUITE_P(Sound, BadConfigsOf, ::testing::ValuesIn(kSoundArchitectures),
                         [](const auto& name) { return std::string(name.param); });
INSTANTIATE_TEST_SUITE_P(All, BadConfigsOf, ::testing::ValuesIn(kArchitectures),
                         [](const auto& name) { return std::string(name.param); });

TEST(BadFolders, OptionsOfGenerationAreRefusedByKeyAndValue) {
  const std::pair<std::vector<const char*>, std::vector<const char*>> options[] = {
      {{"max_new_tokens", "max_length", "min_length", "min_new_tokens", "top_k",
        "no_repeat_ngram_size", "encoder_no_repeat_ngram_size"},
       {"-1", "0.5", "\"7\"", "[]", "true", "2147483648", "1e300"}},
      {{"num_beams", "num_return_sequences"}, {"0", "-1", "1.5", "\"2\"", "2147483648"}},
      {{"do_sample", "renormalize_logits", "remove_invalid_values"}, {"0", "1", "\"yes\"", "[]"}},
      {{"temperature", "repetition_penalty"}, {"0", "-1", "\"1\"", "[]", "1e300", "1e-300"}},
      {{"top_p", "typical_p"}, {"0", "-0.5", "1.5", "\"1\"", "{}"}},
      {{"min_p", "epsilon_cutoff", "eta_cutoff"}, {"-0.5", "1.5", "\"1\"", "{}"}},
      {{"pad_token_id"}, {"-1.5", "1.5", "\"5\"", "[1]", "{}", "2147483648"}},
      {{"bos_token_id", "decoder_start_token_id", "forced_bos_token_id"},
       {"-1", "1.5", "\"5\"", "[1]", "{}", "2147483648"}},
      {{"suppress_tokens", "begin_suppress_tokens", "eos_token_id", "forced_eos_token_id"},
       {"-1", "[-1]", "[1.5]", "[\"2\"]", "{}", "true"}},
      {{"bad_words_ids"}, {"3", "[3]", "[[]]", "[[-1]]", "{}"}},
      {{"early_stopping"}, {"3", "\"always\"", "[]"}},
  };
  const std::string file = "generation_config.json";
  for (const auto& [keys, wrong] : options) {
    for (const char* key : keys) {
      for (const char* value : wrong) {
        SCOPED_TRACE(concat(key, ": ", value));
        const ConfigReader reader(concat("{\"", key, "\": ", value, "}"), file);
        expect_error(ErrorCode::malformed_config, {file, concat("\"", key, "\" must")},
                     [&] { GenerationConfig().update(reader, GenerationConfig::Unknown::ignore); });
      }
    }
  }
}

// transformers warns of one, but of a file's only.
TEST(BadFolders, ANegativePaddingTokenIsNone) {
  GenerationConfig config;
  config.pad_token_id = 3;
  const auto update = [&](ErrorCode code) {
    config.update(ConfigReader(R"({"pad_token_id": -1})", "options", code),
                  GenerationConfig::Unknown::ignore);
  };
  update(ErrorCode::malformed_config);
  EXPECT_EQ(config.pad_token_id, std::nullopt);
  expect_error(ErrorCode::invalid_argument, {"\"pad_token_id\" must be a token id"},
               [&] { update(ErrorCode::invalid_argument); });
}

TEST(BadFolders, AllKeysOfTheWrongKindAreTold) {
  InspectedFolder folder;
  folder.config =
      R"({"model_type": "llama", "hidden_size": 0, "num_hidden_layers": "5", "rms_norm_eps": -1,
          "vocab_size": 1.5, "tie_word_embeddings": "no"})";
  const Inspection found = inspect(folder);
  for (const char* key :
       {"hidden_size", "num_hidden_layers", "rms_norm_eps", "vocab_size", "tie_word_embeddings"}) {
    EXPECT_TRUE(std::any_of(found.problems.begin(), found.problems.end(), [&](const Problem& one) {
      return one.text.starts_with(concat("config.json: \"", key, "\" must"));
    })) << key;
  }
  EXPECT_EQ(found.problems.size(), 5u);
}

// A memory budget for its lifetime.
class Budget {
 public:
  explicit Budget(std::uint64_t limit) { memory_budget().limit = limit; }
  ~Budget() { memory_budget() = MemoryBudget(); }
};

TEST(BadFolders, MoreThanMemoryHoldsIsAProblemWithWhatWouldFit) {
  InspectedFolder folder = InspectedFolder::read(bundled_model("stories260K"));
  const Inspection::Memory memory = *inspect(folder).memory;
  const auto told = [&](std::optional<std::string> dtype) {
    folder.dtype = std::move(dtype);
    const Inspection found = inspect(folder);
    return found.problems.empty() ? std::optional<Problem>() : found.problems.front();
  };
  EXPECT_FALSE(told("fp32"));
  {
    const Budget budget(memory[1]);
    EXPECT_FALSE(told("fp16"));
    const Problem problem =
        *told("fp32");  // beside the weights in fp16 there is no room for a prompt
    EXPECT_EQ(problem.code, ErrorCode::out_of_memory);
    EXPECT_EQ(problem.severity, Problem::Severity::error);
    EXPECT_EQ(problem.text,
              concat("the weights need ", size_text(memory[0]), " in fp32, of ",
                     size_text(memory[1]), "; dtype 'q4' needs ", size_text(memory[3])));
    EXPECT_EQ(told(std::nullopt)->severity, Problem::Severity::warning);
  }
  const Budget budget(memory[3] - 1);
  EXPECT_NE(told("q4")->text.find("no dtype fits"), std::string::npos);
  EXPECT_EQ(told(std::nullopt)->severity, Problem::Severity::error);
}

TEST(BadFolders, RequestsThatMemoryCannotHoldAreRefusedBeforeTheyBegin) {
  const auto model = from_pretrained(bundled_model("stories260K"));
  Tensor ids({2, 8}, DType::i32);
  std::fill_n(ids.mutable_view().as<std::int32_t>(), 16, 1);
  ModelInputs inputs;
  inputs.input_ids = ids.view();
  const auto generate = [&](std::size_t beams, std::size_t tokens) {
    GenerationConfig config;
    config.num_beams = beams;
    config.max_new_tokens = tokens;
    Generation generation(*model, inputs, config);
    while (!generation.done()) generation.next();
    const Tensor all = generation.sequences();
    return std::vector<std::int32_t>(all.view().as<std::int32_t>(),
                                     all.view().as<std::int32_t>() + all.elements());
  };
  const auto before = generate(2, 4);
  {
    const Budget budget(1'000'000);
    expect_error(ErrorCode::out_of_memory, {"generate", "max_new_tokens up to", "1.0 MB"},
                 [&] { generate(2, 400); });
    expect_error(ErrorCode::out_of_memory, {"generate", "2000 sequences", "fewer prompts"},
                 [&] { generate(1000, 4); });
    EXPECT_EQ(generate(2, 4), before);
  }
  const Budget budget(1000);
  expect_error(ErrorCode::out_of_memory, {"forward", "2 sequences of 8 positions"},
               [&] { model->expect_memory(inputs, nullptr); });
  Trace trace;
  trace.capture("*");
  expect_error(ErrorCode::out_of_memory, {"capturing"},
               [&] { model->expect_memory(inputs, &trace); });
}

TEST(BadFolders, AWeightUnderTwoPrefixesIsRefused) {
  const std::string folder = bundled_model("stories260K");
  PretrainedFolder read = PretrainedFolder::read(folder);
  read.weights.add("norm.weight", "model.safetensors", Tensor::zeros({64}));
  expect_error(ErrorCode::malformed_file,
               {"model.safetensors", "\"norm.weight\"", "\"model.norm.weight\"", "prefixes"},
               [&] { load_model(std::move(read.weights), read.config); });
}

TEST(BadFolders, AShardThatTheIndexPutsElsewhereIsRefusedByTheHeader) {
  CheckpointReader reader;
  reader.expect_places(ShardIndex::parse(
      R"({"weight_map": {"a": "one.safetensors", "w": "two.safetensors"}})", "index.json"));
  const std::string file =
      safetensors(R"({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})", "abcd");
  reader.begin_file("one.safetensors", file.size());
  expect_error(ErrorCode::malformed_file,
               {"index.json", "\"w\"", "one.safetensors", "two.safetensors"}, [&] {
                 for (std::size_t at = 0; at < file.size();) {
                   const auto window = reader.window();
                   const std::size_t count = std::min(window.size, file.size() - at);
                   std::copy_n(file.data() + at, count, window.data);
                   reader.commit(count);
                   at += count;
                 }
               });
}

}  // namespace
}  // namespace clearformer::test
