// inspect: its report matches what loading finds, and invalid input never throws.
#include "clearformer/loading/inspection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "clearformer/loading/load_model.h"
#include "clearformer/models/model.h"
#include "clearformer/weights/json.h"
#include "support/architectures.h"
#include "support/safetensors_file.h"

namespace clearformer::test {
namespace {

constexpr const char* kWeights = "model.safetensors";

Inspection inspected(const std::string& folder) { return inspect(InspectedFolder::read(folder)); }

// stories260K, which the tests below modify.
InspectedFolder stories() { return InspectedFolder::read(bundled_model("stories260K")); }

std::string texts(const Problems& problems) {
  std::string all;
  for (const Problem& problem : problems) all += (all.empty() ? "" : "; ") + problem.text;
  return all;
}

void expect_problem(const Inspection& found, ErrorCode code, const std::string& part) {
  const bool told =
      std::any_of(found.problems.begin(), found.problems.end(), [&](const auto& each) {
        return each.code == code && each.text.find(part) != std::string::npos;
      });
  EXPECT_TRUE(told) << part << " is not among\n" << texts(found.problems);
}

// All checkpoint folders of the fixtures, and the bundled models.
std::vector<std::string> checkpoints() {
  std::vector<std::string> folders;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(fixture_path("models"))) {
    const std::filesystem::path folder = entry.path().parent_path();
    const bool is_layer = folder.filename().string().ends_with("_Dense");  // after pooling
    if (entry.path().filename() != "config.json" || is_layer) continue;
    if (file_exists(folder / kWeights) || file_exists(folder / "model.safetensors.index.json")) {
      folders.push_back(folder.string());
    }
  }
  for (const char* name : {"stories260K", "marian-tiny-en-fr", "vit-mnist", "gpt-nano-sort"}) {
    folders.push_back(bundled_model(name));
  }
  return folders;
}

// Its file has an output layer of its own that equals the tied table and is dropped: only the bytes show that, so
// the memory reported before they are read is an upper bound.
constexpr std::string_view kEqualOutput = "roberta/old_masked_lm";

TEST(Inspection, SaysOfEveryCheckpointWhatLoadingItFinds) {
  const std::vector<std::string> folders = checkpoints();
  EXPECT_GT(folders.size(), 40u);
  for (const std::string& folder : folders) {
    SCOPED_TRACE(folder);
    const Inspection found = inspected(folder);
    EXPECT_EQ(texts(found.problems), "");
    ASSERT_TRUE(found.config && found.memory && found.parameters);
    for (std::size_t i = 0; i < found.memory->size(); ++i) {
      const std::string_view dtype = Inspection::kDTypes[i];
      const auto model = from_pretrained(folder, std::nullopt, *matrix_format_named(dtype));
      if (!folder.ends_with(kEqualOutput)) {
        EXPECT_EQ((*found.memory)[i], model->weight_bytes()) << dtype;
      } else {
        EXPECT_GT((*found.memory)[i], model->weight_bytes()) << dtype;
      }
      EXPECT_EQ(found.unexpected, model->unexpected_tensors());
      EXPECT_EQ(found.config->task, model->config().task);
      EXPECT_EQ(found.config->kind, model->config().kind);
    }
    EXPECT_EQ(found.cache.has_value(), found.config->decodes());
  }
}

TEST(Inspection, OfEveryTaskItTellsWhatLoadingForItTakes) {
  for (const std::string& folder : checkpoints()) {
    for (const std::string_view pipeline : inspected(folder).pipelines) {
      SCOPED_TRACE(concat(folder, " ", pipeline));
      InspectedFolder given = InspectedFolder::read(folder);
      given.task = std::string(pipeline);
      const Inspection found = inspect(given);
      EXPECT_EQ(found.pipeline, pipeline);
      std::unique_ptr<Model> model;
      try {
        model = from_pretrained(folder, task_named(pipeline));
      } catch (const Error& error) {
        EXPECT_EQ(concat("weights: ", texts(found.problems)), error.what());
      }
      EXPECT_EQ(found.problems.empty(), model != nullptr);  // files contain one head at most
      if (model) {
        if (!folder.ends_with(kEqualOutput)) {
          EXPECT_EQ(found.memory->front(), model->weight_bytes());
        } else {
          EXPECT_GE(found.memory->front(), model->weight_bytes());
        }
      }
    }
  }
}

TEST(Inspection, KnowsTheBundledModel) {
  const Inspection found = inspect(stories());
  EXPECT_EQ(found.model_type, "llama");
  EXPECT_EQ(found.pipeline, "text-generation");
  EXPECT_EQ(found.parameters, 260032u);
  EXPECT_EQ(found.tensors.size(), 47u);
  ASSERT_TRUE(found.cache);
  // keys and values, 5 layers, 4 heads, 8 numbers each
  EXPECT_EQ(found.cache->front().per_position, 2u * 5 * 4 * 8 * sizeof(float));
  EXPECT_EQ(found.cache->front().per_source_position, 0u);
}

TEST(Inspection, CachesGrowByWhatItSays) {
  for (std::size_t i = 0; i < 6; ++i) {
    const std::string name = i % 2 == 0 ? "stories260K" : "gpt-nano-sort";
    const CacheFormat format = Inspection::kCacheFormats[i / 2];
    const Inspection found = inspected(bundled_model(name));
    const auto model =
        from_pretrained(bundled_model(name), std::nullopt, MatrixFormat::f32, format);
    KeyValueCache cache = model->make_cache();
    Tensor ids = Tensor::zeros({1, 8}, DType::i32);
    ModelInputs inputs;
    inputs.input_ids = ids.view();
    inputs.cache = &cache;
    model->forward(inputs);
    // Panels are padded to at most 32 lanes in either direction.
    const std::size_t bytes = (*found.cache)[i / 2].per_position;
    EXPECT_EQ(cache.format(), format);
    EXPECT_GE(cache.bytes(), cache.length() * bytes);
    EXPECT_LE(cache.bytes(), 4 * cache.capacity() * bytes);
  }
}

TEST(Inspection, NamesOfTasksAreServedByModelsThatReadWhatTheyStandFor) {
  const std::pair<const char*, std::vector<const char*>> kRefused[] = {
      {"clip/even", {}},
      {"whisper/even",
       {"feature-extraction", "translation", "zero-shot-image-classification", "seq2seq-lm"}},
      {"wav2vec2/even_sequence_classification", {"sequence-classification", "text-classification"}},
      {"marian/even", {"feature-extraction", "sentence-similarity", "speech-seq2seq"}},
      {"bert/even_base", {"image-feature-extraction", "zero-shot-image-classification"}}};
  for (const auto& [name, refused] : kRefused) {
    const std::string text = read_bytes(fixture_path(concat("models/", name, "/config.json")));
    const ConfigReader reader(text, "config.json");
    for (const char* task : refused) {
      // Whatever has no head for the task is refused before this is asked.
      const ModelConfig config = read_model_config(reader, task_named(task));
      EXPECT_FALSE(serves(config, task)) << name << " " << task;
    }
    const ModelConfig own = read_model_config(reader, std::nullopt);
    EXPECT_EQ(serves(own, to_string(own.task)),
              std::count(refused.begin(), refused.end(), to_string(own.task)) == 0)
        << name;
    for (const std::string_view pipeline : pipelines_of(own))
      EXPECT_TRUE(serves(own, pipeline)) << pipeline;
  }
}

TEST(Inspection, PipelinesFollowTheHeadAndWhatIsRead) {
  const std::pair<const char*, const char*> kExpected[] = {
      {"clip", "zero-shot-image-classification"},
      {"clip", "feature-extraction"},
      {"clip", "sentence-similarity"},
      {"clip", "image-feature-extraction"},
      {"whisper", "automatic-speech-recognition"},
      {"marian", "translation"},
      {"gpt2", "text-generation"}};
  for (const auto& [name, pipeline] : kExpected) {
    std::size_t count = 0;
    for (const std::string& folder : checkpoints()) {
      if (folder.find(concat("models/", name, "/")) == std::string::npos) continue;
      const Inspection found = inspected(folder);
      const auto& all = found.pipelines;
      EXPECT_NE(std::find(all.begin(), all.end(), pipeline), all.end()) << folder;
      ++count;
    }
    EXPECT_GT(count, 0u) << name;
  }
  InspectedFolder summaries = stories();
  summaries.files.clear();
  const std::string bart = read_bytes(fixture_path("models/bart/even/config.json"));
  summaries.config = bart;
  EXPECT_EQ(inspect(summaries).pipeline, "translation");
  summaries.config->insert(1, R"("task_specific_params": {"summarization": {}},)");
  EXPECT_EQ(inspect(summaries).pipeline, "summarization");
}

TEST(Inspection, WithoutWeightsConfigTellsWhatTheyWouldTake) {
  InspectedFolder folder = stories();
  const Inspection whole = inspect(folder);
  folder.files.clear();
  const Inspection found = inspect(folder);
  EXPECT_EQ(texts(found.problems), "");
  EXPECT_EQ(found.parameters, whole.parameters);
  EXPECT_EQ(found.memory, whole.memory);
  EXPECT_TRUE(found.missing.empty());
}

// Reading a folder never throws for its contents: each file's problem is told.
TEST(Inspection, FilesOfAFolderThatCannotBeReadAreToldOneByOne) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "unreadable";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* name, std::string_view bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  };
  const auto problem = [&](ErrorCode code, const char* part) {
    expect_problem(inspected(folder.string()), code, part);
  };
  problem(ErrorCode::invalid_argument, "config.json");
  write("config.json", read_bytes(bundled_model("stories260K") + "/config.json"));
  problem(ErrorCode::invalid_argument, "model.safetensors");
  write(kWeights, "short");
  problem(ErrorCode::malformed_file, "model.safetensors");
  write(kWeights, std::string(8, '\xff') + "{}");  // a header longer than the file
  problem(ErrorCode::malformed_file, "model.safetensors");
  std::filesystem::remove(folder / kWeights);
  write("model.safetensors.index.json", R"({"weight_map": 3})");
  problem(ErrorCode::malformed_file, "model.safetensors.index.json");
  std::filesystem::remove_all(folder);
}

TEST(Inspection, AnUnknownArchitectureStillHasItsTensorsListed) {
  InspectedFolder folder = stories();
  folder.config = R"({"model_type": "mamba", "architectures": ["MambaForCausalLM"]})";
  const Inspection found = inspect(folder);
  EXPECT_EQ(found.model_type, "mamba");
  EXPECT_EQ(found.tensors.size(), 47u);
  EXPECT_EQ(found.parameters, 260032u);
  EXPECT_FALSE(found.config || found.memory);
  expect_problem(found, ErrorCode::unsupported, "\"mamba\"; supported:");
}

TEST(Inspection, MissingMisshapenAndUnreadableTensorsAreToldOneByOne) {
  InspectedFolder folder = stories();
  const std::string file =
      safetensors(R"({"model.norm.weight": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
                      "model.layers.0.input_layernorm.weight": {"dtype": "F64", "shape": [], "data_offsets": [4, 12]},
                      "third": {"dtype": "F64", "shape": [], "data_offsets": [12, 20]}})",
                  std::string(20, '\0'));
  folder.files = {{kWeights, file.size(), file}};
  const Inspection found = inspect(folder);
  expect_problem(found, ErrorCode::shape_mismatch,
                 "\"model.norm.weight\" has shape [1], expected [64]");
  expect_problem(found, ErrorCode::missing_tensor,
                 "\"model.embed_tokens.weight\" of shape [512, 64] is missing");
  expect_problem(found, ErrorCode::unsupported,
                 "\"model.layers.0.input_layernorm.weight\": dtype F64 is not supported");
  EXPECT_EQ(texts(found.problems).find("third"), std::string::npos);
  EXPECT_EQ(found.missing.size(), 45u);
  EXPECT_EQ(found.unexpected, (std::vector<std::string>{"third"}));
  EXPECT_TRUE(found.memory);
}

TEST(Inspection, OfAFileWithoutTensorsEveryOneIsMissing) {
  InspectedFolder folder = stories();
  const std::string file = safetensors("{}");
  folder.files = {{kWeights, file.size(), file}};
  const Inspection found = inspect(folder);
  EXPECT_EQ(found.missing.size(), 47u);
  expect_problem(found, ErrorCode::missing_tensor,
                 "\"model.norm.weight\" of shape [64] is missing");
  EXPECT_EQ(found.memory, inspect(stories()).memory);
}

TEST(Inspection, MoreProblemsThanAreListedLeaveTheRestAsItIs) {
  InspectedFolder folder = stories();
  const std::string file = safetensors(
      R"({"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})", std::string(4, '\0'));
  folder.files = {{kWeights, file.size(), file}};
  folder.config->replace(folder.config->find("\"num_hidden_layers\": 5"), 22,
                         "\"num_hidden_layers\": 9");
  const Inspection found = inspect(folder);
  EXPECT_EQ(found.problems.size(), 50u) << texts(found.problems);
  EXPECT_TRUE(found.memory);
}

// Tensors that a missing shard would contain are not reported as missing.
TEST(Inspection, AShardThatIsNotThereLeavesWhatTheConfigTells) {
  InspectedFolder folder = stories();
  folder.index = R"({"weight_map": {"a": "model.safetensors", "x": "b.safetensors"}})";
  const Inspection found = inspect(folder);
  EXPECT_EQ(texts(found.problems), "");
  EXPECT_TRUE(found.missing.empty());
  EXPECT_EQ(found.memory, inspect(stories()).memory);
}

TEST(Inspection, TheSameTensorInTwoFilesIsAnError) {
  InspectedFolder folder = stories();
  folder.files.push_back(folder.files.front());
  folder.files.back().name = "b.safetensors";
  folder.index = R"({"weight_map": {"a": "model.safetensors", "b": "b.safetensors"}})";
  expect_problem(inspect(folder), ErrorCode::malformed_file, "is also in model.safetensors");
}

TEST(Inspection, FilesThatAreNotThereAreProblems) {
  const Inspection found = inspected("/there/is/none");
  expect_problem(found, ErrorCode::invalid_argument, "cannot open /there/is/none/config.json");
  expect_problem(found, ErrorCode::invalid_argument, "cannot open /there/is/none/model.safetens");
  EXPECT_EQ(found.problems.size(), 2u);
}

TEST(Inspection, BrokenHeadersAreProblems) {
  const auto with = [](std::string start, std::uint64_t bytes) {
    InspectedFolder folder = stories();
    folder.files = {{kWeights, bytes, std::move(start)}};
    return inspect(folder);
  };
  expect_problem(with("", 0), ErrorCode::malformed_file, "0 bytes, too few");
  expect_problem(with(length_prefix(1000), 20), ErrorCode::malformed_file, "claims 1000 bytes");
  expect_problem(with(length_prefix(1000), 2000), ErrorCode::malformed_file, "ends early");
  expect_problem(with(safetensors("[]"), 10), ErrorCode::malformed_file, "must begin with");
}

TEST(Inspection, EveryBrokenEntryOfAHeaderIsAProblem) {
  const auto with = [](int entries) {
    std::string json = "{";
    for (int i = 0; i < entries; ++i) json += concat(i == 0 ? "" : ", ", "\"w", i, "\": []");
    InspectedFolder folder = stories();
    const std::string file = safetensors(json + "}");
    folder.files = {{kWeights, file.size(), file}};
    std::size_t found = 0;
    for (const Problem& problem : inspect(folder).problems) {
      if (problem.file != kWeights) continue;
      EXPECT_EQ(problem.code, ErrorCode::malformed_file);
      EXPECT_NE(problem.text.find(concat("\"w", found, "\"")), std::string::npos) << problem.text;
      ++found;
    }
    return found;
  };
  EXPECT_EQ(with(3), 3u);
  EXPECT_EQ(with(1000), 20u);
}

// A header that claims more than any memory can hold allocates nothing.
TEST(Inspection, TensorsLargerThanMemoryAreCountedAll64BitsWide) {
  InspectedFolder folder = stories();
  const std::string header =
      R"({"model.embed_tokens.weight": {"dtype": "F32", "shape": [1048576, 1048576],
                                        "data_offsets": [0, 4398046511104]}})";
  folder.files = {{kWeights, 8 + header.size() + 4398046511104u, safetensors(header)}};
  const Inspection found = inspect(folder);
  EXPECT_EQ(found.parameters, 1ull << 40);
  expect_problem(found, ErrorCode::shape_mismatch, "[1048576, 1048576]");
}

TEST(Inspection, HostileTextsEndInProblemsAndAsJson) {
  const InspectedFolder good = stories();
  const auto check = [](const InspectedFolder& folder) {
    const std::string json = to_json(inspect(folder));
    EXPECT_NO_THROW(Json::parse(json, "inspection", ErrorCode::malformed_file)) << json;
  };
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{\"model_type\": 3}"),
        std::string(R"({"model_type": "\u0000\"\\\n"})")}) {
    InspectedFolder folder = good;
    folder.config = text;
    check(folder);
    EXPECT_FALSE(inspect(folder).problems.empty()) << text;
  }
  for (std::size_t at = 0; at < good.config->size(); at += 7) {
    for (const char byte : {'0', '9', '"', '-'}) {
      InspectedFolder folder = good;
      (*folder.config)[at] = byte;
      check(folder);
    }
  }
  for (std::size_t at = 0; at < good.files[0].start.size(); at += 37) {
    for (const char byte : {'0', '9', '"', '{'}) {
      InspectedFolder folder = good;
      folder.files[0].start[at] = byte;
      check(folder);
    }
  }
}

TEST(Inspection, NamesADtypeThatThereIsNot) {
  InspectedFolder folder = stories();
  folder.dtype = "q17";
  expect_problem(inspect(folder), ErrorCode::unsupported, "dtype \"q17\"");
}

}  // namespace
}  // namespace clearformer::test
