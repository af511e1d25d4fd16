// Invalid Llama folders: config and weights are rejected by file, key, tensor and rule.
#include <gtest/gtest.h>

#include "clearformer/loading/load_model.h"
#include "clearformer/weights/checkpoint_reader.h"
#include "support/checkpoint.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/model_runs.h"
#include "support/mutation.h"
#include "support/safetensors_file.h"

namespace clearformer::test {
namespace {

std::string odd_config() { return read_bytes(fixture_path("llama_tiny/odd/config.json")); }

// The config with the value of `key` replaced (JSON text; empty: the line is removed).
std::string with(const std::string& key, const std::string& value) {
  std::string text = odd_config();
  const std::size_t at = text.find("\"" + key + "\":");
  if (at == std::string::npos) return "{\"" + key + "\": " + value + "," + text.substr(1);
  std::size_t end = at, depth = 0;
  for (; end < text.size() && (depth != 0 || (text[end] != ',' && text[end] != '\n')); ++end) {
    if (text[end] == '{' || text[end] == '[') ++depth;
    if (text[end] == '}' || text[end] == ']') --depth;
  }
  if (value.empty()) return text.erase(at, text[end] == ',' ? end + 1 - at : end - at);
  return text.replace(at, end - at, "\"" + key + "\": " + value);
}

std::unique_ptr<Model> load(const std::string& config) {
  return clearformer::load_model(read_weights(fixture_path("llama_tiny/odd")), config);
}

struct Broken {
  ErrorCode code;
  const char *key, *value;
  std::vector<std::string> parts;
};

TEST(LlamaConfig, BrokenValuesAreRefusedByKey) {
  constexpr auto kMalformed = ErrorCode::malformed_config;
  constexpr auto kUnsupported = ErrorCode::unsupported;
  const Broken broken[] = {
      {kMalformed, "model_type", "", {"missing"}},
      {kMalformed, "model_type", "7", {"string"}},
      {kUnsupported, "model_type", "\"mamba\"", {"\"mamba\"", "supported", "llama"}},
      {kMalformed, "hidden_size", "0", {"whole number"}},
      {kMalformed, "hidden_size", "\"30\"", {"whole number"}},
      {kMalformed, "num_hidden_layers", "-2", {"whole number"}},
      {kMalformed, "vocab_size", "97.5", {"whole number"}},
      {kMalformed, "num_attention_heads", "null", {"is null"}},
      {kMalformed, "num_key_value_heads", "2", {"2", "divide", "3"}},
      {kMalformed, "head_dim", "9", {"even", "9"}},
      {kMalformed, "intermediate_size", "null", {"is null"}},
      {kMalformed, "rms_norm_eps", "\"small\"", {"number"}},
      {kUnsupported, "hidden_act", "\"xielu\"", {"\"xielu\""}},
      {kMalformed, "hidden_act", "3", {"string"}},
      {kMalformed, "tie_word_embeddings", "\"no\"", {"true or false"}},
      {kMalformed, "attention_bias", "1", {"true or false"}},
      {kMalformed, "eos_token_id", "-1", {"token id"}},
      {kMalformed, "eos_token_id", "[1, \"2\"]", {"token ids"}},
      {kMalformed, "bos_token_id", "1.5", {"token id"}},
      {kMalformed, "rope_parameters", "[]", {"object"}},
      {kUnsupported,
       "rope_parameters",
       R"({"rope_type": "spiral", "factor": 4.0})",
       {"\"rope_type\"", "\"spiral\"", "linear", "llama3", "yarn"}},
      {kMalformed,
       "rope_parameters",
       R"({"rope_type": "linear", "factor": 0})",
       {"\"factor\"", "> 0"}},
      {kMalformed,
       "rope_parameters",
       R"({"rope_type": "linear", "factor": -1.0})",
       {"\"factor\"", "> 0"}},
      {kMalformed,
       "rope_parameters",
       R"({"rope_type": "linear", "factor": "4"})",
       {"\"factor\"", "number"}},
      {kMalformed, "rope_parameters", R"({"rope_type": 4})", {"\"rope_type\"", "string"}},
  };
  for (const Broken& entry : broken) {
    SCOPED_TRACE(concat(entry.key, ": ", entry.value));
    std::vector<std::string> parts = {"config.json", concat("\"", entry.key, "\"")};
    parts.insert(parts.end(), entry.parts.begin(), entry.parts.end());
    expect_error(entry.code, parts, [&] { load(with(entry.key, entry.value)); });
  }
}

// Early Llamas have -1, of which transformers warns: no token, and torch's padding_idx counts it from the end.
TEST(LlamaConfig, ANegativePaddingTokenIsNone) {
  const auto read = [](const char* value) {
    return read_model_config(ConfigReader(with("pad_token_id", value), "config.json"),
                             Task::causal_lm);
  };
  EXPECT_EQ(read("-1").pad_token_id, std::nullopt);
  EXPECT_EQ(read("-1").tower.text->padding_id, 96);
  EXPECT_EQ(read("null").tower.text->padding_id, std::nullopt);
  EXPECT_EQ(read("5").pad_token_id, 5);
  EXPECT_EQ(read("5").tower.text->padding_id, 5);
}

TEST(LlamaConfig, HeadsThatDoNotDivideTheWidthAreRefused) {
  std::string text = with("head_dim", "");
  const std::size_t at = text.find("\"hidden_size\": 30");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 17, "\"hidden_size\": 32");
  expect_error(ErrorCode::malformed_config,
               {"config.json", "\"num_attention_heads\"", "3", "hidden_size 32"},
               [&] { load(text); });
}

TEST(LlamaConfig, AConfigThatIsNoJsonIsRefused) {
  for (const char* text : {"", "[]", "{\"model_type\": \"llama\"", "\xff\xfe{}"}) {
    expect_error(ErrorCode::malformed_config, {"config.json"}, [&] { load(text); });
  }
}

// transformers' class has a default for each size.
TEST(LlamaConfig, AMissingSizeIsTheClasssDefault) {
  expect_error(ErrorCode::shape_mismatch, {"\"model.embed_tokens.weight\"", "[97, 4096]"},
               [&] { load(with("hidden_size", "")); });
}

TEST(LlamaConfig, SizesThatTheWeightsDoNotHaveAreRefusedWithBothShapes) {
  expect_error(ErrorCode::shape_mismatch,
               {"model.safetensors", "\"model.embed_tokens.weight\"", "[97, 30]", "[98, 30]"},
               [] { load(with("vocab_size", "98")); });
  expect_error(ErrorCode::shape_mismatch, {"mlp.gate_proj.weight", "[44, 30]", "[45, 30]"},
               [] { load(with("intermediate_size", "45")); });
  expect_error(ErrorCode::missing_tensor, {"\"model.layers.2.input_layernorm.weight\"", "[30]"},
               [] { load(with("num_hidden_layers", "3")); });
}

// Absurd sizes must not cost memory or time before they are rejected.
TEST(LlamaConfig, AbsurdSizesAreRefusedAtOnce) {
  for (const char* key : {"vocab_size", "hidden_size", "num_hidden_layers", "intermediate_size",
                          "head_dim", "num_attention_heads"}) {
    SCOPED_TRACE(key);
    EXPECT_THROW(load(with(key, "2147483646")), Error);
  }
}

TEST(LlamaConfig, AHugeContextCostsNothingUntilItIsUsed) {
  std::unique_ptr<Model> loaded = load(with("max_position_embeddings", "2147483647"));
  Model& model = *loaded;
  EXPECT_EQ(forward(model, tokens({3, 4, 5})).shape(), (Shape{1, 3, 97}));
}

TEST(LlamaConfig, QuantizedWeightsAreRefusedByTheirMethod) {
  for (const char* method : {"gptq", "awq", "bitsandbytes", "fp8"}) {
    expect_error(
        ErrorCode::unsupported,
        {"quantization_config", method, "load the checkpoint they were made from"}, [&] {
          load(with("quantization_config", concat(R"({"quant_method": ")", method, R"("})")));
        });
  }
}

TEST(LlamaWeights, MissingTensorsAreNamed) {
  Weights weights = read_weights(fixture_path("llama_tiny/odd"));
  weights.take({"model.norm.weight"}, {30});
  weights.take({"lm_head.weight"}, {97, 30});
  expect_error(ErrorCode::invalid_argument, {"twice"},
               [&] { clearformer::load_model(std::move(weights), odd_config()); });
  Weights nothing;
  expect_error(ErrorCode::missing_tensor,
               {"\"model.embed_tokens.weight\"", "[97, 30]", "\"lm_head.weight\""},
               [&] { clearformer::load_model(std::move(nothing), odd_config()); });
}

TEST(LlamaWeights, ALostShardIsNoticedByItsTensors) {
  CheckpointReader reader;
  const std::string folder = fixture_path("llama_tiny/sharded/");
  for (const char* file :
       {"model-00001-of-00007.safetensors", "model-00003-of-00007.safetensors"}) {
    reader.read_file(folder + file, file);
  }
  expect_error(ErrorCode::missing_tensor, {"is missing"}, [&] {
    clearformer::load_model(reader.finish(), read_bytes(folder + "config.json"));
  });
}

TEST(LlamaWeights, TensorsNobodyUsesAreReported) {
  Weights weights = read_weights(fixture_path("llama_tiny/odd"));
  weights.add("model.layers.0.self_attn.extra", "model.safetensors", Tensor::zeros({5}));
  const std::unique_ptr<Model> loaded = load_model(std::move(weights), odd_config());
  const Model& model = *loaded;
  EXPECT_EQ(model.unexpected_tensors(), std::vector<std::string>{"model.layers.0.self_attn.extra"});
}

// For any config: a typed Error, or a model that runs or rejects its input.
TEST(MutatedConfig, GivesATypedErrorOrAModel) {
  Random random(1);
  const std::string config = odd_config();
  std::size_t loaded = 0;
  for (int round = 0; round < 2000; ++round) {
    try {
      const std::unique_ptr<Model> model = load(mutated(config, random));
      ++loaded;
      forward(*model, tokens({3, 4, 5}));
    } catch (const Error& error) {
      EXPECT_STRNE(error.what(), "");
    }
  }
  EXPECT_GT(loaded, 50u);
  EXPECT_LT(loaded, 1500u);
}

}  // namespace
}  // namespace clearformer::test
